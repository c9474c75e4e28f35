"""Says which costs of a month rise, and by arithmetic what they come to in a year."""

from collections.abc import Mapping, Sequence
from statistics import linear_regression, median
from typing import Final, NamedTuple

RISES: Final = 1.2
"""A cost that is more times as high at the month's end as at its middle rises."""

SETTLED_DAYS: Final = 7
"""Days that slopes leave out: files of the first week were not replaced or removed yet."""

YEAR_DAYS: Final = 365


class Curve(NamedTuple):
    """How one cost goes on."""

    name: str
    first: float
    middle: float
    """The median of three days around the month's middle."""

    last: float
    """The median of the last three days."""

    slope: float
    """By which it rises each day: the straight line through all days after the first week."""

    days: int

    @property
    def ratio(self) -> float:
        """The end in relation to the middle; 1 if there was nothing then."""
        return self.last / self.middle if self.middle else 1.0

    @property
    def rises(self) -> bool:
        """Whether it rises."""
        return self.ratio > RISES

    @property
    def in_a_year(self) -> float:
        """What it comes to if it goes on like that."""
        return self.last + self.slope * (YEAR_DAYS - self.days)


def curve(name: str, values: Mapping[int, float]) -> Curve:
    """Return the curve of a cost.

    Args:
        name: Its name.
        values: By day, counted from 1; at least two of them.
    """
    days = sorted(values)
    middle = sorted(days, key=lambda day: abs(day - days[-1] // 2))[:3]
    settled = [day for day in days if day > SETTLED_DAYS]
    settled = settled if len(settled) > 1 else days
    line = linear_regression(settled, [values[day] for day in settled])
    return Curve(
        name,
        values[days[0]],
        _median(values, middle),
        _median(values, days[-3:]),
        line.slope,
        days[-1],
    )


def _median(values: Mapping[int, float], days: Sequence[int]) -> float:
    return median(values[day] for day in days)
