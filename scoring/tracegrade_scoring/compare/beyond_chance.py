"""One word for each change: the differences of a comparison that chance does not explain.

All statements of a comparison follow this: its first sentence, each row, the regressions,
`--fail-on` and every page. Success is tested alone, at 0.05. All other questions are one family,
at 0.05 together by Holm's method: metrics, failure modes, categories, success of single tasks, and
critical sub-goals that are skipped more often. Only questions that can have an answer are tested.
A metric that is the same on every task, or a question with too few tasks or runs to get below 0.05
[Tarone 1990], does not make other answers less sure. Intervals show how large a difference may be,
and do not decide.

Source: docs/metrics.md, section 10.3.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from math import comb
from typing import Final, TypeAlias

from tracegrade_scoring.compare.model import SIGNIFICANT, Compared, Comparison, TaskChange
from tracegrade_scoring.compare.paired import holm
from tracegrade_scoring.compare.sign_flips import LEAST_TASKS

ALONE: Final = "success"
"""The question that is tested alone."""
THE_SAME: Final = ("pass@1", "pass^1")
"""Success once more, as the mean over tasks: not asked again."""


def decided(comparison: Comparison) -> Comparison:
    """Return a comparison with the adjusted p-values of all tested questions."""
    family = dict(_family(comparison))
    adjusted = dict(zip(family, holm(list(family.values())), strict=True))
    metrics = {
        name: replace(compared, p_adjusted=_p_of(name, compared, adjusted))
        for name, compared in comparison.metrics.items()
    }
    return replace(
        comparison,
        metrics=metrics,
        failure_modes=tuple(
            mode._replace(compared=metrics[mode.mode]) for mode in comparison.failure_modes
        ),
        categories=tuple(
            each._replace(
                compared=replace(each.compared, p_adjusted=adjusted.get(("category", at)))
            )
            for at, each in enumerate(comparison.categories)
        ),
        tasks=tuple(
            task._replace(p_adjusted=adjusted.get(("task", at)))
            for at, task in enumerate(comparison.tasks)
        ),
        skipped_sub_goals=tuple(
            goal._replace(p_adjusted=adjusted.get(("sub-goal", at)))
            for at, goal in enumerate(comparison.skipped_sub_goals)
        ),
    )


QuestionKey: TypeAlias = tuple[str, str | int]
"""A tested question: its kind, and its name or place."""


def _p_of(name: str, compared: Compared, adjusted: dict[QuestionKey, float]) -> float | None:
    if name == ALONE or name in THE_SAME:
        return compared.found.p_value if _can_be_told(compared) else None
    return adjusted.get(("metric", name))


def _family(comparison: Comparison) -> Iterator[tuple[QuestionKey, float]]:
    """Yield the questions that are tested together, with their own p-values."""
    categories = comparison.categories if len(comparison.categories) > 1 else ()
    compared: list[tuple[QuestionKey, Compared]] = [
        *((("metric", name), found) for name, found in comparison.metrics.items()),
        *((("category", at), change.compared) for at, change in enumerate(categories)),
    ]
    for question, found in compared:
        if question[1] not in {ALONE, *THE_SAME} and _can_be_told(found):
            yield question, found.found.p_value or 0.0
    tables = [
        *((("task", at), _successes(task)) for at, task in enumerate(comparison.tasks)),
        *(
            (
                ("sub-goal", at),
                (g.base_skipped, g.base_runs, g.candidate_skipped, g.candidate_runs),
            )
            for at, g in enumerate(comparison.skipped_sub_goals)
        ),
    ]
    for question, counts in tables:
        if fisher_p(*counts, least=True) < SIGNIFICANT:
            yield question, fisher_p(*counts)


def _can_be_told(compared: Compared) -> bool:
    """Return whether anything differs, and chance could be ruled out."""
    found = compared.found
    if found.p_value is None or not (found.difference or found.rose or found.fell):
        return False
    return found.p_method != "sign_flips" or found.tasks >= LEAST_TASKS


def _successes(task: TaskChange) -> tuple[int, int, int, int]:
    """Return successes and attempts of base and candidate."""
    sides = (
        (task.base_success, task.base_attempts),
        (task.candidate_success, task.candidate_attempts),
    )
    base, candidate = ((round((share or 0.0) * count), count) for share, count in sides)
    return *base, *candidate


def fisher_p(some: int, of: int, others: int, of_others: int, *, least: bool = False) -> float:
    """Return the p-value of the exact test of two shares, two-sided [Fisher 1935].

    Args:
        some: Number among the first `of`.
        of: Size of the first.
        others: Number among the second `of_others`.
        of_others: Size of the second.
        least: Return the smallest possible p-value of these sizes instead.
    """
    ways = _ways(of, of_others, some + others)
    first = max(0, some + others - of)
    observed = min(ways) if least else ways[others - first]
    return sum(way for way in ways if way <= observed) / sum(ways)


@lru_cache(maxsize=64)
def _ways(of: int, of_others: int, both: int) -> tuple[int, ...]:
    """Return in how many ways each possible number of `both` is among the others, by number.

    Each number of ways makes the next one, exactly: binomials of thousands are slow to make.
    """
    first, last = max(0, both - of), min(both, of_others)
    ways = [comb(of_others, first) * comb(of, both - first)]
    for number in range(first, last):
        left = (both - number) * (of_others - number)
        ways.append(ways[-1] * left // ((number + 1) * (of - both + number + 1)))
    return tuple(ways)
