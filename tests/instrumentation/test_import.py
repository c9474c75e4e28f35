"""What importing us costs a program that has only the base installation."""

import subprocess
import sys
import tomllib
from pathlib import Path

from tracegrade.state import VERSION

HEAVY = "pyarrow duckdb polars grpc uvicorn starlette"
FORBIDDEN = f"{HEAVY} requests google.protobuf typer tracegrade_collector tracegrade_queries"


def python(script: str) -> str:
    """Return what a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_import_brings_nothing_heavy() -> None:
    """No engine, no server, no exporter, no other layer."""
    loaded = python(
        "import sys, tracegrade\n"
        f"print([name for name in {FORBIDDEN.split()} if name in sys.modules])"
    )

    assert loaded == "[]\n"


def test_init_brings_the_exporter_and_no_engine_or_server() -> None:
    """Also a running agent has none of the extras loaded."""
    loaded = python(
        "import sys, tracegrade\n"
        "tracegrade.init()\n"
        f"print([name for name in {HEAVY.split()} if name in sys.modules])"
    )

    assert loaded == "[]\n"


def test_import_takes_less_than_a_third_of_a_second() -> None:
    """In the processor's time, since other processes may be using the machine."""
    script = (
        "import time; start = time.process_time()\n"
        "import tracegrade; print(time.process_time() - start)"
    )

    assert min(float(python(script)) for _ in range(3)) < 0.3


def test_version_is_the_distributions() -> None:
    """Reading it from the metadata would cost a tenth of the import."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())

    assert project["project"]["version"] == VERSION


def test_public_names_are_documented() -> None:
    """Everything in `__all__` has a docstring."""
    missing = python(
        "import tracegrade\n"
        "print([name for name in tracegrade.__all__ if not getattr(tracegrade, name).__doc__])"
    )

    assert missing == "[]\n"
