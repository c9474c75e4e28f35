"""What it costs to find the scores that a destination lacks.

    python -m tests.benchmarks.send.measure_dry_run [RUNS | LAKE]

Makes and scores a lake of so many runs (100,000), or takes a scored one as it is, and counts its
scores for a destination that has none: those that are sent by default, those of all metrics, and
those with steps, issues and conversations. Then it sends those of the default to a receiver on
this machine, and a second time, when none is left. Each is a process of its own. Prints a table
for docs/internals/measurements.md; candidates are runs times metrics.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple

from tests.benchmarks.bench_scoring import made
from tests.benchmarks.command_line import while_read

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import FAILURE_MODES, MAIN_METRICS, METRICS
from tracegrade_scoring.tasks.specification import usable_specification

COMMAND: Final = str(Path(sys.executable).with_name("tracegrade"))
NOWHERE: Final = "http://127.0.0.1:1"
RUNS: Final = 100_000


class SendCost(NamedTuple):
    """What one command took."""

    scores: int
    secs: float
    cpu_secs: float
    mebibytes: int


def send(lake: Path, endpoint: str, *options: str) -> SendCost:
    """Send the scores of a lake to a receiver of logs, or count them."""
    begun = time.perf_counter()
    command = [
        COMMAND,
        "send",
        "--lake",
        str(lake),
        "--to",
        "otlp",
        "--endpoint",
        endpoint,
        *options,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, lines
    numbers = [line.split() for line in lines if "scores sent to" not in line]
    counted = sum(int(words[0].replace(",", "")) for words in numbers)
    secs = time.perf_counter() - begun
    return SendCost(counted, secs, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)


def measure(lake: Path) -> None:
    """Print a row for each selection of scores."""
    with connect(Lake.open(lake), layers=(SCORES,)) as con:
        ((runs,),) = con.sql("SELECT count(*) FROM trajectory_scores").fetchall()
    usual = len(MAIN_METRICS) + len(FAILURE_MODES)
    every = [word for name in METRICS for word in ("--metric", name)]
    selections = {
        "by default": (usual, ()),
        "all metrics": (len(METRICS), every),
        "by default, with steps, issues and conversations": (
            usual, ("--evidence", "--issues", "--conversations"),
        ),
    }  # fmt: skip
    print("| scores | candidates | to send | s | s of CPU | MiB |\n|---|---|---|---|---|---|")
    for title, (metrics, options) in selections.items():
        _print(title, runs * metrics, send(lake, NOWHERE, "--dry-run", *options))
    with receiver() as (endpoint, requests):
        for title in ("sent by default", "sent again"):
            before = len(requests)
            found = send(lake, endpoint)
            _print(f"{title}, in {len(requests) - before:,} requests", runs * usual, found)


def _print(title: str, candidates: int, found: SendCost) -> None:
    cells = (f"{candidates:,}", f"{found.scores:,}", f"{found.secs:.1f}")
    more = (f"{found.cpu_secs:.1f}", f"{found.mebibytes:,}")
    print(f"| {' | '.join((title, *cells, *more))} |", flush=True)


@contextmanager
def receiver() -> Iterator[tuple[str, list[int]]]:
    """Yield the address of a receiver that accepts all, and the sizes of what it got."""
    sizes: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            sizes.append(len(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", sizes
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def lake_of(given: str) -> Iterator[Path]:
    """Yield the lake that is given, or one with so many runs."""
    if not given.isdigit():
        yield Path(given)
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "lake"
        making = get_context("spawn").Process(target=_make, args=(place, int(given)))
        making.start()  # its memory would count as that of each command, were it of this process
        making.join()
        assert not making.exitcode
        yield place


def _make(place: Path, runs: int) -> None:
    score(made(place, runs), usable_specification(place / "tasks.yaml")[0])


if __name__ == "__main__":
    with while_read(), lake_of(sys.argv[1] if sys.argv[1:] else str(RUNS)) as scored:
        measure(scored)
