"""What the collector acknowledges durably and lands, the load generator on the same cores.

    python -m tests.benchmarks.bench_collector [PART...] [--secs SECS]

Parts: `burst` (as fast as it answers, then how long the backlog takes), `small` (10 spans per
request), `sustained` (100,000 spans/s for a minute: does the log grow, how much memory, how long
until a span can be queried), `idle` (one request now and then). All of them by default: about
three minutes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
from deltalake import DeltaTable
from tests.benchmarks.command_line import one_of
from tests.benchmarks.load import CONNECTIONS, Load, Result, drive

COMMAND = [str(Path(sys.executable).with_name("tracegrade")), "collect"]
SAMPLE_SECS = 0.5


class Landed(NamedTuple):
    """What stands in the lake."""

    spans: int
    fresh_ms: np.ndarray[tuple[int], np.dtype[np.float64]]
    """For each span, from its receipt until its commit could be read."""

    def freshness(self, share: float) -> float:
        """Return the seconds that this share of the spans did not exceed."""
        return float(np.quantile(self.fresh_ms, share)) / 1e3 if self.spans else 0.0


class Watch:
    """Samples the collector's memory and log while it runs."""

    def __init__(self, pid: int, lake: Path) -> None:
        self._pid = pid
        self._wal = lake / "wal"
        self._stopped = threading.Event()
        self.memory: list[int] = []
        self.wal: list[int] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stopped.wait(SAMPLE_SECS):
            self.memory.append(sum(map(_memory, [self._pid, *_children(self._pid)])))
            self.wal.append(self.wal_bytes())

    def wal_bytes(self) -> int:
        """Return the bytes of the log."""
        return sum(map(_size, self._wal.rglob("*.wal")))

    def stop(self) -> None:
        """End the sampling."""
        self._stopped.set()
        self._thread.join()


def _memory(pid: int) -> int:
    """Return the bytes a process holds, of what it shares only its part; 0 if it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))


def _children(pid: int) -> list[int]:
    try:
        return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


class Running(NamedTuple):
    """A collector."""

    lake: Path
    port: int
    start_secs: float
    watch: Watch
    process: subprocess.Popen[str]

    def drained_secs(self) -> float:
        """Return how long everything acknowledged takes to land from now on."""
        started = time.perf_counter()
        self.process.terminate()
        self.process.wait()
        return time.perf_counter() - started


@contextmanager
def collecting() -> Iterator[Running]:
    """Run a collector with its defaults on a new lake."""
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder) / "lake"
        started = time.perf_counter()
        with subprocess.Popen(
            [*COMMAND, f"--lake={lake}", "--http=127.0.0.1:0", "--grpc=off"],
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout
            port = int(process.stdout.readline().rpartition(":")[2])
            start_secs = time.perf_counter() - started
            watch = Watch(process.pid, lake)
            try:
                yield Running(lake, port, start_secs, watch, process)
            finally:
                watch.stop()
                process.terminate()


def landed(lake: Path) -> Landed:
    """Return what has landed, and how long it took."""
    table = lake / "raw_spans"
    spans, ages = 0, [np.empty(0)]
    for entry in sorted((table / "_delta_log").glob("*.json")):
        committed_ns = entry.stat().st_mtime_ns
        for line in entry.read_text().splitlines():
            if "add" in (action := json.loads(line)):
                path = table / action["add"]["path"]
                received = pq.read_table(path, columns=["received_ns"], partitioning=None)
                ages.append((committed_ns - received["received_ns"].to_numpy()) / 1e6)
    for uri in DeltaTable(str(table)).file_uris():
        spans += pq.read_metadata(uri.removeprefix("file://")).num_rows
    return Landed(spans, np.concatenate(ages))


def line(name: str, *facts: str) -> None:
    """Print one row."""
    print(f"{name:<10} " + "; ".join(facts), flush=True)


def rates(result: Result) -> list[str]:
    """Return what a client saw, as text."""
    return [
        f"{result.spans_per_sec:,.0f} spans/s acknowledged in {result.requests_per_sec:,.0f} "
        f"requests/s",
        f"p50 {result.latency_ms(0.5):.1f} ms, p99 {result.latency_ms(0.99):.1f} ms",
        f"{result.refused} refused",
    ]


def burst(secs: float) -> None:
    """As fast as it answers, then the rest of the log."""
    with collecting() as running:
        result = drive(running.port, Load("burst", 512, secs))
        drained = running.drained_secs()
        found = landed(running.lake)
        line(
            "burst",
            f"ready {running.start_secs:.2f} s",
            *rates(result),
            f"landed {found.spans:,} of {result.acknowledged:,}, the rest within {drained:.1f} s",
            f"at most {max(running.watch.memory) >> 20} MiB",
        )


def small(secs: float) -> None:
    """Ten spans per request."""
    with collecting() as running:
        result = drive(running.port, Load("small", 10, secs / 2))
        drained = running.drained_secs()
        line("small", *rates(result), f"landed within {drained:.1f} s")


def sustained(secs: float) -> None:
    """A load that lasts: the log must not grow, nor the memory."""
    with collecting() as running:
        result = drive(running.port, Load("sustained", 512, 3 * secs, spans_per_sec=100_000))
        wal, memory = running.watch.wal.copy(), running.watch.memory.copy()
        drained = running.drained_secs()
        found = landed(running.lake)
        third = len(wal) // 3
        line(
            "sustained",
            *rates(result),
            f"log {np.mean(wal[third : 2 * third]) / 1e6:,.0f} MB in the second third, "
            f"{np.mean(wal[2 * third :]) / 1e6:,.0f} MB in the last",
            f"landed {found.spans:,} of {result.acknowledged:,}, the rest within {drained:.1f} s",
            f"queryable p50 {found.freshness(0.5):.1f} s, p99 {found.freshness(0.99):.1f} s",
            f"memory {np.mean(memory[third : 2 * third]) / 2**20:,.0f} MiB, then "
            f"{np.mean(memory[2 * third :]) / 2**20:,.0f} MiB, at most {max(memory) >> 20} MiB",
        )


def idle(secs: float) -> None:
    """One request now and then."""
    with collecting() as running:
        load = Load("idle", 10, secs, spans_per_sec=10 * CONNECTIONS / 4)
        result = drive(running.port, load)
        running.drained_secs()
        found = landed(running.lake)
        line("idle", *rates(result), f"queryable p99 {found.freshness(0.99):.1f} s")


PARTS: dict[str, Callable[[float], None]] = {
    part.__name__: part for part in (burst, small, sustained, idle)
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[*PARTS], type=one_of(PARTS), metavar="PART")
    parser.add_argument("--secs", type=float, default=20.0)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, shared with the generator's {CONNECTIONS} connections")
    for name in options.parts:
        PARTS[name](options.secs)
