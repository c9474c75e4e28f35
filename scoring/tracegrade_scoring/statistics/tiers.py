"""How ready an agent is, from pass@1 and pass^3.

Source: [Agentic], the classification table; docs/metrics.md, section 8.6. Its second row is
unreachable on the same trials (pass^3 > .70 follows from pass@1 > .90), so each tier stands beside
a conservative one that takes the lower end of pass^3's interval. The table says nothing of pass@1
> .90 with pass^3 < .30, which only that can meet: it is `Needs improvement` here.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from tracegrade_scoring.statistics.intervals import LEVEL
from tracegrade_scoring.statistics.release import MIN_TASK_TYPES
from tracegrade_scoring.statistics.reliability import SMALL_SAMPLE, TRIES, Attempts, passes

PRODUCTION_READY: Final = "Production-ready"
INCONSISTENT: Final = "Functional but inconsistent"
NEEDS_IMPROVEMENT: Final = "Needs improvement"
NOT_READY: Final = "Not ready"


class Tier(NamedTuple):
    """The tier of one cohort, or of one category of its tasks."""

    tier: str | None
    """None if not applicable."""
    tier_conservative: str | None
    """By the lower end of pass^3's interval; None without an interval that it needs."""
    pass_at_1: float | None
    pass_hat_3: float | None
    """None without a task of three attempts."""
    hat_3_low: float | None
    tasks: int
    """Tasks it goes by: those with at least three attempts, all if there are none."""
    reason: str | None
    """Why there is no tier; else None."""
    attempts: int = 0
    """Attempts at these tasks."""
    flags: tuple[str, ...] = ()
    """insufficient_sample (fewer than 10 tasks), small_sample (fewer than 20 attempts): the tier
    is a hint. Source: docs/metrics.md, section 0.6."""


def classify(tasks: Sequence[Attempts], level: float = LEVEL) -> Tier:
    """Return the tier of a cohort.

    Args:
        tasks: One for each task, in the order of task ids.
        level: Of the interval whose lower end makes the conservative tier.
    """
    thrice = [task for task in tasks if task.valid >= TRIES]
    gone_by = thrice or [task for task in tasks if task.valid]
    found = passes(gone_by, level=level)
    if not found:
        return Tier(None, None, None, None, None, 0, "no_attempts")
    third = found[TRIES - 1] if thrice else None
    hat, low = (third.pass_hat_k, third.hat_low) if third else (None, None)
    once = found[0].pass_at_k
    tier = tier_of(once, hat)
    reason = None if tier else "too_few_attempts"
    attempts = sum(task.valid for task in gone_by)
    conservative = tier_of(once, low)
    flags = _flags(len(gone_by), attempts)
    return Tier(tier, conservative, once, hat, low, len(gone_by), reason, attempts, flags)


def _flags(tasks: int, attempts: int) -> tuple[str, ...]:
    """Return what a reader must know about the sample."""
    few = {
        "insufficient_sample": tasks < MIN_TASK_TYPES,
        "small_sample": attempts < SMALL_SAMPLE,
    }
    return tuple(flag for flag, holds in few.items() if holds)


def tier_of(pass_at_1: float, pass_hat_3: float | None) -> str | None:
    """Return the tier of a pair; None if it needs pass^3 and there is none.

    Both are compared as rounded to 9 decimals (docs/metrics.md, section 0.10).
    """
    once = round(pass_at_1, 9)
    if once <= 0.90:
        return NEEDS_IMPROVEMENT if once >= 0.70 else NOT_READY
    if pass_hat_3 is None:
        return None
    thrice = round(pass_hat_3, 9)
    if thrice > 0.70:
        return PRODUCTION_READY
    return INCONSISTENT if thrice >= 0.30 else NEEDS_IMPROVEMENT
