"""The label of readiness that a sample carries: of the T-Score, or a tier.

A label says how an agent may be used, on tasks that did not run as well. So it is not read off the
value, but off the least value that the sample leaves likely, and a small sample gets none.
Source: docs/metrics.md, section 0.11.
"""

from collections.abc import Collection
from typing import Final, NamedTuple

from tracegrade_scoring.statistics.intervals import LEVEL, wilson

LEFT_OPEN: Final = "left_open"
"""The reason where the value is above the lowest label and the lower end is not."""


class Carried(NamedTuple):
    """The label that a sample carries."""

    label: str | None
    """None if it carries none."""
    at_least: bool
    """The value itself stands higher."""
    reason: str | None
    """insufficient_sample, small_sample, left_open, or why there is no value; None if not."""


def least_mean(mean: float, tasks: int, level: float = LEVEL) -> float:
    """Return the lower end of a mean of tasks' values, each from 0 to 1, each one observation.

    It is Wilson's, and so holds however the values of tasks are spread, and where all are equal.
    """
    return wilson(mean * tasks, tasks, level).low


def carried(
    of_value: str | None, of_least: str | None, *, lowest: str, flags: Collection[str]
) -> Carried:
    """Return the label that a sample carries.

    Args:
        of_value: The label where the value stands; None without one.
        of_least: The label where the lower end stands; None without one.
        lowest: The lowest label of all.
        flags: Reasons why the sample is too small for any label.
    """
    if flags:
        return Carried(None, at_least=False, reason=next(iter(flags)))
    if of_least == lowest != of_value:
        return Carried(None, at_least=False, reason=LEFT_OPEN)
    return Carried(of_least, at_least=of_least != of_value, reason=None)
