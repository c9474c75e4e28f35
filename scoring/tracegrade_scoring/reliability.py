"""How far an agent can be relied on when it tries a task k times: pass@k and pass^k.

Its own module because everything that reports or compares reliability uses the same numbers.
Source: metrics "Agentic" (pass@K, pass^K); the unbiased estimators are those of HumanEval
(Chen et al. 2021, equation 1) and of tau-bench (Yao et al. 2024, section 3). Means over tasks are
taken in exact fractions and rounded once, so their order does not matter.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import NamedTuple

UNBIASED = "unbiased"
LARGEST_K = 10
"""Enough for any published table; binomials of thousands of attempts are slow to add exactly."""


class Attempts(NamedTuple):
    """The attempts of one task in one cohort."""

    valid: int
    """Attempts of known success."""
    correct: int
    """Of these, successful."""


class Pass(NamedTuple):
    """The reliability of one cohort over k attempts."""

    k: int
    pass_at_k: float
    """Chance that at least one of k attempts succeeds, mean over tasks, in [0, 1]."""
    pass_hat_k: float
    """Chance that all of k attempts succeed, mean over tasks, in [0, 1]."""
    estimator: str
    tasks: int
    """Tasks in the mean."""


def unbiased_passes(tasks: Sequence[Attempts]) -> list[Pass]:
    """Return pass@k and pass^k for each k from 1 to the smallest number of valid attempts.

    A larger k is not applicable: a task with fewer attempts says nothing about it. A task without
    a valid attempt says nothing about any k and is left out. k ends at `LARGEST_K`.

    Args:
        tasks: One for each task of one cohort; their order does not matter.
    """
    tried = [task for task in tasks if task.valid]
    smallest = min((task.valid for task in tried), default=0)
    return [_unbiased_pass(tried, k) for k in range(1, min(smallest, LARGEST_K) + 1)]


def _unbiased_pass(tasks: Sequence[Attempts], k: int) -> Pass:
    none_of_k = _mean([Fraction(comb(n - c, k), comb(n, k)) for n, c in tasks])
    all_of_k = _mean([Fraction(comb(c, k), comb(n, k)) for n, c in tasks])
    return Pass(k, float(1 - none_of_k), float(all_of_k), UNBIASED, len(tasks))


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction()) / len(values)
