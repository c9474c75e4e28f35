"""Reads a report's numbers from a lake: one query for each kind of fact, joined by release.

Everything is aggregated in SQL, so what arrives here grows with releases and tasks, not with
trajectories.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from duckdb import DuckDBPyConnection

from tracegrade_scoring.rendering.rows import Row, read_rows
from tracegrade_scoring.report.counted import counted_alone
from tracegrade_scoring.report.model import (
    DEFAULT_OPTIONS,
    EVERY_ATTEMPT,
    Counting,
    Key,
    LakeContents,
    ModeOutcome,
    Release,
    Reliability,
    ReplanningRuns,
    Report,
    ReportOptions,
    Runs,
    Score,
    SubGoalOutcome,
    TaskAxes,
    TaskReplanning,
    TaskToolSelection,
    Unscored,
    WrongDecision,
)
from tracegrade_scoring.statistics.reliability import (
    ESTIMATORS,
    UNBIASED,
    Attempts,
    Counted,
    count_attempts,
    passes,
)
from tracegrade_scoring.statistics.tiers import Tier, classify

EVIDENCE_ROWS = 200
"""Rows of wrong decisions of one release: as many as a page still scrolls well."""

Rows = Mapping[Key, list[Row]]


def read_report(
    con: DuckDBPyConnection,
    lake: str,
    counting: Counting = EVERY_ATTEMPT,
    options: ReportOptions = DEFAULT_OPTIONS,
) -> Report:
    """Return what the tables behind a connection say about each release.

    Args:
        con: Holds the tables that the queries under `tracegrade_queries/report` read.
        lake: The lake's name for the reader.
        counting: Which attempts reliability is counted over.
        options: Level of intervals, and whose T-Score.
    """
    (contents,) = read_rows(con, "lake_contents")
    runs = _by_release(read_rows(con, "release_runs"))
    facts = {"attempt_successes": _by_release(read_rows(con, "attempt_successes"))}
    with counted_alone(con, options.level):
        facts |= {name: _by_release(read_rows(con, name)) for name in _PLAIN_FACTS}
        wrong = read_rows(con, "wrong_decisions", rows=EVIDENCE_ROWS)
    facts["wrong_decisions"] = _by_release(wrong)
    releases = tuple(_release(key, row, facts, counting, options) for key, (row,) in runs.items())
    return Report(lake, LakeContents(**contents), releases, options)


_PLAIN_FACTS = (
    "release_metrics",
    "unscored_reasons",
    "sub_goal_outcomes",
    "task_tool_selection",
    "task_replanning",
    "replans_by_failures",
    "task_axes",
    "failing_runs",
    "score_spreads",
)


def _by_release(rows: Iterable[Row]) -> dict[Key, list[Row]]:
    """Return the rows of each cohort, without the columns that name it."""
    found: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        found[Key(*(row.pop(name) for name in Key._fields))].append(row)
    return found


def _release(
    key: Key, runs: Row, facts: Mapping[str, Rows], counting: Counting, options: ReportOptions
) -> Release:
    def of(name: str) -> list[Row]:
        return facts[name].get(key, [])

    wrong = of("wrong_decisions")
    return Release(
        key,
        Runs(**runs),
        metrics=_scores(of("release_metrics"), of("unscored_reasons")),
        reliability=_reliability(of("attempt_successes"), counting, options.level),
        wrong_decisions=tuple(_wrong_decision(row) for row in wrong),
        wrong_decision_rows=wrong[0]["total"] if wrong else 0,
        sub_goals=tuple(
            SubGoalOutcome(**{**row, "deps": tuple(row["deps"])})
            for row in of("sub_goal_outcomes")
        ),
        tool_selection=tuple(TaskToolSelection(**row) for row in of("task_tool_selection")),
        replanning=tuple(TaskReplanning(**row) for row in of("task_replanning")),
        replanning_runs=tuple(ReplanningRuns(**row) for row in of("replans_by_failures")),
        task_axes=tuple(TaskAxes(**row) for row in of("task_axes")),
        failure_modes=tuple(ModeOutcome(**row) for row in of("failing_runs")),
        spreads={row["metric"]: tuple(row["quantiles"]) for row in of("score_spreads")},
        options=options,
    )


def _scores(metrics: list[Row], reasons: list[Row]) -> dict[str, Score]:
    unscored: dict[str, list[Unscored]] = defaultdict(list)
    for row in reasons:
        unscored[row["metric"]].append(Unscored(row["status"], row["reason"], row["trajectories"]))
    return {row["metric"]: _score(row, unscored[row["metric"]]) for row in metrics}


def _score(row: Row, unscored: list[Unscored]) -> Score:
    no_spread = row["low"] is not None and row["low"] == row["high"]
    flags = (*row["flags"], *("no_spread",) * no_spread)
    return Score(**{**row, "flags": flags}, unscored=tuple(unscored))


def _wrong_decision(row: Row) -> WrongDecision:
    facts = {name: value for name, value in row.items() if name != "total"}
    return WrongDecision(**{**facts, "failed_criteria": tuple(facts["failed_criteria"])})


def _reliability(tasks: list[Row], counting: Counting, level: float) -> Reliability | None:
    if not tasks:
        return None
    counted = _counted(tasks, counting)
    others = (name for name in ESTIMATORS if name != UNBIASED)
    return Reliability(
        tuple(passes(counted.tasks, level=level)),
        valid=sum(row["valid_attempts"] for row in tasks),
        invalid=sum(row["invalid"] for row in tasks),
        superseded=sum(row["superseded"] for row in tasks),
        tier=classify(counted.tasks, level),
        categories=tuple(_categories(tasks, counting, level)),
        dropped=counted.dropped,
        other_estimators=tuple(
            row for name in others for row in passes(counted.tasks, name, level=level)
        ),
    )


def _counted(tasks: Iterable[Row], counting: Counting) -> Counted:
    attempts = (Attempts(row["valid_attempts"], row["correct"], row["invalid"]) for row in tasks)
    return count_attempts(attempts, **counting._asdict())


def _categories(
    tasks: list[Row], counting: Counting, level: float
) -> Iterator[tuple[str | None, Tier]]:
    """Yield the tier of each task category by name; nothing if there is one alone."""
    by_category: dict[str | None, list[Row]] = defaultdict(list)
    for row in tasks:
        by_category[row["task_category"]].append(row)
    if len(by_category) > 1:
        for name in sorted(by_category, key=lambda name: (name is None, name or "")):
            yield name, classify(_counted(by_category[name], counting).tasks, level)
