"""How much CPU users' own metrics in SQL add to a whole scoring, by how many there are.

Run by hand or by `make bench`; `--runs` sets how many trajectories, of about ten steps each. Each
scoring is a process of its own on a lake of its own; CPU time includes the processes that the
metrics run in. The ratio is to the scoring of the same runs without own metrics.
"""

import argparse
import multiprocessing
import resource
import shutil
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from tests.benchmarks.bench_scoring import made
from tests.benchmarks.command_line import while_read

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.own_metrics.in_force import MetricOptions, with_metrics
from tracegrade_scoring.tasks.specification import usable_specification

RUNS: Final = 10_000
COUNTS: Final = (0, 1, 4, 16)
METRIC: Final = """-- Calls that failed / tool calls, 0 to 1.
-- Metric: {name}   Version: 1   Range: 0..1   Better: less   Kind: share   Unit: calls
-- Reads: attempts, calls
SELECT
  attempts.attempt_id,
  count_if(calls.failed) AS numerator,
  count(calls.call_index) AS denominator,
  if(count(calls.call_index) = 0, 'no_calls', NULL) AS nothing
FROM attempts
LEFT JOIN calls USING (attempt_id)
GROUP BY attempts.attempt_id
"""


class Cost(NamedTuple):
    """What one scoring took, with the processes that it started."""

    secs: float
    cpu_secs: float


def write_metrics(folder: Path, count: int) -> None:
    """Write so many metrics, which differ in their names alone."""
    folder.mkdir()
    for number in range(count):
        name = f"failed_share_{number}"
        (folder / f"{name}.sql").write_text(METRIC.format(name=name))


def score_with(location: Path, metrics: Path | None) -> Cost:
    """Return what scoring all of the lake costs; own metrics are those of a folder."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_measured, (location, metrics))


def _measured(location: Path, metrics: Path | None) -> Cost:
    start, cpu = time.perf_counter(), _cpu_secs()
    lake = Lake.open(location)
    specification, _ = usable_specification(location / "tasks.yaml")
    options = MetricOptions(metrics, forget=metrics is None, trust_kept=False, plugins=False)
    done = score(lake, with_metrics(lake, specification, options, print))
    if done.failed_metrics:
        msg = f"metrics failed: {done.failed_metrics}"
        raise RuntimeError(msg)
    return Cost(time.perf_counter() - start, _cpu_secs() - cpu)


def _cpu_secs() -> float:
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> None:
    """Print one line for each number of metrics, with its ratio to none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="trajectories")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder) / "template"
        made(template, options.runs)
        without: Cost | None = None
        for count in COUNTS:
            location, metrics = Path(folder) / f"lake-{count}", Path(folder) / f"metrics-{count}"
            shutil.copytree(template, location)
            write_metrics(metrics, count)
            found = score_with(location, metrics if count else None)
            without = without or found
            ratio = found.cpu_secs / without.cpu_secs
            print(
                f"{count:>3} own metrics {found.secs:>7.1f} s {found.cpu_secs:>7.1f} s of CPU "
                f"{ratio:.3f} x CPU",
                flush=True,
            )
            shutil.rmtree(location)


if __name__ == "__main__":
    with while_read():
        main()
