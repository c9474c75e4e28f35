"""A month of a lake: landings each hour, scorings, late spans, a changed task file, maintenance.

    python -m tests.benchmarks.simulate_month [--days N] [--runs N] [--late N]
        [--hourly-from DAY] [--store]

Each of `--days` dates brings 24 commits of traces with `--runs` runs in all. Twice a day,
from the day `--hourly-from` on after each commit, spans of runs of `--late` older dates come in,
and the lake is scored. Once a day it is compacted and old dates expire. On one day the task file
changes. The clock is one that the program sets (`month/wall_clock.py`), so it needs Linux and
`cc`. With `--store` the lake is on a server of S3 (moto), and requests are counted; commands that
read the lake, and the disk, are measured without it only.

Printed are the costs of each day, then how each of them goes on: at the month's end in relation to
its middle, the slope, and by arithmetic a year.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Final

import psutil
from tests.benchmarks.bench_discovery import cpu
from tests.benchmarks.collector.measure_requests import counted
from tests.benchmarks.command_line import while_read
from tests.benchmarks.month.curves import Curve, curve
from tests.benchmarks.month.readers import read_costs
from tests.benchmarks.month.traffic import FIRST_NS, Traffic, task_file
from tests.benchmarks.month.upkeep import size_on_disk
from tests.benchmarks.month.wall_clock import WallClock, is_shifted, run_shifted
from tests.lake.stores import Store, put_environment, s3_server
from tests.queries.traces import DAY_NS

from tracegrade_lake import Lake
from tracegrade_lake.maintenance.compaction import CompactOptions, compact
from tracegrade_lake.maintenance.expiry import expire
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.specification import usable_specification

HOURS: Final = 24
SCORED_HOURS: Final = (11, 23)
MINUTE_NS: Final = 60 * 10**9
LATE_AGES: Final = (1, 2, 3, 5, 8, 13, 21)
"""How many days late spans come after their runs; the first ones for so many late dates."""

CHANGE_DAY: Final = 10
"""On which the task file is another one, counted from 1."""

KEPT_DAYS: Final = 90

COSTS: Final = {
    "land": "landing, s",
    "score": "scoring with news, s",
    "nothing": "scoring of nothing, s",
    "compact": "compact, s",
    "expire": "expire, s",
}
"""Seconds of CPU of what writes the lake, by name; and its title."""

REQUESTS: Final = {f"{name}_requests": f"{title[:-3]}, requests" for name, title in COSTS.items()}
LIVE: Final = {"live_files": "live files", "live_mb": "live, MB"}
STORE_COLUMNS: Final = {**COSTS, **REQUESTS, **LIVE}
FOLDER_COLUMNS: Final = {
    **COSTS,
    "report_day": "report of a day, s",
    "report_all": "report of all, s",
    "compare": "comparison, s",
    "page": "start of the page, s",
    "page_mb": "memory of the page, MB",
    "log_entries": "log entries to open all tables",
    "log_mb": "logs, MB",
    **LIVE,
    "disk_files": "files on the disk",
    "disk_mb": "on the disk, MB",
    "disk_share": "on the disk, times live",
}
"""What is printed of each day, and its title."""


@dataclass
class Month:
    """A lake that gets older."""

    lake: Lake
    place: Path
    options: argparse.Namespace
    store: Store | None = None
    """Where the lake is; None if it is a folder."""

    clock: WallClock = field(default_factory=WallClock)
    costs: dict[str, dict[int, list[float]]] = field(default_factory=dict)
    """By name and day, counted from 1: what was measured."""

    def __post_init__(self) -> None:
        """Begin with no traffic."""
        self.columns = STORE_COLUMNS if self.store else FOLDER_COLUMNS
        self.traffic = Traffic(self.lake)
        self._started_ns = time.time_ns() - self.clock.shift_ns

    def live(self) -> None:
        """Let all days pass, and print the costs of each."""
        print(f"| day | {' | '.join(self.columns.values())} |")
        print(f"|{'---|' * (len(self.columns) + 1)}", flush=True)
        for day in range(self.options.days):
            self._maintain(day)
            self._live_day(day)
            self._read(day)
            print(self._line(day + 1), flush=True)

    def curves(self) -> list[Curve]:
        """Return how each cost goes on."""
        return [
            curve(title, {day: mean(values) for day, values in self.costs[name].items()})
            for name, title in self.columns.items()
        ]

    def _live_day(self, day: int) -> None:
        """Land, and score, hour by hour."""
        for hour in range(HOURS):
            now_ns = self._set(day, hour, 10)
            runs = self.options.runs * (hour + 1) // HOURS - self.options.runs * hour // HOURS
            self._land(day, self.traffic.requests_of(now_ns, runs), now_ns)
            if day + 1 >= self.options.hourly_from or hour in SCORED_HOURS:
                now_ns = self._set(day, hour, 40)
                dates = [day - age for age in LATE_AGES[: self.options.late] if age <= day]
                self._land(day, self.traffic.late_of(now_ns, dates), now_ns)
                self._measure(day, "score", lambda: self._score(day))

    def _land(self, day: int, bodies: Sequence[bytes], now_ns: int) -> None:
        if bodies:
            self._measure(day, "land", lambda: self.traffic.land(bodies, now_ns))

    def _score(self, day: int) -> None:
        score(self.lake, self._specification(changed=day + 1 >= CHANGE_DAY))

    def _specification(self, *, changed: bool) -> Specification:
        path = self.place / "tasks.yaml"
        path.write_text(task_file(changed=changed), encoding="utf-8")
        return usable_specification(path)[0]

    def _read(self, day: int) -> None:
        """Measure what reads the lake at the end of a day, and how large it is."""
        now_ns = self._set(day, HOURS - 1, 50)
        self._measure(day, "nothing", lambda: self._score(day))
        live = [file for name in self.lake.tables() for file in self.lake.live_files(name)]
        live_mb = sum(file.size for file in live) / 1e6
        self._note(day, live_files=len(live), live_mb=live_mb)
        if self.store:
            counted(self.store)  # not those of the list above
            return
        size = size_on_disk(self.lake)
        self._note(day, **size._asdict(), disk_share=size.disk_mb / live_mb)
        if day + 1 in self._read_days():
            self._note(day, **read_costs(self.lake, day, now_ns)._asdict())

    def _read_days(self) -> set[int]:
        """Return the days at whose end commands read the lake: a few, as that takes long."""
        days, middle = self.options.days, self.options.days // 2
        around = {middle - 1, middle, middle + 1, days - 2, days - 1, days}
        return {1, *range(5, days, 5), *around}

    def _maintain(self, day: int) -> None:
        """Compact, and let dates expire, at night."""
        self._set(day, 0, 5)
        options = CompactOptions()
        self._measure(day, "compact", lambda: compact(self.lake, options, lambda _: None))
        self._measure(day, "expire", lambda: expire(self.lake, KEPT_DAYS, lambda _: None))

    def _set(self, day: int, hour: int, minute: int) -> int:
        """Let it be this time; return it, ns since 1970."""
        now_ns = FIRST_NS + day * DAY_NS + (60 * hour + minute) * MINUTE_NS
        self.clock.set(now_ns)
        return now_ns

    def _measure(self, day: int, name: str, work: Callable[[], object]) -> None:
        """Note the CPU of some work, and its requests."""
        self._note(day, **{name: cpu(work)})
        if self.store:
            self._note(day, **{f"{name}_requests": counted(self.store).total()})
        else:
            self.clock.date_files(self.lake.root, self._started_ns)

    def _note(self, day: int, **costs: float) -> None:
        for name, cost in costs.items():
            self.costs.setdefault(name, {}).setdefault(day + 1, []).append(cost)

    def _line(self, day: int) -> str:
        found = (self.costs.get(name, {}).get(day) for name in self.columns)
        return f"| {day} | {' | '.join(shown(mean(each)) if each else '' for each in found)} |"


def shown(value: float) -> str:
    """Return a number with three digits that count."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def summary(curves: Sequence[Curve]) -> str:
    """Return a table of the curves."""
    lines = [
        "| cost | first day | middle | end | end / middle | a day more | in a year | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in curves:
        values = (each.first, each.middle, each.last, each.ratio, each.slope, each.in_a_year)
        cells = " | ".join(map(shown, values))
        lines.append(f"| {each.name} | {cells} | {'rises' if each.rises else ''} |")
    return "\n".join(lines)


def main() -> None:
    """Let a month pass, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=31)
    parser.add_argument("--runs", type=int, default=200, help="of each date")
    parser.add_argument("--late", type=int, default=3, help="dates of late spans of each scoring")
    hourly = "score after each commit from this day on, counted from 1"
    parser.add_argument("--hourly-from", type=int, default=10**6, metavar="DAY", help=hourly)
    parser.add_argument("--store", action="store_true", help="count requests to a store")
    options = parser.parse_args()
    if not is_shifted():
        sys.exit(run_shifted("tests.benchmarks.simulate_month", sys.argv[1:]))
    with tempfile.TemporaryDirectory() as folder, while_read(), ExitStack() as stack:
        place, store = Path(folder), None
        location: str | Path = place / "lake"
        if options.store:
            store = stack.enter_context(s3_server())
            put_environment(store, os.environ.__setitem__)
            location = store.url("lake")
        month = Month(Lake.create(location, place / "state"), place, options, store)
        month.live()
        print(f"\nload of the machine: {psutil.getloadavg()[1]:.1f}\n")
        print(summary(month.curves()))


if __name__ == "__main__":
    main()
