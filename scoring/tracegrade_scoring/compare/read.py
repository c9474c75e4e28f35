"""Reads what two releases did on the tasks that both ran, and compares it metric by metric.

Everything is added up in SQL, so what arrives here grows with tasks and metrics, not with runs.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final, TypeAlias

from duckdb import DuckDBPyConnection

from tracegrade_queries.engine.pinned import PinnedLake
from tracegrade_queries.engine.relations import make_table, only
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.compare.attempts import (
    KNOWN_ALONE,
    AttemptCounting,
    counted_attempts,
    tasks_to_try,
)
from tracegrade_scoring.compare.beyond_chance import decided
from tracegrade_scoring.compare.composite import (
    AXES,
    AxesOfSide,
    Composite,
    TScoreWay,
    paired_composite,
    unpaired_composite,
)
from tracegrade_scoring.compare.flags import paired_flags, unpaired_flags
from tracegrade_scoring.compare.judge_corrections import (
    NO_CALIBRATIONS,
    JudgedAttempts,
    MeasuredJudges,
    with_judges,
)
from tracegrade_scoring.compare.mocked import read_mocked_calls
from tracegrade_scoring.compare.model import (
    CategoryChange,
    Cohort,
    Compared,
    Comparison,
    Comparisons,
    FailureMode,
    MockedTool,
    ReasonChange,
    SkippedSubGoal,
    TaskChange,
)
from tracegrade_scoring.compare.paired import TaskPair, difference
from tracegrade_scoring.compare.sides import (
    LEAST_DIFFERENCE,
    differing_dimensions,
    nothing_to_compare,
)
from tracegrade_scoring.compare.unpaired import Side, unpaired_difference
from tracegrade_scoring.errors import NothingToCompare
from tracegrade_scoring.files_of_runs import files_of_runs
from tracegrade_scoring.metrics import FAILURE_MODES, METRICS, Kind
from tracegrade_scoring.rendering.measured_modes import adds_nothing
from tracegrade_scoring.rendering.mixed_definitions import mixed_definitions
from tracegrade_scoring.rendering.own_metrics import OWN_METRICS, own_metrics
from tracegrade_scoring.rendering.planning_share import NOTHING_KNOWN, PlanningShare
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.rendering.served_share import NO_AMBIGUOUS_CALLS, ServedShare
from tracegrade_scoring.resumed import counted_once
from tracegrade_scoring.sql import RELATIONS, query
from tracegrade_scoring.statistics.intervals import LEVEL
from tracegrade_scoring.statistics.reliability import TRIES, Attempts, passes
from tracegrade_scoring.statistics.t_score import DEFAULT, PRESETS, Weights

Agent: TypeAlias = tuple[str | None, str | None]
"""Agent and run mode."""


def read_comparisons(  # noqa: PLR0913, PLR0917 - what a reader may choose
    con: DuckDBPyConnection,
    lake: str,
    base: str,
    candidate: str,
    agent: str | None = None,
    level: float = LEVEL,
    counting: AttemptCounting = KNOWN_ALONE,
    weights: Weights = PRESETS[DEFAULT],
    measured: MeasuredJudges = NO_CALIBRATIONS,
    compared: Collection[str] = (),
    pinned: PinnedLake | None = None,
) -> Comparisons:
    """Return both releases of every agent and run mode that has both.

    Args:
        con: Holds the tables of a scored lake.
        lake: The lake's name for the reader.
        base: The release before.
        candidate: The release after.
        agent: The only agent to compare; None for all.
        level: Level of every interval, between 0 and 1.
        counting: Which attempts count for success, pass@k and pass^k.
        weights: Weights of the T-Score's axes.
        measured: Measurements of judges.
        compared: Dimensions that define the sides, where these are no releases.
        pinned: What the connection reads, to leave out other dates; None if it is narrowed.

    Raises:
        NothingToCompare: No agent, or not this one, has scored runs of both in one run mode.
    """
    cohorts = _cohorts_of_both(con, base, candidate, agent)
    own = own_metrics(read_rows(con, OWN_METRICS))
    means = [name for name, each in {**own, **METRICS}.items() if each.kind is Kind.TASK_MEAN]
    is_paired = all(cohort.is_paired for cohort in cohorts)
    mocked = read_mocked_calls(con, base, candidate)
    with files_of_runs(con, pinned, _COUNTED):
        facts = _facts(con, base, candidate, means, compared, is_paired=is_paired)
    found = []
    for cohort in cohorts:
        plain = _comparison(
            cohort, facts, (base, candidate), counting, mocked, TScoreWay(level, weights)
        )
        judged = _judged_attempts(cohort, facts, counting)
        with_own = replace(plain, own_metrics=own)
        found.append(decided(with_judges(with_own, (base, candidate), judged, measured, level)))
    return Comparisons(lake, base, candidate, level, tuple(found))


def _cohorts_of_both(
    con: DuckDBPyConnection, base: str, candidate: str, agent: str | None
) -> list[Cohort]:
    """Create what the queries of a comparison read, and return the cohorts with both releases.

    Raises:
        NothingToCompare: There is none.
    """
    RELATIONS.make(con, "attempt_successes")
    with counted_once(con):
        sides = {"base": base, "candidate": candidate}
        make_table(con, "compared_runs", query("compared_runs"), sides)
        RELATIONS.make(con, "run_members")
        RELATIONS.make(con, "run_usage")
    cohorts = [Cohort(**row) for row in read_rows(con, "compared_cohorts")]
    both = [cohort for cohort in cohorts if cohort.base_runs and cohort.candidate_runs]
    both = [cohort for cohort in both if agent in {None, cohort.agent_name}]
    if not both or base == candidate:
        raise NothingToCompare(nothing_to_compare(con, base, candidate, agent))
    return both


Facts: TypeAlias = Mapping[str, Mapping[Agent, list[ResultRow]]]
"""Rows of each kind of fact, by agent and run mode."""


def _facts(
    con: DuckDBPyConnection,
    base: str,
    candidate: str,
    means: Sequence[str],
    compared: Collection[str],
    *,
    is_paired: bool,
) -> Facts:
    """Return what the runs of both releases did; sums of either side where some are not paired."""
    parameters: dict[str, dict[str, object]] = {
        "usage_pairs": {},
        "attempt_pairs": {"base": base, "candidate": candidate},
        "mode_examples": {},
        "judged_attempts": {},
        "failed_runs": {},
        "reason_changes": {},
        "skipped_sub_goals": {},
        "compared_dimensions": {"compared": [*compared], "least": LEAST_DIFFERENCE},
    }
    of_scores: dict[str, dict[str, object]] = {
        "score_pairs": {"base": base, "means": means},
        "score_remarks": {},
        "mixed_definitions": {"releases": None},
        "judged_scores": {"calibrated": []},
    }
    if not is_paired:
        of_scores |= {"unpaired_sums": {"means": means}, "unpaired_axes": {}}
    with only(con, ["trajectory_scores"], _COMPARED):  # an observed optimum is of these alone
        found = {name: _by_agent(read_rows(con, name, **of_scores[name])) for name in of_scores}
    return found | {
        name: _by_agent(read_rows(con, name, **parameters[name])) for name in parameters
    }


_COUNTED: Final = "compared_runs WHERE counted"
_COMPARED: Final = f"trajectory_id IN (SELECT trajectory_id FROM {_COUNTED})"


def _by_agent(rows: Iterable[ResultRow]) -> Mapping[Agent, list[ResultRow]]:
    found: dict[Agent, list[ResultRow]] = defaultdict(list)
    for row in rows:
        found[row["agent_name"], row["run_mode"]].append(row)
    return found


def _comparison(
    cohort: Cohort,
    facts: Facts,
    releases: tuple[str, str],
    counting: AttemptCounting,
    mocked: Sequence[ResultRow],
    way: TScoreWay,
) -> Comparison:
    agent, level = (cohort.agent_name, cohort.run_mode), way.level
    scores, usage = (facts[name].get(agent, []) for name in ("score_pairs", "usage_pairs"))
    attempts, failures = counted_attempts(
        tasks_to_try(agent, facts["attempt_pairs"], counting), counting
    )
    if cohort.is_paired:
        composite = _paired_composite(scores, way)
        metrics = {
            **{name: _compared(name, list(rows), level) for name, rows in _by_metric(scores)},
            **_reliability(attempts, level),
            **{name: _compared(name, list(rows), level) for name, rows in _by_metric(usage)},
        }
    else:
        composite = _unpaired_composite(facts["unpaired_axes"].get(agent, []), way)
        metrics = _unpaired(facts["unpaired_sums"].get(agent, []), level)
    if composite.compared:
        metrics["t_score"] = composite.compared
    found = {name: each for name, each in metrics.items() if each.found.base is not None}
    return Comparison(
        cohort,
        found,
        tuple(name for name, rows in _by_metric(scores) if _is_unmatched(list(rows))),
        composite.missing,
        composite.pq_defaulted,
        tuple(_failure_modes(found, facts["mode_examples"].get(agent, []))),
        tuple(_categories(attempts, level)),
        tuple(_task_changes(attempts, scores, usage, facts["failed_runs"].get(agent, []))),
        tuple(_mocked_tools(mocked, cohort.agent_name)),
        *_remarks(facts["score_remarks"].get(agent, []), *releases),
        failures,
        _skipped_sub_goals(facts["skipped_sub_goals"].get(agent, [])),
        _reasons(facts["reason_changes"].get(agent, [])),
        planning=_planning(facts["score_remarks"].get(agent, []), *releases),
        calls=_calls(facts["score_remarks"].get(agent, []), *releases),
        differing=differing_dimensions(facts["compared_dimensions"].get(agent, [])),
        mixed=mixed_definitions(facts["mixed_definitions"].get(agent, [])),
    )


def _judged_attempts(cohort: Cohort, facts: Facts, counting: AttemptCounting) -> JudgedAttempts:
    agent = (cohort.agent_name, cohort.run_mode)
    sources, decided, attempts = (
        facts[name].get(agent, [])
        for name in ("judged_scores", "judged_attempts", "attempt_pairs")
    )
    return JudgedAttempts(sources, decided, counted_attempts(attempts, counting).rows)


def _remarks(
    rows: Sequence[ResultRow], base: str, candidate: str
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return how many runs of either side show no plan, and on how many verdicts disagree."""
    of = {row["release"]: (row["unplanned"], row["disputed"]) for row in rows}
    before, after = of.get(base, (0, 0)), of.get(candidate, (0, 0))
    return (before[0], after[0]), (before[1], after[1])


def _planning(
    rows: Sequence[ResultRow], base: str, candidate: str
) -> tuple[PlanningShare, PlanningShare]:
    """Return the remarks about the planning quality of either side."""
    of = {row["release"]: PlanningShare.of(row) for row in rows}
    return of.get(base, NOTHING_KNOWN), of.get(candidate, NOTHING_KNOWN)


def _calls(
    rows: Sequence[ResultRow], base: str, candidate: str
) -> tuple[ServedShare, ServedShare]:
    """Return the remarks about the ambiguous calls of either side."""
    of = {row["release"]: ServedShare.of(row) for row in rows}
    return of.get(base, NO_AMBIGUOUS_CALLS), of.get(candidate, NO_AMBIGUOUS_CALLS)


def _is_unmatched(rows: Sequence[ResultRow]) -> bool:
    """Return whether both sides have a metric, but no task has it on both."""
    both = all(any(row[f"{side}_scored"] for row in rows) for side in ("base", "candidate"))
    return both and not any(map(_pair, rows))


def _by_metric(rows: Iterable[ResultRow]) -> Iterator[tuple[str, Iterator[ResultRow]]]:
    return groupby(rows, key=lambda row: row["metric"])


def _unpaired(rows: Sequence[ResultRow], level: float) -> dict[str, Compared]:
    """Return each metric over the runs of no known task on either side."""
    found = {}
    for metric, sides in _by_metric(rows):
        of = {row["side"]: row for row in sides if row["attempts"]}
        if len(of) == 2:
            found[metric] = _unpaired_metric(metric, of["base"], of["candidate"], level)
    return found


def _unpaired_metric(metric: str, base: ResultRow, candidate: ResultRow, level: float) -> Compared:
    old, new = (Side(*(row[name] for name in Side._fields)) for row in (base, candidate))
    points, attempts = min(old.denominator, new.denominator), min(old.attempts, new.attempts)
    return Compared(
        metric,
        unpaired_difference(old, new, level),
        base["scored"],
        base["runs"],
        candidate["scored"],
        candidate["runs"],
        flags=unpaired_flags(metric, points, attempts),
    )


def _compared(metric: str, rows: Sequence[ResultRow], level: float) -> Compared:
    """Return one metric over the tasks with a value on both sides; the rows are its tasks."""
    found_pairs = [(row, pair) for row in rows if (pair := _pair(row))]
    pairs = [pair for _, pair in found_pairs]
    counts: dict[str, Any] = {
        f"{side}_{count}": int(sum(row.get(f"{side}_{column}") or 0 for row, _ in found_pairs))
        for side in ("base", "candidate")
        for count, column in (("scored", _scored_column(rows)), ("runs", "runs"))
    }
    found = difference(pairs, level=level)
    return Compared(metric, found, **counts, flags=paired_flags(metric, pairs))


def _scored_column(rows: Sequence[ResultRow]) -> str:
    """Return what says how many runs have a value: of what runs use, that is the denominator."""
    return "scored" if "base_scored" in rows[0] else "denominator"


def _pair(row: ResultRow) -> TaskPair | None:
    values = [
        row[f"{side}_{part}"]
        for side in ("base", "candidate")
        for part in ("numerator", "denominator")
    ]
    if None in values or not values[1] or not values[3]:
        return None
    return TaskPair((values[0], values[1]), (values[2], values[3]))


def _paired_composite(scores: Sequence[ResultRow], way: TScoreWay) -> Composite:
    pairs: dict[str, dict[str, TaskPair]] = {metric: {} for metric in AXES.values()}
    for row in scores:
        if row["metric"] in pairs and (pair := _pair(row)):
            pairs[row["metric"]][row["task_id"]] = pair
    is_tried = any(
        row[column]
        for row in scores
        if row["metric"] == AXES["pq"]
        for column in ("base_scored", "base_errors", "candidate_scored", "candidate_errors")
    )
    return paired_composite(pairs, pq_defaulted=not is_tried, way=way)


def _unpaired_composite(rows: Sequence[ResultRow], way: TScoreWay) -> Composite:
    of = {row["side"]: AxesOfSide(*(row[name] for name in AxesOfSide._fields)) for row in rows}
    if len(of) < 2:
        return Composite(None, tuple(AXES))
    return unpaired_composite(of["base"], of["candidate"], way)


def _reliability(attempts: Sequence[ResultRow], level: float) -> dict[str, Compared]:
    """Return success over attempts, then pass@k and pass^k for every k that each task allows.

    These are of the tasks with at least three attempts on both sides, as tiers are; of all tasks
    where none has as many.
    """
    known = [row for row in attempts if row["base_valid"] and row["candidate_valid"]]
    often = [row for row in known if min(row["base_valid"], row["candidate_valid"]) >= TRIES]
    repeated = often or known
    success = _over_attempts("success", known, [_success(row) for row in known], level)
    of_passes = {
        name: _over_attempts(name, repeated, pairs, level)
        for name, pairs in _passes(repeated).items()
    }
    return {"success": success, **of_passes}


def _over_attempts(
    metric: str, rows: Sequence[ResultRow], pairs: Sequence[TaskPair], level: float
) -> Compared:
    """Return a metric of the attempts at these tasks."""
    counts: dict[str, Any] = {
        f"{side}_{count}": sum(sum(row[f"{side}_{name}"] for name in names) for row in rows)
        for side in ("base", "candidate")
        for count, names in (("scored", ("valid",)), ("runs", ("valid", "invalid")))
    }
    found = difference(pairs, level=level)
    return Compared(metric, found, **counts, flags=paired_flags(metric, pairs))


def _success(row: ResultRow) -> TaskPair:
    return TaskPair(
        (float(row["base_correct"]), float(row["base_valid"])),
        (float(row["candidate_correct"]), float(row["candidate_valid"])),
    )


def _passes(known: Sequence[ResultRow]) -> dict[str, list[TaskPair]]:
    """Return each task's unbiased pass@k and pass^k on both sides, the terms of their means."""
    smallest = min((min(row["base_valid"], row["candidate_valid"]) for row in known), default=0)
    rates: dict[str, list[TaskPair]] = defaultdict(list)
    for row in known:
        base, candidate = (
            passes([Attempts(row[f"{side}_valid"], row[f"{side}_correct"])])[:smallest]
            for side in ("base", "candidate")
        )
        for old, new in zip(base, candidate, strict=True):
            rates[f"pass@{old.k}"].append(TaskPair((old.pass_at_k, 1.0), (new.pass_at_k, 1.0)))
            rates[f"pass^{old.k}"].append(TaskPair((old.pass_hat_k, 1.0), (new.pass_hat_k, 1.0)))
    return rates


def _failure_modes(
    metrics: Mapping[str, Compared], examples: Sequence[ResultRow]
) -> Iterator[FailureMode]:
    """Yield the modes that could be measured on both sides."""
    shown = {row["mode"]: row for row in examples}
    for compared in (
        metrics[mode] for mode in sorted(FAILURE_MODES, key=adds_nothing) if mode in metrics
    ):
        base, candidate = compared.found.base or 0.0, compared.found.candidate or 0.0
        example = shown.get(compared.metric, {})
        yield FailureMode(
            compared.metric,
            compared,
            is_new=base == 0 < candidate,
            rose=candidate > base,
            trajectory_id=example.get("trajectory_id"),
            span_id=example.get("span_id"),
            trajectory_ids=tuple(example.get("trajectory_ids", ())),
        )


def _skipped_sub_goals(rows: Iterable[ResultRow]) -> tuple[SkippedSubGoal, ...]:
    """Return the critical sub-goals that are skipped more often, those that rose most first."""
    found = (
        SkippedSubGoal(**{name: row[name] for name in SkippedSubGoal._fields if name in row})
        for row in rows
    )
    return tuple(sorted(found, key=lambda goal: -goal.rise))


def _reasons(rows: Iterable[ResultRow]) -> tuple[ReasonChange, ...]:
    return tuple(ReasonChange(*(row[name] for name in ReasonChange._fields)) for row in rows)


def _categories(attempts: Sequence[ResultRow], level: float) -> Iterator[CategoryChange]:
    by_category: dict[str | None, list[TaskPair]] = defaultdict(list)
    for row in attempts:
        if row["base_valid"] and row["candidate_valid"]:
            by_category[row["task_category"]].append(_success(row))
    for category in sorted(by_category, key=lambda name: (name is None, name or "")):
        found = difference(by_category[category], level=level)
        yield CategoryChange(category, Compared("success", found, 0, 0, 0, 0))


def _task_changes(
    attempts: Sequence[ResultRow],
    scores: Sequence[ResultRow],
    usage: Sequence[ResultRow],
    failed: Sequence[ResultRow],
) -> Iterator[TaskChange]:
    completion = {r["task_id"]: r for r in scores if r["metric"] == "sub_goal_completion"}
    steps = {row["task_id"]: row for row in usage if row["metric"] == "steps_per_run"}
    failed_runs = {row["task_id"]: tuple(row["trajectory_ids"]) for row in failed}
    for row in attempts:
        task = row["task_id"]
        yield TaskChange(
            task,
            _share(row, "base_correct", "base_valid"),
            _share(row, "candidate_correct", "candidate_valid"),
            row["base_valid"],
            row["candidate_valid"],
            _rate(completion.get(task), "base"),
            _rate(completion.get(task), "candidate"),
            _rate(steps.get(task), "base"),
            _rate(steps.get(task), "candidate"),
            failed_runs.get(task, ()),
        )


def _share(row: ResultRow, part: str, whole: str) -> float | None:
    return row[part] / row[whole] if row[whole] and row[part] is not None else None


def _rate(row: ResultRow | None, side: str) -> float | None:
    return None if row is None else _share(row, f"{side}_numerator", f"{side}_denominator")


def _mocked_tools(rows: Iterable[ResultRow], agent_name: str | None) -> Iterator[MockedTool]:
    for row in rows:
        if row["agent_name"] == agent_name:
            yield MockedTool(**{name: row[name] for name in MockedTool._fields})
