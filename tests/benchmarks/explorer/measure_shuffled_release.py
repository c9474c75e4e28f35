"""How often a comparison of a release with itself says that something is worse.

`python -m tests.benchmarks.explorer.measure_shuffled_release LAKE [--release NAME]` splits the
runs of one release of a scored lake at random into two releases, and compares these, again and
again. Without a name it takes those of all releases. What chance explains must not be named: at
most 5 of 100 comparisons may name anything.
`measure_false_alarms` does the same with simulated runs, of more settings.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from duckdb import DuckDBPyConnection
from tests.benchmarks.command_line import while_read

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.relations import only
from tracegrade_scoring.compare.decision.decision import ReleaseDecision, decide_release
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.layer import SCORES

SHUFFLES: Final = 1_000
HALVES: Final = ("one half", "other half")
OF_RELEASE: Final = "getvariable('release') IS NULL OR release = getvariable('release')"
WITH_HALF: Final = f"""* REPLACE (
  if(
    md5_number_lower(split_part(trajectory_id, '-', 1) || '/' || getvariable('seed')) % 2 = 0,
    '{HALVES[0]}', '{HALVES[1]}'
  ) AS release
)"""
"""A run and its sub-agents, which have the trace in common, are in one half."""


def decisions(
    con: DuckDBPyConnection, lake: str, release: str | None, shuffles: int
) -> Iterator[list[ReleaseDecision]]:
    """Yield what each shuffle decides: for each agent and run mode of the release."""
    con.execute("SET VARIABLE release = $release", {"release": release})
    with only(con, ["trajectories", "trajectory_scores"], OF_RELEASE, WITH_HALF):
        for seed in range(shuffles):
            con.execute("SET VARIABLE seed = $seed", {"seed": seed})
            found = read_comparisons(con, lake, *HALVES)
            yield [decide_release(cohort) for cohort in found.cohorts]


def main() -> None:
    """Print how many shuffles name something, and what they name most."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lake", type=Path)
    parser.add_argument("--release")
    parser.add_argument("--shuffles", type=int, default=SHUFFLES)
    options = parser.parse_args()
    worse: Counter[str] = Counter()
    better, cohorts, begun, cpu = 0, Counter[str](), time.monotonic(), time.process_time()
    naming = 0
    with connect(Lake.open(options.lake), layers=(SCORES,)) as con:
        for found in decisions(con, str(options.lake), options.release, options.shuffles):
            naming += any(each.worse for each in found)
            better += any(each.better for each in found)
            worse.update(name for each in found for name in each.worse)
            cohorts.update(each.word for each in found)
    print(f"{naming:,} of {options.shuffles:,} shuffles name something worse, {better:,} better")
    print(f"words: {', '.join(f'{word} {times:,}' for word, times in cohorts.most_common())}")
    print(f"named worse: {', '.join(f'{n} {times:,}' for n, times in worse.most_common(10))}")
    print(f"{time.monotonic() - begun:.0f} s, {time.process_time() - cpu:.0f} s of CPU")


if __name__ == "__main__":
    with while_read():
        main()
