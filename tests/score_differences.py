"""Prints how the scores of the same traces differ between two lakes, and what they differ by.

A line is a metric, its value before and after, the cause, and the number of runs. The cause is
what differs in the runs and steps of the attempt; where nothing does, it is a definition or a
task file. Lakes of older versions can be read, too.

    python -m tests.score_differences BEFORE AFTER [--runs]
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import METRICS

from .benchmarks.command_line import while_read
from .row_digests import OF_THE_DAY

Row = dict[str, Any]

APART: Final = {*OF_THE_DAY, "trajectory_id", "step_index", "trace_records"}
"""Columns that are no cause: names of rows, and what depends on when a trace was received."""
SHOWN: Final = 4
"""Runs that are named for each difference."""


class ScoreLines(NamedTuple):
    """What a lake tells of each run, by its id."""

    runs: dict[str, Row]
    steps: dict[str, list[Row]]
    scores: dict[str, dict[str, str]]


class Difference(NamedTuple):
    """A score of a run that is not as before, or the run itself."""

    metric: str
    before: str
    after: str
    cause: str


def told(lake: Lake) -> ScoreLines:
    """Return the runs, steps and scores of a lake."""
    with connect(lake, layers=(SCORES,)) as con:
        runs = {row["trajectory_id"]: row for row in _rows(con, "trajectories", "trajectory_id")}
        steps = defaultdict[str, list[Row]](list)
        for row in _rows(con, "steps", "trajectory_id, step_index"):
            steps[row["trajectory_id"]].append(row)
        scores = {
            row["trajectory_id"]: {metric: _in_words(row[metric]) for metric in METRICS}
            for row in _rows(con, "trajectory_scores", "trajectory_id")
        }
    return ScoreLines(runs, steps, scores)


def differences(before: ScoreLines, after: ScoreLines) -> Iterator[tuple[str, Difference]]:
    """Yield the id of each run with each of its differences, by id and metric."""
    causes = _causes(before, after)
    for run in sorted(before.runs.keys() | after.runs.keys()):
        old, new = ((run in each.runs, each.scores.get(run)) for each in (before, after))
        if old[1] is None or new[1] is None:
            was, became = (_state(*each) for each in (old, new))
            yield from [(run, Difference("all", was, became, causes[run]))] * (was != became)
            continue
        for metric in METRICS:
            if old[1][metric] != new[1][metric]:
                yield run, Difference(metric, old[1][metric], new[1][metric], causes[run])


def _state(is_run: bool, scores: dict[str, str] | None) -> str:
    return "scored" if scores else "not scored" if is_run else "no run"


def _causes(before: ScoreLines, after: ScoreLines) -> dict[str, str]:
    """Return what the runs of each run's attempt tell otherwise."""
    roots = {run: _root(run, before, after) for run in before.runs.keys() | after.runs.keys()}
    found = defaultdict[str, set[str]](set)
    for run, root in roots.items():
        found[root] |= _changed(run, before, after)
    return {run: ", ".join(sorted(found[root])) or "equal rows" for run, root in roots.items()}


def _root(run: str, *lakes: ScoreLines) -> str:
    """Return the outermost run above this one in either lake."""
    seen = {run}
    while parent := next((up for told in lakes if (up := _parent(told, run))), None):
        if parent in seen:
            break
        seen.add(run := parent)
    return run


def _parent(told: ScoreLines, run: str) -> str | None:
    parent: str | None = told.runs.get(run, {}).get("parent_trajectory_id")
    return parent


def _changed(run: str, before: ScoreLines, after: ScoreLines) -> set[str]:
    """Return the columns of the run and of its steps that are not as before."""
    if run not in before.runs:
        return {"another run"}
    if run not in after.runs:
        return {"a run less"}
    old, new = before.steps.get(run, []), after.steps.get(run, [])
    found = {f"run.{name}" for name in _unlike([before.runs[run]], [after.runs[run]])}
    kinds = Counter(row["kind"] for row in new)
    kinds.subtract(row["kind"] for row in old)
    found |= {f"{count:+} {kind}" for kind, count in kinds.items() if count}
    if any(kinds.values()):
        return found
    return found | {f"step.{name}" for name in _unlike(old, new)}


def _unlike(before: list[Row], after: list[Row]) -> Iterable[str]:
    """Return the columns in which rows of equal number differ."""
    pairs = list(zip(before, after, strict=True))
    names = {name for rows in (before, after) for row in rows for name in row} - APART
    return [n for n in names if any(_value(a, n) != _value(b, n) for a, b in pairs)]


def _value(row: Row, name: str) -> Any:
    """Return a value as it is compared: in a column that was not there yet, all are NULL."""
    value = row.get(name)
    return None if value is False or value == [] else value


def _in_words(score: Row) -> str:
    """Return a score's value or why it has none, and its label."""
    value = f"{score['value']:.6g}" if score["status"] == "scored" else score["reason"]
    said = value if score["status"] != "error" else f"error {value}"
    return said if score["label"] is None else f"{said} ({score['label']})"


def _rows(con: duckdb.DuckDBPyConnection, table: str, order: str) -> Iterator[Row]:
    found = con.sql(f"FROM {table} ORDER BY {order}")
    yield from found.to_arrow_table().to_pylist()


def main() -> None:
    """Print the differences, those of most runs first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--runs", action="store_true", help="name some runs of each")
    given = parser.parse_args()
    found = defaultdict[Difference, list[str]](list)
    for run, each in differences(told(Lake.open(given.before)), told(Lake.open(given.after))):
        found[each].append(run)
    for each, runs in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        named = " ".join(["", *runs[:SHOWN]]) if given.runs else ""
        print(*each, f"{len(runs)}{named}", sep=" | ")  # noqa: T201 - that is what it is for


if __name__ == "__main__":
    with while_read():
        main()
