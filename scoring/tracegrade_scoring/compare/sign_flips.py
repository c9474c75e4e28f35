"""P-values of paired differences by sign flips: how surprising one is if both sides are alike.

If two releases are alike, either could have made either result of a task. So the difference is
computed again with the sides of tasks exchanged. For up to 16 changed tasks, every exchange is
used and the test is exact; for more, 10,000 exchanges are drawn. The p-value is the share of these
differences that are as large, of either sign. It assumes nothing of how results are distributed,
and it is never smaller than 2 / 2^tasks, so fewer than 6 tasks can never be below 0.05. Where all
changes are of one size, as those of single attempts are, it is the exact test of signs [McNemar
1947].

Source: [Fisher 1935]; docs/metrics.md, section 10.1.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import comb, fsum
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tracegrade_scoring.statistics.intervals import SEED

EXACT_TASKS: Final = 16
"""With more tasks, exchanges are drawn at random."""
DRAWS: Final = 10_000
CLOSE: Final = 1e-9
"""Differences that are closer, by share of the observed one, are equal up to rounding."""
LEAST_TASKS: Final = 6
"""With fewer tasks, no p-value is below 0.05."""

Sums: TypeAlias = npt.NDArray[np.float64]


class FlippedSums(NamedTuple):
    """The sum of one side and of the other for each exchange; the first exchanges nothing."""

    base: Sums
    candidate: Sums


def flipped_sums(
    base: Sequence[float], candidate: Sequence[float], *, on_both: float = 0.0
) -> FlippedSums:
    """Return the sums over tasks for each exchange of their sides.

    Exchanges depend on how many tasks there are alone, so sums of several columns belong together.

    Args:
        base: A number for each task, in the order of task ids; at least one.
        candidate: The same tasks' numbers on the other side.
        on_both: What other tasks add to either side.
    """
    moved = _exchanges(len(base)) @ (np.asarray(candidate, float) - np.asarray(base, float))
    return FlippedSums(fsum(base) + on_both + moved, fsum(candidate) + on_both - moved)


def exact_sign_p(fell: int, rose: int) -> float:
    """Return the p-value of that many changes of one size down and up; 1 without a change."""
    changed = fell + rose
    tail = sum(comb(changed, count) for count in range(min(fell, rose) + 1))
    return min(1.0, 2 * tail / 2.0**changed)


def sign_flip_p(differences: Sums) -> float:
    """Return the share of exchanges whose difference is at least as large as the first one's.

    Args:
        differences: Of each exchange, in the order of `flipped_sums`.
    """
    observed = abs(differences[0])
    as_large = np.abs(differences) >= observed * (1 - CLOSE)
    return float(as_large.mean())


@lru_cache(maxsize=8)
def _exchanges(tasks: int) -> Sums:
    """Return a row for each exchange: 1 where the sides of a task are exchanged, else 0.

    The first row exchanges nothing. For few tasks, half of all exchanges is enough: exchanging the
    other tasks only changes the sign of a difference.
    """
    if tasks <= EXACT_TASKS:
        numbers = np.arange(2 ** (tasks - 1))
        return ((numbers[:, None] >> np.arange(tasks)) & 1).astype(float)
    # The stream of this generator is fixed by its definition, in every version of numpy.
    outputs = np.random.PCG64(SEED).random_raw(DRAWS * tasks)
    samples = (outputs >> np.uint64(63)).astype(float).reshape(DRAWS, tasks)
    return np.vstack([np.zeros((1, tasks)), samples])
