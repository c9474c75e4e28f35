"""Applies each part of a release rule to two releases.

Only a change that chance does not explain breaks a check, by the same tests as every other
statement of a comparison (`compare/beyond_chance.py`). A check is unknown if the runs cannot
decide it.
"""

from collections.abc import Iterator
from math import ceil
from typing import Final, NamedTuple

from tracegrade_scoring.compare.decision.release_rule import ShipRule
from tracegrade_scoring.compare.differences import share
from tracegrade_scoring.compare.model import Compared, Comparison
from tracegrade_scoring.compare.sign_flips import LEAST_TASKS
from tracegrade_scoring.metrics import Metric
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.catalog import main_metrics, more_metrics

HELD, BROKEN, UNKNOWN = "held", "broken", "unknown"
KILLS: Final = ("ra_after_recovery", "ra_immediate", "late_ra")
"""Metrics of runs that were killed on purpose."""
ELSEWHERE: Final = {"success", *KILLS}
"""Metrics that a check of their own is about."""
COST: Final = "cost_usd_per_run"


class Check(NamedTuple):
    """One part of the rule."""

    text: str
    """What must hold."""
    verdict: str
    """held | broken | unknown."""
    fact: str
    """What was found."""


def checks_of(comparison: Comparison, rule: ShipRule) -> Iterator[Check]:
    """Yield the result of each part of a rule for a cohort; the part on kills needs kills."""
    yield _enough_tasks(comparison, rule)
    yield _solved(comparison, rule)
    yield _tasks(comparison, rule)
    yield _metrics(comparison, rule)
    if any(name in comparison.metrics for name in KILLS):
        yield _kills(comparison, rule)
    if rule.cost_limit is not None:
        yield _cost(comparison, rule.cost_limit, rule.cost_per_solved or "")


def known_tasks(comparison: Comparison) -> int:
    """Return how many tasks both releases ran with known success."""
    return sum(task.success_change is not None for task in comparison.tasks)


def _enough_tasks(comparison: Comparison, rule: ShipRule) -> Check:
    known = known_tasks(comparison)
    text = f"at least {words.count(rule.min_tasks, 'task')} both ran"
    return Check(text, HELD if known >= rule.min_tasks else UNKNOWN, f"{known:,}")


def _solved(comparison: Comparison, rule: ShipRule) -> Check:
    """Hold where even the lower end of the interval is within the margin."""
    text = f"success at most {rule.solved_margin:g} points worse"
    success = comparison.metrics.get("success")
    if success is None or success.found.difference is None:
        return Check(text, UNKNOWN, "success is not known for both")
    found, margin = success.found, rule.solved_margin / 100
    fact = f"{share(found.base)} to {share(found.candidate)}"
    if (found.difference or 0.0) < -margin:
        return Check(text, BROKEN if success.direction < 0 else UNKNOWN, fact)
    if found.low is None:
        return Check(text, UNKNOWN, f"{fact}, too few tasks for an interval")
    if found.low < -margin:
        return Check(text, UNKNOWN, f"{fact}, may be {-found.low * 100:.0f} points worse")
    return Check(text, HELD, fact)


def _tasks(comparison: Comparison, rule: ShipRule) -> Check:
    text = _at_most(rule.tasks_worse, "task", "with less success, beyond chance")
    known = known_tasks(comparison)
    if not known:
        return Check(text, UNKNOWN, "success is known for both in no task")
    fell = sum(task.fell_surely for task in comparison.tasks)
    return Check(text, _verdict(fell, rule.tasks_worse), f"{fell:,} of {known:,}")


def _metrics(comparison: Comparison, rule: ShipRule) -> Check:
    text = _at_most(rule.metrics_worse, "metric", "worse, beyond chance")
    worse = [*worse_than_chance(comparison)]
    p_values = [
        *(comparison.metrics[metric.name].p_adjusted for metric in _metrics_asked(comparison)),
        *(goal.p_adjusted for goal in comparison.skipped_sub_goals),
    ]
    tested = sum(p_value is not None for p_value in p_values)
    if not comparison.metrics:
        return Check(text, UNKNOWN, "no metric is known for both")
    fact = f"{len(worse):,} of {tested:,} that were asked"
    return Check(text, _verdict(len(worse), rule.metrics_worse), fact)


def worse_than_chance(comparison: Comparison) -> Iterator[str]:
    """Yield the labels of metrics, failure modes and critical sub-goals that surely got worse.

    Success, kills and what runs use are not among them: other checks ask for these.
    """
    yield from _changed(comparison, -1)
    for goal in comparison.skipped_sub_goals:
        if goal.is_sure:
            yield f"sub-goal {words.name(goal.sub_goal)} skipped"


def better_than_chance(comparison: Comparison) -> Iterator[str]:
    """Yield the labels of metrics and failure modes that surely got better."""
    yield from _changed(comparison, 1)


def _changed(comparison: Comparison, way: int) -> Iterator[str]:
    for metric in _metrics_asked(comparison):
        if comparison.metrics[metric.name].direction * metric.better == way:
            yield metric.label


def _metrics_asked(comparison: Comparison) -> list[Metric]:
    """Return the metrics that can be better or worse and no other check is about."""
    names = [name for name in comparison.metrics if name not in ELSEWHERE]
    found = (*main_metrics(names), *more_metrics(names, comparison.own_metrics))
    return [metric for metric in found if metric.better]


def _kills(comparison: Comparison, rule: ShipRule) -> Check:
    """Leave open what fell in so few tasks that no test could tell it from chance."""
    text = _at_most(rule.kills_worse, "kill score", "worse, beyond chance")
    found = [comparison.metrics[name] for name in KILLS if name in comparison.metrics]
    worse = sum(compared.direction < 0 for compared in found)
    untold = sum(
        compared.p_adjusted is None and (compared.found.difference or 0.0) < 0
        for compared in found
    )
    main = comparison.metrics.get(KILLS[0], found[0]).found
    fact = f"{words.number(main.base)} to {words.number(main.candidate)}"
    if worse <= rule.kills_worse < worse + untold:
        return Check(text, UNKNOWN, f"{fact}, too few tasks to tell")
    return Check(text, _verdict(worse, rule.kills_worse), fact)


def _cost(comparison: Comparison, limit: float, allowed: str) -> Check:
    """Compare the cost of a solved attempt: that of a run by the share that is solved."""
    text = f"a solved run costs at most {allowed} more"
    cost, success = (comparison.metrics.get(name) for name in (COST, "success"))
    ratio = _cost_ratio(cost, success)
    if cost is None or ratio is None:
        return Check(text, UNKNOWN, "costs or success are not known for both")
    fact = f"{(ratio - 1) * 100:+.0f}%"
    if ratio <= limit:
        return Check(text, HELD, fact)
    return Check(text, BROKEN if cost.direction > 0 else UNKNOWN, fact)


def _cost_ratio(cost: Compared | None, success: Compared | None) -> float | None:
    if cost is None or success is None:
        return None
    base, candidate = (
        money / solved if money is not None and solved else None
        for money, solved in (
            (cost.found.base, success.found.base),
            (cost.found.candidate, success.found.candidate),
        )
    )
    return candidate / base if base and candidate is not None else None


def _at_most(limit: int, noun: str, what: str) -> str:
    return f"at most {words.count(limit, noun)} {what}" if limit else f"no {noun} {what}"


def _verdict(worse: int, limit: int) -> str:
    return BROKEN if worse > limit else HELD


def tasks_needed(comparison: Comparison) -> int | None:
    """Return the number of tasks that could tell a success that changed as now from chance.

    Sign flips need `LEAST_TASKS` tasks that changed one way. None if the change is already
    significant, no task changed, or tasks changed both ways.
    """
    success = comparison.metrics.get("success")
    if success is None or success.direction:
        return None
    rose, fell = success.found.rose, success.found.fell
    if bool(rose) == bool(fell):
        return None
    return ceil(LEAST_TASKS / ((rose + fell) / success.found.tasks))
