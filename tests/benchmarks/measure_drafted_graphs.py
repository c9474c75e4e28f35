"""How often *critical path complete* of drafted plan graphs agrees with the reward of τ-bench.

`python -m tests.benchmarks.measure_drafted_graphs FOLDER` reads `gpt-4o-airline.json` of a folder:
trajectories that τ-bench has published. It drafts a task file from the runs that were rewarded
and scores all runs with it; then it drafts from those of half of the trials, and scores the
other half. The table is in docs/internals/measurements.md.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import duckdb
from tests.benchmarks.command_line import while_read

from tracegrade_collector.importing.importer import import_files
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.tasks import Specification, load
from tracegrade_scoring.tasks.draft import DraftedFrom, draft_file

FILE = "gpt-4o-airline.json"
RUNS = """
SELECT
  trajectory_id, trajectories.trial % 2, success.value = 1, critical_path_completion.value = 1
FROM trajectory_scores INNER JOIN trajectories USING (trajectory_id)
"""


def main() -> None:
    """Measure and print a row for each way to draft."""
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake.create(Path(folder) / "lake")
        import_files(lake, [Path(sys.argv[1]) / FILE], print)
        score(lake, Specification())
        runs = _runs(lake)
        rewarded = [run for run, (_, success, _) in runs.items() if success]
        halves = [[run for run in rewarded if runs[run][0] == half] for half in (0, 1)]
        print("drafted from | tasks with a graph | runs with a critical path", end=" | ")
        print("rewarded | complete | agree")
        _print_row("all rewarded runs", lake, rewarded, runs.keys())
        for name, half, drawn in zip(("even", "odd"), (0, 1), halves, strict=True):
            others = {run for run, (trial, _, _) in runs.items() if trial != half}
            _print_row(f"those of {name} trials, scored on the others", lake, drawn, others)


def _runs(lake: Lake) -> dict[str, tuple[int, bool | None, bool | None]]:
    with connect(lake, layers=(SCORES,)) as con:
        return {run: (half, reward, whole) for run, half, reward, whole in _rows(con)}


def _rows(con: duckdb.DuckDBPyConnection) -> list[tuple[str, int, bool | None, bool | None]]:
    return con.sql(RUNS).fetchall()


def _print_row(name: str, lake: Lake, drawn: Collection[str], scored: Collection[str]) -> None:
    file = lake.root / "drafted.yaml"
    text = draft_file(lake, DraftedFrom(trajectories=[*drawn]), lambda _: None)
    file.write_text(text, encoding="utf-8")
    specification = load([file]).specification
    graphs = sum(bool(task.sub_goals) for task in specification.tasks.values())
    score(lake, specification, full=True)
    found = Counter(
        (success, complete)
        for run, (_, success, complete) in _runs(lake).items()
        if run in scored and complete is not None
    )
    runs, agree = found.total(), found[True, True] + found[False, False]
    print(
        f"{name} | {graphs} of {len(specification.tasks)} | {runs} "
        f"| {found[True, True] + found[True, False]} "
        f"| {found[True, True]} of these, {found[False, True]} of the others "
        f"| {agree / runs:.0%}"
    )


if __name__ == "__main__":
    with while_read():
        main()
