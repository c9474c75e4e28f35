"""The demo's support agent, as it runs in production: collected by a collector, and scored."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.commands import tracegrade
from tests.waiting import wait_until

from tracegrade_lake import Lake

CHECKOUT = Path(__file__).parents[3]
TASKS = CHECKOUT / "demo" / "tasks.yaml"


@contextmanager
def serving(name: str, *command: str) -> Iterator[str]:
    """Run a module that prints `NAME: ADDRESS` once it serves, and give the address."""
    words = [sys.executable, "-m", *command]
    with subprocess.Popen(words, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = (line.partition(": ") for line in process.stdout)
            yield next(value.strip() for key, _, value in lines if key == name)
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def model_url() -> Iterator[str]:
    """The demo's model server."""
    with serving("model", "demo.model_server") as url:
        yield url


@pytest.fixture(scope="session")
def production(tmp_path_factory: pytest.TempPathFactory, model_url: str) -> Path:
    """A lake with five runs of the support agent, as `tracegrade run` sends them, scored."""
    lake = tmp_path_factory.mktemp("production") / "lake"
    collect = ("tracegrade", "collect", "--lake", str(lake), "--http", "127.0.0.1:0")
    with serving("http", *collect, "--grpc", "off") as endpoint:
        words = ["-m", "tracegrade", "run", "--", sys.executable, "-m", "demo.framework_agent"]
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_SERVICE_NAME": "support",
            "OTEL_RESOURCE_ATTRIBUTES": "service.version=1",
            "OPENAI_BASE_URL": model_url,
            "OPENAI_MODEL": "rules",
            "NO_PROXY": "127.0.0.1",
        }
        subprocess.run(
            [sys.executable, *words], check=True, cwd=CHECKOUT, env={**os.environ, **variables}
        )
        wait_until(lambda: traces(lake) == 5)
    ended = tracegrade("score", "--lake", lake, "--tasks", TASKS)
    assert ended.returncode == 0, ended.stderr
    return lake


def traces(lake: Path) -> int:
    """Return how many traces have landed."""
    if not (lake / "raw_spans").exists():
        return 0
    dataset = Lake.open(lake).dataset("raw_spans")
    return len({*dataset.to_table(["trace_id"])["trace_id"].to_pylist()}) if dataset else 0
