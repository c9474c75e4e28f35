"""Reads a report's numbers from a lake: one query for each kind of fact, joined by release.

Everything is aggregated in SQL, so what arrives here grows with releases and tasks, not with
trajectories.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade_queries.engine.pinned import PinnedLake
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.compare.attempts import DeclaredTask
from tracegrade_scoring.compare.judge_corrections import NO_CALIBRATIONS, MeasuredJudges
from tracegrade_scoring.errors import NothingToReport
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.mixed_definitions import mixed_by_agent
from tracegrade_scoring.rendering.own_metrics import OWN_METRICS, own_metrics
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.report.bands import band_means
from tracegrade_scoring.report.breakdown import (
    NO_CAVEATS,
    ScoreCaveats,
    category_successes,
    conversations,
    task_outcomes,
)
from tracegrade_scoring.report.comparisons import newest_compared
from tracegrade_scoring.report.counted import counted_alone, in_period, make_counted_usage
from tracegrade_scoring.report.model import (
    AS_TIERS,
    DEFAULT_OPTIONS,
    EVERYTHING,
    AttemptPolicy,
    CohortKey,
    LakeContents,
    ModeOutcome,
    Release,
    Reliability,
    ReplanningRuns,
    Report,
    ReportOptions,
    RollbackKill,
    Runs,
    Score,
    Selection,
    SubGoalOutcome,
    TaskAxes,
    TaskReplanning,
    TaskToolSelection,
    Unscored,
    WrongDecision,
)
from tracegrade_scoring.report.reason_outcome import ReasonOutcome
from tracegrade_scoring.report.uncalibrated import marked
from tracegrade_scoring.sql import RELATIONS
from tracegrade_scoring.statistics.reliability import (
    ESTIMATORS,
    UNBIASED,
    AttemptCounts,
    Attempts,
    count_attempts,
    fewest_trials,
    passes,
)
from tracegrade_scoring.statistics.tiers import Tier, classify

EVIDENCE_ROWS = 200
"""Rows of wrong decisions, and of kills, of one release: as many as a page still scrolls well."""

Rows = Mapping[CohortKey, list[ResultRow]]


def read_report(  # noqa: PLR0913, PLR0917 - what a reader may choose
    con: DuckDBPyConnection,
    lake: str,
    counting: AttemptPolicy = AS_TIERS,
    options: ReportOptions = DEFAULT_OPTIONS,
    declared: Sequence[DeclaredTask] = (),
    measured: MeasuredJudges = NO_CALIBRATIONS,
    selection: Selection = EVERYTHING,
    pinned: PinnedLake | None = None,
) -> Report:
    """Return the report on each release from the tables of a connection.

    Args:
        con: Holds the tables that the queries under `report/queries` read.
        lake: The lake's name for the reader.
        counting: The attempts that reliability counts.
        options: Level of intervals, and weights of the T-Score.
        declared: Tasks that may have no attempt at all.
        measured: Measurements of judges.
        selection: The runs that the report covers.
        pinned: The files that the connection reads; None if it reads none.

    Raises:
        NothingToReport: The lake has no run of the requested agent or a requested release.
    """
    (contents,) = read_rows(con, "lake_contents")
    RELATIONS.make(con, "continued_runs")  # a run may continue one from before the period
    chosen = ReportChoices(counting, options, declared, measured)
    with in_period(con, selection, pinned):
        found = _releases(con, chosen, selection)
        releases = tuple(release for release in found if selection.holds(release.key))
        if found and not releases:
            raise NothingToReport(_nothing(found, selection))
        keys = [release.key for release in releases]
        whole = None if selection.has_period else pinned
        compared = newest_compared(con, lake, keys, counting, options, measured, whole)
        own = own_metrics(read_rows(con, OWN_METRICS))
        rows = read_rows(con, "mixed_definitions", releases=[*selection.releases] or None)
    agents = {(key.agent_name, key.run_mode) for key in keys}
    mixed = mixed_by_agent(rows)
    return Report(
        lake,
        LakeContents(**contents),
        releases,
        options,
        compared,
        selection,
        own_metrics=own,
        mixed={agent: found for agent, found in mixed.items() if agent in agents},
    )


def _releases(
    con: DuckDBPyConnection, chosen: "ReportChoices", selection: Selection
) -> list[Release]:
    facts = {
        name: _by_release(read_rows(con, name)) for name in ("attempt_successes", "killed_runs")
    }
    RELATIONS.make(con, "run_members")
    with counted_alone(con, chosen.options.level, selection):
        RELATIONS.make(con, "run_turns")
        make_counted_usage(con)
        runs = _by_release(read_rows(con, "release_runs"))
        facts |= {name: _by_release(read_rows(con, name)) for name in _PLAIN_FACTS}
        facts[_SPREADS] = _by_release(read_rows(con, _SPREADS)) if chosen.options.spreads else {}
        facts |= {
            name: _by_release(read_rows(con, name, rows=EVIDENCE_ROWS)) for name in _EVIDENCE
        }
        judged = read_rows(con, "judged_scores", calibrated=[*chosen.measured.calibrations])
    facts["judged_scores"] = _by_release(judged)
    return [_release(key, row, facts, chosen) for key, (row,) in runs.items()]


def _nothing(found: Sequence[Release], selection: Selection) -> str:
    """Return the existing agents or releases, instead of the requested ones."""
    wanted_runs = [f"agent '{selection.agent_name}'"] if selection.agent_name is not None else []
    wanted_runs += [f"release '{name}'" for name in selection.releases]
    known = dict.fromkeys(
        f"{words.name(release.key.agent_name, '(no agent name)')} "
        f"{words.name(release.key.release, '(no release)')}"
        for release in found
    )
    return f"no run of {' and '.join(wanted_runs)}; there are runs of {', '.join(known)}"


_SPREADS = "score_spreads"
_PLAIN_FACTS = (
    "release_metrics",
    "unscored_reasons",
    "sub_goal_outcomes",
    "task_tool_selection",
    "task_replanning",
    "task_steps",
    "turn_scores",
    "replans_by_failures",
    "task_axes",
    "failing_runs",
    "failed_run_reasons",
    "score_remarks",
    "band_sums",
)


_EVIDENCE = ("wrong_decisions", "rollback_kills", "conversation_scores")


def _by_release(rows: Iterable[ResultRow]) -> dict[CohortKey, list[ResultRow]]:
    """Return the rows of each cohort, without the columns that name it."""
    found: dict[CohortKey, list[ResultRow]] = defaultdict(list)
    for row in rows:
        found[CohortKey(*(row.pop(name) for name in CohortKey._fields))].append(row)
    return found


class ReportChoices(NamedTuple):
    """A reader's choices."""

    counting: AttemptPolicy
    options: ReportOptions
    declared: Sequence[DeclaredTask]
    measured: MeasuredJudges


def _release(
    key: CohortKey, runs: ResultRow, facts: Mapping[str, Rows], chosen: ReportChoices
) -> Release:
    counting, options, declared, _ = chosen

    def of(name: str) -> list[ResultRow]:
        return facts[name].get(key, [])

    wrong, kills = of("wrong_decisions"), of("rollback_kills")
    apart = Counter(row["is_extra_run"] for row in of("killed_runs") if row["is_root"])
    attempted = _attempted(key, facts["attempt_successes"], declared)
    return Release(
        key,
        Runs(**runs, killed=apart[False], beside=apart[True]),
        metrics=marked(
            _scores(of("release_metrics"), of("unscored_reasons")), of("judged_scores")
        ),
        reliability=_reliability(of("attempt_successes"), attempted, counting, options.level),
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
        reasons=tuple(ReasonOutcome(**row) for row in of("failed_run_reasons")),
        kills=tuple(_kill(row) for row in kills),
        kill_rows=kills[0]["total"] if kills else 0,
        spreads={row["metric"]: tuple(row["quantiles"]) for row in of(_SPREADS)},
        remarks=next(map(ScoreCaveats.of, of("score_remarks")), NO_CAVEATS),
        categories=category_successes(of("attempt_successes"), options.level),
        tasks=task_outcomes(of("attempt_successes"), of("task_steps")),
        conversations=conversations(of("turn_scores"), of("conversation_scores")),
        bands=band_means(of("band_sums"), options.level),
        options=options,
    )


def _scores(metrics: list[ResultRow], reasons: list[ResultRow]) -> dict[str, Score]:
    unscored: dict[str, list[Unscored]] = defaultdict(list)
    for row in reasons:
        unscored[row["metric"]].append(Unscored(row["status"], row["reason"], row["trajectories"]))
    return {row["metric"]: _score(row, unscored[row["metric"]]) for row in metrics}


def _score(row: ResultRow, unscored: list[Unscored]) -> Score:
    no_spread = row["low"] is not None and row["low"] == row["high"]
    flags = (*row["flags"], *("no_spread",) * no_spread)
    return Score(**{**row, "flags": flags}, unscored=tuple(unscored))


def _wrong_decision(row: ResultRow) -> WrongDecision:
    facts = {name: value for name, value in row.items() if name != "total"}
    return WrongDecision(**{**facts, "failed_criteria": tuple(facts["failed_criteria"])})


def _kill(row: ResultRow) -> RollbackKill:
    facts = {name: value for name, value in row.items() if name != "total"}
    lists = {name: tuple(facts[name]) for name in ("objects", "unnamed")}
    return RollbackKill(**{**facts, **lists})


def _attempted(
    key: CohortKey, attempts: Rows, declared: Sequence[DeclaredTask]
) -> list[ResultRow]:
    """Return the tasks that an agent should try in a run mode, each with some attempts or none.

    These are the tasks of all its releases, and the tasks of task files that are for it. Such a
    task names the agent, or it names no agent and not only other agents tried it.
    """
    own = [row for other, rows in attempts.items() if other[:2] == key[:2] for row in rows]
    attempted = {row["task_id"] for row in own}
    by_others = {
        row["task_id"]
        for other, rows in attempts.items()
        if other.agent_name != key.agent_name
        for row in rows
    }
    for task in declared:
        is_own = key.agent_name == task.agent_name
        if task.agent_name is None:
            is_own = task.task_id not in by_others
        if is_own and task.task_id not in attempted:
            own.append({**task._asdict(), **_NO_ATTEMPTS})
    return own


def _reliability(
    rows: list[ResultRow], attempted: Sequence[ResultRow], counting: AttemptPolicy, level: float
) -> Reliability | None:
    """Return the reliability of one cohort.

    Args:
        rows: Its attempts, task by task.
        attempted: Those of all releases of the agent in the same run mode, and of tasks declared.
        counting: Which attempts count.
        level: Of intervals.
    """
    if counting.missing == "as-failure" and counting.trials:
        own = {row["task_id"] for row in rows}
        lacking = {row["task_id"]: row for row in attempted if row["task_id"] not in own}
        rows = [*rows, *(row | _NO_ATTEMPTS for row in lacking.values())]
    if not rows:
        return None
    rows = sorted(rows, key=lambda row: str(row["task_id"]))
    tasks = [_attempts(row) for row in rows]
    counting = counting._replace(min_trials=_least(tasks, counting))
    counted = _counted(tasks, counting)
    counted_rows = [row for row in rows if _counts(row, counting)]
    valid_tasks = {row["task_id"]: _attempts(row) for row in counted_rows}
    elsewhere = {row["task_id"] for row in attempted if _counts(row, counting)}
    attempts, valid, invalid = (
        sum(task.valid for task in counted.tasks),
        sum(task.valid for task in valid_tasks.values()),
        sum(task.invalid for task in valid_tasks.values()),
    )
    as_failure = counting.missing == "as-failure"
    others = (name for name in ESTIMATORS if name != UNBIASED)
    return Reliability(
        tuple(passes(counted.tasks, level=level)),
        attempts=attempts,
        valid=valid,
        invalid=invalid,
        missing=attempts - valid - invalid if as_failure else 0,
        uncounted=len(elsewhere - valid_tasks.keys()),
        least=counting.min_trials or 1,
        fewest=min((task.valid for task in counted.tasks), default=0),
        superseded=sum(row["superseded"] for row in rows),
        tier=classify(counted.tasks, level),
        categories=tuple(_categories(rows, counting, level)),
        dropped=counted.dropped,
        retried=sum(row["retried"] for row in counted_rows),
        repeated=sum(row["repeated"] for row in counted_rows),
        other_estimators=tuple(
            row for name in others for row in passes(counted.tasks, name, level=level)
        ),
    )


_NO_ATTEMPTS: Final = dict.fromkeys(
    ("valid_attempts", "correct", "invalid", "superseded", "retried", "repeated"), 0
)


def _attempts(row: ResultRow) -> Attempts:
    return Attempts(row["valid_attempts"], row["correct"], row["invalid"])


def _least(tasks: Sequence[Attempts], counting: AttemptPolicy) -> int:
    """Return the fewest attempts that a task needs to be counted."""
    if counting.min_trials is not None:
        return counting.min_trials
    return fewest_trials(_counted(tasks, counting._replace(min_trials=1)).tasks)


def _counts(row: ResultRow, counting: AttemptPolicy) -> bool:
    """Return whether a task has enough attempts."""
    return bool(_counted([_attempts(row)], counting).tasks)


def _counted(tasks: Iterable[Attempts], counting: AttemptPolicy) -> AttemptCounts:
    return count_attempts(tasks, **counting._asdict())


def _categories(
    rows: Iterable[ResultRow], counting: AttemptPolicy, level: float
) -> Iterator[tuple[str | None, Tier]]:
    """Yield the tier of each task category by name; nothing if there is one alone."""
    by_category: dict[str | None, list[Attempts]] = defaultdict(list)
    for row in rows:
        by_category[row["task_category"]].append(_attempts(row))
    if len(by_category) > 1:
        for name in sorted(by_category, key=lambda name: (name is None, name or "")):
            yield name, classify(_counted(by_category[name], counting).tasks, level)
