"""Reliability of an agent that tries a task k times: pass@k and pass^k.

Its own module because everything that reports or compares reliability uses the same numbers.
Source: [Agentic] (pass@K, pass^K) and docs/metrics.md, section 8.4; the unbiased estimators are
those of HumanEval ([Chen 2021], equation 1) and of tau-bench ([Yao 2024], section 3). Means over
tasks are taken in exact fractions and rounded once, so their order does not matter.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import comb
from typing import Final, Literal, NamedTuple, TypeAlias

from tracegrade_scoring.statistics import beta
from tracegrade_scoring.statistics.intervals import LEVEL, bootstrap, wilson

UNBIASED: Final = "unbiased"
LARGEST_K: Final = 10
"""Enough for any published table; binomials of thousands of attempts are slow to add exactly."""
TRIES: Final = 3
"""The k of pass^k that tiers go by [Agentic]."""
SMALL_SAMPLE: Final = 20
"""Fewer attempts than this are too few for a rate alone [Agentic]."""

MissingPolicy: TypeAlias = Literal["exclude", "as-failure"]
Ends: TypeAlias = tuple[float | None, float | None]


class Attempts(NamedTuple):
    """The attempts of one task in one cohort."""

    valid: int
    """Attempts of known success."""
    correct: int
    """Successful attempts among them."""
    invalid: int = 0
    """Attempts of unknown success: the verifier or the infrastructure failed."""


class AttemptCounts(NamedTuple):
    """The attempts that estimators see, and the tasks that they do not."""

    tasks: list[Attempts]
    dropped: int
    """Tasks with fewer attempts than requested."""


class Pass(NamedTuple):
    """The reliability of one cohort over k attempts."""

    k: int
    pass_at_k: float
    """Chance that at least one of k attempts succeeds, in [0, 1]."""
    pass_hat_k: float
    """Chance that all of k attempts succeed, in [0, 1]."""
    estimator: str
    tasks: int
    """Tasks with a valid attempt."""
    extrapolated: bool = False
    """k exceeds the smallest number of attempts, so the model alone speaks for it."""
    small_sample: bool = False
    """Fewer than 20 valid attempts in all."""
    at_low: float | None = None
    """Lower end of the interval of pass_at_k; None without one, as the other three."""
    at_high: float | None = None
    hat_low: float | None = None
    hat_high: float | None = None


def count_attempts(
    tasks: Iterable[Attempts],
    *,
    min_trials: int | None = 1,
    missing: MissingPolicy = "exclude",
    trials: int = 0,
) -> AttemptCounts:
    """Return the attempts that estimators are given.

    Args:
        tasks: One for each task of one cohort, in the order of task ids; it is kept.
        min_trials: Drops tasks with fewer attempts, for every k. None: 3, as tiers do, or 1 if no
            task has as many.
        missing: Whether invalid attempts are left out or are failures.
        trials: How many attempts of each task there should be; under `as-failure` those that are
            not there are failures too.
    """
    counted = [_filled(task, trials) for task in tasks] if missing == "as-failure" else list(tasks)
    least = fewest_trials(counted) if min_trials is None else min_trials
    enough = [task for task in counted if task.valid >= least]
    return AttemptCounts(enough, len(counted) - len(enough))


def fewest_trials(tasks: Iterable[Attempts]) -> int:
    """Return how many attempts a task needs for a tier; 1 if none has as many."""
    return TRIES if any(task.valid >= TRIES for task in tasks) else 1


def passes(
    tasks: Sequence[Attempts],
    estimator: str = UNBIASED,
    largest_k: int = LARGEST_K,
    *,
    level: float = LEVEL,
) -> list[Pass]:
    """Return pass@k and pass^k for each k from 1 for which the estimator has a value.

    `unbiased` ends at the smallest number of valid attempts of a task: a larger k is not
    applicable. The others continue to `largest_k` and are marked as extrapolated. A task without a
    valid attempt is left out.

    Intervals: Wilson where each task has one attempt, else a bootstrap over tasks (none for fewer
    than 5 tasks); for `bayes_pooled` the quantiles of its posterior. An interval of a rate p
    becomes one of p^k by its ends.

    Args:
        tasks: One for each task of one cohort, in the order of task ids (for the bootstrap).
        estimator: unbiased | plug_in | pooled | bayes_pooled.
        largest_k: The largest k.
        level: Level of the intervals, between 0 and 1.

    Returns:
        Nothing if no task was tried.
    """
    attempted = [task for task in tasks if task.valid]
    if not attempted:
        return []
    by_k = ESTIMATORS[estimator](attempted, level)
    smallest = min(task.valid for task in attempted)
    last = min(smallest, largest_k) if estimator == UNBIASED else largest_k
    small = sum(task.valid for task in attempted) < SMALL_SAMPLE
    return [
        Pass(
            *(k, at.value, hat.value, estimator, len(attempted), k > smallest, small),
            *(at.low, at.high, hat.low, hat.high),
        )
        for k in range(1, last + 1)
        for at, hat in [by_k(k)]
    ]


class Estimate(NamedTuple):
    """A chance, and where it may lie."""

    value: float
    low: float | None = None
    high: float | None = None


ByK: TypeAlias = Callable[[int], tuple[Estimate, Estimate]]
"""For each k the estimates of pass@k and pass^k."""


def _filled(task: Attempts, trials: int) -> Attempts:
    return Attempts(max(task.valid + task.invalid, trials), task.correct)


def _unbiased(tasks: Sequence[Attempts], level: float) -> ByK:
    def none_of_k(k: int, n: int, c: int) -> Fraction:
        return Fraction(comb(n - c, k), comb(n, k))

    def all_of_k(k: int, n: int, c: int) -> Fraction:
        return Fraction(comb(c, k), comb(n, k))

    return partial(_mean_over_tasks, tasks, level, none_of_k, all_of_k)


def _plug_in(tasks: Sequence[Attempts], level: float) -> ByK:
    def none_of_k(k: int, n: int, c: int) -> Fraction:
        return Fraction(n - c, n) ** k

    def all_of_k(k: int, n: int, c: int) -> Fraction:
        return Fraction(c, n) ** k

    return partial(_mean_over_tasks, tasks, level, none_of_k, all_of_k)


OfTask: TypeAlias = Callable[[int, int, int], Fraction]


def _mean_over_tasks(
    tasks: Sequence[Attempts], level: float, none_of_k: OfTask, all_of_k: OfTask, k: int
) -> tuple[Estimate, Estimate]:
    distinct = Counter((task.valid, task.correct) for task in tasks)
    at = {task: 1 - none_of_k(k, *task) for task in distinct}
    hat = {task: all_of_k(k, *task) for task in distinct}
    return _mean(tasks, at, level), _mean(tasks, hat, level)


def _mean(
    tasks: Sequence[Attempts], chances: Mapping[tuple[int, int], Fraction], level: float
) -> Estimate:
    values = [chances[task.valid, task.correct] for task in tasks]
    counts = Counter(values)
    mean = sum((chance * count for chance, count in counts.items()), Fraction()) / len(tasks)
    if all(task.valid == 1 for task in tasks) and set(counts) <= {0, 1}:
        correct = sum(task.correct for task in tasks)
        return Estimate(float(mean), *wilson(correct, len(tasks), level)[:2])
    found = bootstrap([float(value) for value in values], [1.0] * len(tasks), level)
    return Estimate(float(mean), *(found[:2] if found else ()))


def _pooled(tasks: Sequence[Attempts], level: float) -> ByK:
    n, c = sum(task.valid for task in tasks), sum(task.correct for task in tasks)
    independent = all(task.valid == 1 for task in tasks)
    corrects, valids = [task.correct for task in tasks], [task.valid for task in tasks]
    found = wilson(c, n, level) if independent else bootstrap(corrects, valids, level)
    low, high = found[:2] if found else (None, None)

    def by_k(k: int) -> tuple[Estimate, Estimate]:
        none_of_k, all_of_k = Fraction(n - c, n) ** k, Fraction(c, n) ** k
        return _of_rate(float(1 - none_of_k), float(all_of_k), (low, high), k)

    return by_k


def _bayes_pooled(tasks: Sequence[Attempts], level: float) -> ByK:
    n, c = sum(task.valid for task in tasks), sum(task.correct for task in tasks)
    a, b = c + 1, n - c + 1
    tail = (1 - level) / 2
    ends = beta.quantile(a, b, tail), beta.quantile(a, b, 1 - tail)

    def by_k(k: int) -> tuple[Estimate, Estimate]:
        return _of_rate(1 - beta.moment(b, a, k), beta.moment(a, b, k), ends, k)

    return by_k


def _of_rate(at: float, hat: float, ends: Ends, k: int) -> tuple[Estimate, Estimate]:
    """Return the estimates with an interval of the rate p, since both grow with p."""
    low, high = ends
    if low is None or high is None:
        return Estimate(at), Estimate(hat)
    return Estimate(at, 1 - (1 - low) ** k, 1 - (1 - high) ** k), Estimate(hat, low**k, high**k)


ESTIMATORS: Final[Mapping[str, Callable[[Sequence[Attempts], float], ByK]]] = {
    UNBIASED: _unbiased,
    "plug_in": _plug_in,
    "pooled": _pooled,
    "bayes_pooled": _bayes_pooled,
}
"""Every estimator of docs/metrics.md, section 8.4, by name."""
