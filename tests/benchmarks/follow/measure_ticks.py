"""What many ticks of a follower leave in a lake, and whether a tick gets slower.

    python -m tests.benchmarks.follow.measure_ticks [TICKS]

Lands one run for each tick (120) and scores it, in one process, on a clock of its own: files are
merged as a follower does it. Prints files of the table with most, and the processor time of ticks.
"""

import os
import sys
import tempfile
import time
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from statistics import median

from tests.queries.traces import land
from tests.scoring.build import specification
from tests.scoring.job.lakes import TASKS, run

from tracegrade_lake import Lake
from tracegrade_scoring.follow.follower import Follower, FollowOptions
from tracegrade_scoring.follow.stopping import StopSignal
from tracegrade_scoring.follow.tick_schedule import TickSchedule
from tracegrade_scoring.follow.ticks import Ticks
from tracegrade_scoring.job.discovery import ALL

STEP = 10
"""Ticks whose median time is printed."""


def measure(lake: Lake, ticks: int) -> None:
    """Score so many times, and print a line for every few ticks."""
    today = (datetime.now(UTC).date() - date(2026, 9, 21)).days
    secs: list[float] = []
    options = FollowOptions(every_secs=0.0)
    scored = Ticks(lake, specification(TASKS), ALL, None, None, None)
    with closing(StopSignal()) as stop:
        follower = Follower(lake, scored, lambda *_: None, options, print, stop)
        print(f"{'ticks':>6} {'tick, CPU s':>12} {'live files':>11} {'all files':>10}")
        for number in range(1, ticks + 1):
            land(lake, run(number, "look", "pay"), seq=number, day=today)
            follower._schedule = TickSchedule(0.0)  # without pauses
            begun = time.process_time()
            follower.turn()
            secs.append(time.process_time() - begun)
            if number % STEP == 0:
                tables = [name for name in lake.tables() if not name.startswith("raw_")]
                live = max(len(lake.live_files(name)) for name in tables)
                every = sum(len(names) for _, _, names in os.walk(lake.root))
                print(f"{number:>6} {median(secs[-STEP:]):>12.2f} {live:>11} {every:>10}",
                      flush=True)  # fmt: skip


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        measure(Lake.create(Path(place) / "lake"), int(sys.argv[1]) if sys.argv[1:] else 120)
