"""What a day of a follower leaves in a lake, and whether a tick gets slower.

    python -m tests.benchmarks.follow.measure_ticks [TICKS]

Lands one run a minute and scores it, in one process, for a day from midnight on (1,440 ticks).
Each tenth minute brings a late span of an earlier run as well. The clock is one that the program
sets (`month/wall_clock.py`), so it needs Linux and `cc`. Files are merged and removed as by a
follower. Prints for every hour the processor time of its ticks and the files; a day takes about an
hour of one core.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import mean, median

import psutil
from tests.benchmarks.month.traffic import FIRST_NS, Traffic, task_file
from tests.benchmarks.month.upkeep import size_on_disk
from tests.benchmarks.month.wall_clock import WallClock, is_shifted, run_shifted
from tests.scoring.build import specification

from tracegrade_lake import Lake
from tracegrade_scoring.follow.follower import Follower, FollowOptions
from tracegrade_scoring.follow.stopping import StopSignal
from tracegrade_scoring.follow.tick_schedule import TickSchedule
from tracegrade_scoring.follow.ticks import Ticks
from tracegrade_scoring.job.discovery import ALL

TICKS = 1_440
HOUR = 60
"""Ticks of an hour."""
LATE = 10
"""Ticks from one late span to the next."""
TICK_NS = 60_000_000_000
HEAD = "| ticks | CPU of a tick, median | mean | live files of the table with most | files on the disk | MB |"  # noqa: E501


def measure(lake: Lake, ticks: int) -> None:
    """Score so many times, and print a line for every hour."""
    clock, traffic = WallClock(), Traffic(lake)
    started_ns = time.time_ns() - clock.shift_ns
    scored = Ticks(lake, specification(task_file(changed=False)), ALL, None, None, None)
    options = FollowOptions(every_secs=0.0)
    secs: list[float] = []
    print(f"{HEAD}\n|{'---|' * 6}", flush=True)
    with closing(StopSignal()) as stop:
        follower = Follower(lake, scored, lambda *_: None, options, print, stop)
        for number in range(1, ticks + 1):
            now_ns = FIRST_NS + number * TICK_NS
            clock.set(now_ns)
            _land(traffic, now_ns, is_late=number % LATE == 0)
            follower._schedule = TickSchedule(0.0)  # without pauses
            secs.append(_cpu(follower.turn))
            clock.date_files(lake.root, started_ns)
            if number % HOUR == 0 or number == ticks:
                print(_line(lake, number, secs), flush=True)
                secs.clear()


def _land(traffic: Traffic, now_ns: int, *, is_late: bool) -> None:
    late = traffic.late_of(now_ns, [0]) if is_late else []
    traffic.land([*traffic.requests_of(now_ns, 1), *late], now_ns)


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _line(lake: Lake, ticks: int, secs: list[float]) -> str:
    tables = [name for name in lake.tables() if not name.startswith("raw_")]
    live = max(len(lake.live_files(name)) for name in tables)
    size = size_on_disk(lake)
    cells = (ticks, f"{median(secs):.2f} s", f"{mean(secs):.2f} s", live)
    return f"| {' | '.join(map(str, cells))} | {size.disk_files:,} | {size.disk_mb:.0f} |"


def main() -> None:
    """Let a day pass, and print it."""
    if not is_shifted():
        sys.exit(run_shifted("tests.benchmarks.follow.measure_ticks", sys.argv[1:]))
    with tempfile.TemporaryDirectory() as place:
        measure(Lake.create(Path(place) / "lake"), int(sys.argv[1]) if sys.argv[1:] else TICKS)
    print(f"\nload of the machine: {psutil.getloadavg()[1]:.1f}")


if __name__ == "__main__":
    main()
