"""How long nothing lands after a lander was killed with a backlog of small segments in flight.

    python -m tests.benchmarks.collector.measure_lander_deaths [--stopped-secs SECS]

The lander is stopped while two clients send, so that segments pile up, and is killed. The next one
is killed as soon as it has work in flight. The table says when the third one made rows visible,
and when the log was short again.
"""

import argparse
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.collector.clients import FIRST_ID_OF_PATIENT, Client, own_port
from tests.collector.running import COMMAND, child_pids
from tests.waiting import wait_until

from tracegrade_lake import Lake

OFTEN = {
    "TRACEGRADE_COLLECTOR_MAX_SEGMENT_AGE_SECS": "0.03",
    "TRACEGRADE_COLLECTOR_LAND_EVERY_SECS": "0.03",
}
SHORT_LOG = 50
"""Segments of a log that has been caught up with."""


def secs_until(condition: Callable[[], bool]) -> float:
    """Return how long it takes until the condition holds."""
    start = time.monotonic()
    wait_until(condition)
    return time.monotonic() - start


def in_flight(lake: Lake) -> int:
    """Return how many segments the lander works on."""
    with suppress(FileNotFoundError, ValueError):
        (note,) = lake.root.glob("wal/*/landing.json")
        return len(json.loads(note.read_bytes())["in_flight"])
    return 0


def measure(lake: Lake, collector: int, stopped_secs: float) -> None:
    """Kill two landers of a collector that receives, and print what follows."""

    def rows() -> int:
        return sum(file.rows for file in lake.live_files("raw_spans"))

    def segments() -> int:
        return len([*lake.root.glob("wal/*/*.wal")])

    wait_until(rows)
    (lander,) = child_pids(collector)
    os.kill(lander, signal.SIGSTOP)
    time.sleep(stopped_secs)
    os.kill(lander, signal.SIGKILL)
    wait_until(lambda: in_flight(lake))
    (lander,), count = child_pids(collector), in_flight(lake)
    os.kill(lander, signal.SIGKILL)
    before = rows()
    print(f"segments in flight when killed  {count}", flush=True)
    visible = secs_until(lambda: rows() > before)
    print(f"seconds until rows are visible  {visible:.1f}", flush=True)
    caught_up = visible + secs_until(lambda: segments() < SHORT_LOG)
    print(f"seconds until it has caught up  {caught_up:.1f}", flush=True)


def main() -> None:
    """Measure one collector under the traffic of two clients."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stopped-secs", type=float, default=30)
    stopped_secs = parser.parse_args().stopped_secs
    port = own_port()
    clients = [Client(port, 1, 1, sends_again=False)]
    clients.append(Client(port, FIRST_ID_OF_PATIENT, 2, sends_again=True))
    with TemporaryDirectory() as folder:
        lake = Lake.create(Path(folder) / "lake")
        flags = [f"--lake={lake.root}", f"--http=127.0.0.1:{port}", "--grpc=off"]
        collector = subprocess.Popen(
            [*COMMAND, *flags], env=os.environ | OFTEN, start_new_session=True
        )
        try:
            for client in clients:
                client.start()
            measure(lake, collector.pid, stopped_secs)
        finally:
            os.killpg(collector.pid, signal.SIGKILL)
            collector.wait()


if __name__ == "__main__":
    main()
