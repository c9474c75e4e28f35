"""Spark's standalone master and two workers on loopback, each with one core."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psutil
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
SPARK = ROOT / ".spark"
PYTHON = SPARK / "bin" / "python"
"""Has pyspark, and all that the tests' own environment has."""


class Cluster(NamedTuple):
    """A running master."""

    master: str
    """Its URL."""
    workers: list[subprocess.Popen[bytes]]
    environment: dict[str, str]
    """For whoever talks to it."""

    def kill_a_worker(self) -> None:
        """Kill one of the workers and all that it started, at once."""
        kill_with_children(self.workers[0])


@contextmanager
def cluster(place: Path, variables: Mapping[str, str]) -> Iterator[Cluster]:
    """Start a master and two workers with these variables; they are gone after the block."""
    environment = {
        **os.environ,
        **variables,
        "SPARK_HOME": spark_home(),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(place / "local"),
        "PYSPARK_PYTHON": str(PYTHON),
        "PYSPARK_DRIVER_PYTHON": str(PYTHON),
    }
    with ExitStack() as stack:
        log = place / "master.log"
        master = ["master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        stack.enter_context(started(master, log, environment))
        wait_until(lambda: found_url(log))
        url = found_url(log)
        assert url
        workers = []
        for name in ("one", "two"):
            worker = ["worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1"]
            worker += ["--memory", "1g", "--work-dir", str(place / name), url]
            workers.append(
                stack.enter_context(started(worker, place / f"{name}.log", environment))
            )
        wait_until(lambda: log.read_text().count("Registering worker") == len(workers))
        yield Cluster(url, workers, environment)


@contextmanager
def started(
    arguments: list[str], log: Path, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Run one of Spark's daemons in the foreground, in a process group of its own."""
    spark_class = Path(environment["SPARK_HOME"]) / "bin" / "spark-class"
    with log.open("wb") as out:
        daemon = subprocess.Popen(
            [spark_class, f"org.apache.spark.deploy.{arguments[0]}", *arguments[1:]],
            stdout=out, stderr=out, env=environment, start_new_session=True,
        )  # fmt: skip
    try:
        yield daemon
    finally:
        kill_with_children(daemon)


def kill_with_children(daemon: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it started, which it cannot tell anybody."""
    if daemon.poll() is None:
        for child in psutil.Process(daemon.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
        daemon.kill()
    daemon.wait()


def found_url(log: Path) -> str | None:
    """Return the URL that a master says it has; None if it said none yet."""
    found = re.search(r"spark://[\w.]+:\d+", log.read_text())
    return found[0] if found else None


def spark_home() -> str:
    """Return where pyspark keeps Spark."""
    found = subprocess.run(
        [PYTHON, "-c", "import pyspark; print(pyspark.__path__[0])"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return found.stdout.strip()
