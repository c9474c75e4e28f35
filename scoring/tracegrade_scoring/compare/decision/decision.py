"""The decision on a release: its word, what the rule says, what changed and what is not known."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from tracegrade_scoring.compare.decision.checks import (
    BROKEN,
    COST,
    KILLS,
    UNKNOWN,
    Check,
    better_than_chance,
    checks_of,
    known_tasks,
    tasks_needed,
    worse_than_chance,
)
from tracegrade_scoring.compare.decision.release_rule import DEFAULT_RULE, ShipRule
from tracegrade_scoring.compare.differences import USAGE_METRICS
from tracegrade_scoring.compare.model import Compared, Comparison, ReasonChange, TaskChange
from tracegrade_scoring.compare.sign_flips import LEAST_TASKS
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.mixed_definitions import WAY_OUT, mixture

SHIP, HOLD, NOT_ENOUGH, NOT_COMPARABLE = "ship", "hold", "not enough runs", "not comparable"
NAMED: Final = 3
"""Names in one list; the others are counted."""
NAME_LENGTH: Final = 32
SENTENCE_LENGTH: Final = 60
TIMES: Final = "\u00d7"


class ReleaseDecision(NamedTuple):
    """The decision on one agent's release in one run mode; all texts are on one line."""

    word: str
    """ship | hold | not enough runs | not comparable."""
    checks: tuple[Check, ...]
    """What each part of the rule says."""
    better: tuple[str, ...]
    """What got better by more than chance explains: metrics, what runs use, then tasks."""
    worse: tuple[str, ...]
    """The same for the worse ones, with failure modes and critical sub-goals."""
    went_up: tuple[str, ...]
    """Tasks that succeeded more often, as chance may explain."""
    went_down: tuple[str, ...]
    still_wrong: tuple[str, ...]
    """Why runs of the candidate failed, the most frequent reason first."""
    not_known: tuple[str, ...]
    needed: tuple[str, ...]
    """What it takes to know more."""


def decide_release(comparison: Comparison, rule: ShipRule = DEFAULT_RULE) -> ReleaseDecision:
    """Return the decision on the candidate of one cohort.

    It is *not comparable* if runs were scored by several definitions: no part of the rule is
    judged then. Else it is *hold* if a part of the rule is broken, *not enough runs* if a part is
    unknown, else *ship*.
    """
    if comparison.mixed:
        return _not_comparable(comparison)
    checks = tuple(checks_of(comparison, rule))
    verdicts = {check.verdict for check in checks}
    word = HOLD if BROKEN in verdicts else NOT_ENOUGH if UNKNOWN in verdicts else SHIP
    tasks = sorted(comparison.tasks, key=lambda task: -abs(task.success_change or 0.0))
    return ReleaseDecision(
        word,
        checks,
        tuple(_sure_changes(comparison, tasks, 1)),
        tuple(_sure_changes(comparison, tasks, -1)),
        tuple(_tasks(tasks, 1, sure=False)),
        tuple(_tasks(tasks, -1, sure=False)),
        tuple(_still_wrong(comparison)),
        tuple(_not_known(comparison)),
        tuple(_needed(comparison, rule)),
    )


def _not_comparable(comparison: Comparison) -> ReleaseDecision:
    """Return why nothing is decided; no change is named, since it may be that of a definition."""
    check = Check("runs scored by the same definitions", UNKNOWN, mixture(comparison.mixed))
    wrong, needed = tuple(_still_wrong(comparison)), (WAY_OUT,)
    return ReleaseDecision(NOT_COMPARABLE, (check,), (), (), (), (), wrong, (), needed)


def _sure_changes(comparison: Comparison, tasks: Iterable[TaskChange], way: int) -> Iterator[str]:
    success = comparison.metrics.get("success")
    if success and success.direction == way:
        yield METRICS["success"].label
    yield from (better_than_chance if way > 0 else worse_than_chance)(comparison)
    for metric in (*(METRICS[name] for name in KILLS), *USAGE_METRICS):
        compared = comparison.metrics.get(metric.name)
        if compared and compared.direction * metric.better == way:
            yield metric.label
    yield from _tasks(tasks, way, sure=True)


def _tasks(tasks: Iterable[TaskChange], way: int, *, sure: bool) -> Iterator[str]:
    for task in tasks:
        if _way(task) == way and task.is_sure == sure:
            yield _task(task)


def _way(task: TaskChange) -> int:
    change = task.success_change or 0.0
    return (change > 0) - (change < 0)


def _task(task: TaskChange) -> str:
    sides = (
        f"{round((share or 0.0) * attempts):,}/{attempts:,}"
        for share, attempts in (
            (task.base_success, task.base_attempts),
            (task.candidate_success, task.candidate_attempts),
        )
    )
    return f"{_short(task.task_id)} {' → '.join(sides)}"


def _short(name: str) -> str:
    return words.clip(words.name(name), NAME_LENGTH)


def still_wrong(comparison: Comparison) -> list[ReasonChange]:
    """Return why runs of the candidate failed, the most frequent reason first."""
    found = [reason for reason in comparison.reasons if reason.candidate_runs]
    return sorted(found, key=lambda reason: (-reason.candidate_runs, reason.key))


def _still_wrong(comparison: Comparison) -> Iterator[str]:
    for reason in still_wrong(comparison):
        sentence = words.clip(words.line(reason.sentence), SENTENCE_LENGTH)
        yield f"{reason.candidate_runs:,} {TIMES} {sentence}"


def _not_known(comparison: Comparison) -> Iterator[str]:
    if unknown := len(comparison.tasks) - known_tasks(comparison):
        yield f"success of {words.count(unknown, 'task')}"
    if COST not in comparison.metrics:
        yield "cost"
    if not any(name in comparison.metrics for name in KILLS):
        yield "kills"
    if few := sum(map(_has_few_tasks, comparison.metrics.values())):
        yield f"{words.count(few, 'change')} of fewer than {LEAST_TASKS} tasks"
    if unmatched := len(comparison.unmatched):
        yield f"{words.count(unmatched, 'metric')} measured on no common task"


def _has_few_tasks(compared: Compared) -> bool:
    found = compared.found
    few = found.p_method == "sign_flips" and found.tasks < LEAST_TASKS
    return bool(found.difference) and few


def _needed(comparison: Comparison, rule: ShipRule) -> Iterator[str]:
    known = known_tasks(comparison)
    if (missing := rule.min_tasks - known) > 0:
        yield f"{words.count(missing, 'more task')} for the rule"
    if (needed := tasks_needed(comparison)) is not None and needed > known:
        yield f"{words.count(needed, 'task')} in all to tell a change in success from chance"


def named(names: Sequence[str], nothing: str = "nothing") -> str:
    """Return the first of some names, and how many others there are."""
    if not names:
        return nothing
    rest = len(names) - NAMED
    return ", ".join([*islice(names, NAMED), *([f"{rest:,} more"] if rest > 0 else [])])
