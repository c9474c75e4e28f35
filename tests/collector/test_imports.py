"""What the collector's commands and processes load before they do anything."""

import subprocess
import sys

import pytest

ENGINES = "deltalake duckdb numpy obstore polars pyarrow"
SDK = "opentelemetry.sdk"


def loaded(module: str, names: str) -> list[str]:
    """Return which of these modules a fresh interpreter has once it has imported one."""
    script = (
        f"import sys, {module}\nprint(*(n for n in {names.split()} if n in sys.modules), sep=' ')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    "module",
    ["tracegrade.cli", "tracegrade_collector.cli", "tracegrade_collector.land.lander_main"],
)
def test_no_command_or_process_loads_the_sdk_of_agents(module: str) -> None:
    """It is for programs that write spans; errors are declared in the same package."""
    assert loaded(module, SDK) == []


def test_receiver_loads_neither_arrow_nor_delta() -> None:
    """It logs what comes and lets the lander make rows: so it starts early and stays small."""
    assert loaded("tracegrade_collector.receive.receiver", f"{ENGINES} {SDK}") == []
