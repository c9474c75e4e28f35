"""Classifies an agent's readiness into tiers, from pass@1 and pass^3.

Source: [Agentic], the classification table; docs/metrics.md, section 8.6. Its second row is
unreachable by the values of the same trials (pass^3 > .70 follows from pass@1 > .90). The reported
tier uses lower ends, which can reach it (`readiness_labels.py`). The table has no row for pass@1 >
.90 with pass^3 < .30, which only lower ends can meet: it is `Needs improvement` here.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from tracegrade_scoring.statistics.intervals import LEVEL
from tracegrade_scoring.statistics.readiness_labels import Carried, carried, least_mean
from tracegrade_scoring.statistics.release import MIN_TASK_TYPES
from tracegrade_scoring.statistics.reliability import SMALL_SAMPLE, TRIES, Attempts, passes

PRODUCTION_READY: Final = "Production-ready"
INCONSISTENT: Final = "Functional but inconsistent"
NEEDS_IMPROVEMENT: Final = "Needs improvement"
NOT_READY: Final = "Not ready"
TIERS: Final = (NOT_READY, NEEDS_IMPROVEMENT, INCONSISTENT, PRODUCTION_READY)
"""The lowest first."""


class Tier(NamedTuple):
    """The tier of one cohort, or of one category of its tasks."""

    tier: str | None
    """The tier of the values by the table; None if not applicable. Readers see `carried`."""
    pass_at_1: float | None
    pass_hat_3: float | None
    """None without a task of three attempts."""
    pass_at_1_least: float | None
    """Lower end, with each task as one observation."""
    pass_hat_3_least: float | None
    tasks: int
    """Tasks it goes by: those with at least three attempts, all if there are none."""
    reason: str | None
    """Why there is no tier; else None."""
    attempts: int = 0
    """Attempts at these tasks."""
    flags: tuple[str, ...] = ()
    """insufficient_sample (fewer than 10 tasks), small_sample (fewer than 20 attempts): there is
    no tier. Source: docs/metrics.md, section 0.11.
    """

    @property
    def carried(self) -> Carried:
        """The tier that the sample supports; only this tier is reported."""
        if self.pass_at_1_least is None or self.reason:
            return Carried(None, at_least=False, reason=self.reason)
        least = tier_of(self.pass_at_1_least, self.pass_hat_3_least)
        return carried(self.tier, least, lowest=NOT_READY, flags=self.flags)


def classify(tasks: Sequence[Attempts], level: float = LEVEL) -> Tier:
    """Return the tier of a cohort.

    Args:
        tasks: One for each task, in the order of task ids.
        level: Level of the intervals whose lower ends give the reported tier.
    """
    thrice = [task for task in tasks if task.valid >= TRIES]
    gone_by = thrice or [task for task in tasks if task.valid]
    found = passes(gone_by, largest_k=TRIES, level=level)
    if not found:
        return Tier(None, None, None, None, None, 0, "no_attempts")
    once, hat = found[0].pass_at_k, found[TRIES - 1].pass_hat_k if thrice else None
    tier = tier_of(once, hat)
    count = len(gone_by)
    attempts = sum(task.valid for task in gone_by)
    return Tier(
        tier,
        once,
        hat,
        least_mean(once, count, level),
        None if hat is None else least_mean(hat, count, level),
        count,
        None if tier else "too_few_attempts",
        attempts,
        _flags(count, attempts),
    )


def _flags(tasks: int, attempts: int) -> tuple[str, ...]:
    """Return what a reader must know about the sample."""
    few = {
        "insufficient_sample": tasks < MIN_TASK_TYPES,
        "small_sample": attempts < SMALL_SAMPLE,
    }
    return tuple(flag for flag, holds in few.items() if holds)


def tier_of(pass_at_1: float, pass_hat_3: float | None) -> str | None:
    """Return the tier of a pair; None if it needs pass^3 and there is none.

    The two values are compared as rounded to 9 decimals (docs/metrics.md, section 0.10).
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
