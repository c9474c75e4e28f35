"""Measures one look at a large lake with twelve rules, each about a metric of its own.

    python -m tests.benchmarks.watch.measure_look [--runs 1000000] [--lake LAKE]

Prints the CPU seconds and the seconds of each look. The first look of a process also reads all
that later ones find in the memory of the system. Nothing is written into the lake.
"""

import argparse
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.benchmarks.command_line import while_read
from tests.benchmarks.lake.given_lake import add_lake_options, given_or_made

from tracegrade_lake import Lake
from tracegrade_scoring.metrics import METRICS
from tracegrade_watch.rules.model import WatchFile
from tracegrade_watch.run import watch

LAKE_RUNS: Final = 1_000_000
RULES: Final = 12
LOOKS: Final = 3
FIRST: Final = ("success", "tsa", "step_efficiency", "step_ratio")
"""Metrics that a rule is about for certain; the last two are worked out when scores are read."""


def rules() -> WatchFile:
    """Return as many rules as are measured."""
    others = (name for name, metric in METRICS.items() if metric.better and name not in FIRST)
    names = [*FIRST, *others][:RULES]
    watched = [{"id": name.replace("_", "-"), "metric": name, "smallest": 0.05} for name in names]
    return WatchFile.model_validate({"version": 1, "watch": watched})


def measure(lake: Lake) -> None:
    """Print a line for each look."""
    for number in range(1, LOOKS + 1):
        begun, cpu = time.perf_counter(), time.process_time()
        found = watch(lake, rules(), datetime.now(UTC).replace(tzinfo=None))
        secs = time.perf_counter() - begun
        used = time.process_time() - cpu
        print(
            f"look {number}: {used:.1f} s of CPU, {secs:.1f} s, {len(found.checks)} checks",
            flush=True,
        )


def main() -> None:
    """Measure a lake that exists, or one that is made for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_lake_options(parser, LAKE_RUNS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Lake.open(given_or_made(options, Path(folder))))


if __name__ == "__main__":
    with while_read():
        main()
