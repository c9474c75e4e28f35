"""What a report of one day costs, in a lake of many dates and in one of that day alone.

    python -m tests.benchmarks.lake.measure_period_report [--runs N] [--days N] [--times N]

Printed is the least CPU time of the whole command: `report --since` of the last of `--days` dates
with `--runs` runs each, the same in a lake that has that date only, and `report` of all dates.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from tests.benchmarks.command_line import while_read
from tests.benchmarks.made_lake import FIRST_DAY, Maker, make, task_file

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks.specification import usable_specification


def make_lakes(place: Path, runs: int, days: int) -> tuple[Lake, Lake]:
    """Return scored lakes of all dates, and of the last one."""
    (place / "tasks.yaml").write_text(task_file(), encoding="utf-8")
    specification, _ = usable_specification(place / "tasks.yaml")
    whole, last = make(place / "whole", runs * days, days), Lake.create(place / "last")
    Maker(last).add(runs * (days - 1), runs * days, days - 1)
    for lake in (whole, last):
        score(lake, specification)
    return whole, last


def cpu_secs(lake: Lake, *options: str) -> float:
    """Return the CPU time of a report, from the start of its process to its end."""
    command = (sys.executable, "-m", "tracegrade", "report", "--lake", lake.location, *options)
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    used = (
        after.children_user - before.children_user,
        after.children_system - before.children_system,
    )
    return sum(used)


def main() -> None:
    """Print what the reports cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=250)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    since = ("--since", f"{FIRST_DAY + timedelta(given.days - 1)}T00:00Z")
    with tempfile.TemporaryDirectory() as folder, while_read():
        whole, last = make_lakes(Path(folder), given.runs, given.days)
        for name, lake, options in (
            (f"the last of {given.days} dates", whole, since),
            ("the same date alone", last, since),
            ("all dates", whole, ()),
        ):
            least = min(cpu_secs(lake, *options) for _ in range(given.times))
            print(f"report of {name}: {least:.2f} s of CPU")


if __name__ == "__main__":
    main()
