"""How fast trajectories are scored, beside a pass that merely brings each one's calls together.

Beside a loop in Python, too, which says four numbers of each of some of them. Run by hand or by
`make bench`; `--runs` sets how many trajectories, of about ten steps each. Each measurement is a
process of its own. Time is wall time; CPU time stands beside it, since on a machine with other
work to do it is the steadier of the two.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import duckdb
from tests.benchmarks.command_line import while_read
from tests.benchmarks.made_lake import DAYS, Maker, make, task_file
from tests.benchmarks.plain_scoring import NUMBERS, score_plainly

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.tasks.specification import usable_specification

RUNS: Final = 20_000

CALLS_TOGETHER: Final = """
  SELECT
    trajectory_id,
    list(struct_pack(tool_name, arguments, status) ORDER BY step_index) AS calls
  FROM read_parquet($files)
  WHERE kind = 'tool_call'
  GROUP BY 1
"""


class Cost(NamedTuple):
    """What one process took."""

    secs: float
    cpu_secs: float
    peak_mb: int
    """Most memory that it held at once."""
    rows: int
    """Trajectories that it worked off."""

    def __str__(self) -> str:
        return (
            f"{self.rows:>10,} trajectories {self.secs:>8.1f} s {self.cpu_secs:>8.1f} s of CPU "
            f"{self.peak_mb:>7,} MB"
        )


def bring_calls_together(place: Path) -> int:
    """Return how many trajectories have calls, after bringing those of each together."""
    files = Lake.open(place).files("steps")
    con = duckdb.connect()
    con.execute("SET enable_progress_bar = false")
    con.execute(f"CREATE TABLE together AS {CALLS_TOGETHER}", {"files": files})
    return int(con.sql("SELECT count(*) FROM together").fetchall()[0][0])


def score_lake(place: Path) -> int:
    """Return how many trajectories were new or changed, after scoring them."""
    specification, _ = usable_specification(place / "tasks.yaml")
    return score(Lake.open(place), specification).trajectories


def cost(work: Callable[[Path], int], place: Path) -> Cost:
    """Return what the work costs in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_measured, (work, place))


def _measured(work: Callable[[Path], int], place: Path) -> Cost:
    start, cpu = time.perf_counter(), time.process_time()
    rows = work(place)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return Cost(time.perf_counter() - start, time.process_time() - cpu, peak_mb, rows)


def made(place: Path, runs: int) -> Lake:
    """Return a lake with so many runs and the task file beside its tables."""
    lake = make(place, runs)
    (place / "tasks.yaml").write_text(task_file())
    return lake


def report(name: str, found: Cost, beside: Cost) -> None:
    """Print one line: the cost, and how often that of another it is."""
    times = f"{found.secs / beside.secs:.3f} x ({found.cpu_secs / beside.cpu_secs:.3f} x CPU)"
    print(f"{name:<24} {found}  {times}", flush=True)


def report_each(name: str, found: Cost, full: Cost) -> None:
    """Print one line: the cost, and how often that of the full run a trajectory's is.

    Then the same for one number of a trajectory, since the full run says more of them.
    """
    each = (found.cpu_secs / found.rows) / (full.cpu_secs / full.rows)
    number = each * len(METRICS) / NUMBERS
    said = f"{each:.3f} x CPU a trajectory, {number:.3f} x CPU a number"
    print(f"{name:<24} {found}  {said}", flush=True)


def measure(place: Path, runs: int) -> None:
    """Print what a pass, a full run, and runs after new and late spans cost."""
    lake = made(place, runs)
    together = cost(bring_calls_together, place)
    report("calls brought together", together, together)
    full = cost(score_lake, place)
    report("all scored", full, together)
    report_each("plain Python", cost(score_plainly, place), full)
    report("nothing new", cost(score_lake, place), full)
    Maker(lake).add(runs, runs + runs // 100, DAYS)
    report("1 % new", cost(score_lake, place), full)
    Maker(lake).delay(runs // 100, [DAYS - 3, DAYS - 2, DAYS - 1])
    report("1 % late within 3 days", cost(score_lake, place), full)


def main() -> None:
    """Print one line for each measurement, with its ratio to the first, or to the full run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="trajectories")
    parser.add_argument("--lake", type=Path, help="where to make the lake, which is kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(options.lake or Path(folder) / "lake", options.runs)


if __name__ == "__main__":
    with while_read():
        main()
