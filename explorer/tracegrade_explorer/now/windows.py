"""Windows of time that end now, or with the newest run if that is long ago; pure."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, NamedTuple

from tracegrade_explorer.filters.grammar import Filter


class Length(NamedTuple):
    """The length of a window, and of its bars."""

    name: str
    lasts: timedelta
    bucket: timedelta
    """Length of one bar."""


LENGTHS: Final = (
    Length("1h", timedelta(hours=1), timedelta(minutes=1)),
    Length("24h", timedelta(hours=24), timedelta(hours=1)),
    Length("7d", timedelta(days=7), timedelta(hours=6)),
    Length("30d", timedelta(days=30), timedelta(days=1)),
)
BY_NAME: Final = {length.name: length for length in LENGTHS}
USUAL: Final = LENGTHS[1]
ALL: Final = "all"
"""The window of runs of any time, those included whose start is not known."""


class TimeWindow(NamedTuple):
    """A start and an excluded end, both UTC; None for the window of all runs."""

    name: str
    since: datetime | None = None
    until: datetime | None = None
    bucket: timedelta = timedelta(0)

    @property
    def before(self) -> datetime | None:
        """The start of the previous window of the same length."""
        return self.since - (self.until - self.since) if self.since and self.until else None

    @property
    def bars(self) -> int:
        """The number of bars; 0 for the window of all runs."""
        return (self.until - self.since) // self.bucket if self.since and self.until else 0

    def bar(self, number: int) -> tuple[datetime, datetime]:
        """Return from when to when a bar is, of those of a window that has some."""
        begins = (self.since or datetime.min) + number * self.bucket  # noqa: DTZ901 - UTC as others
        return begins, begins + self.bucket

    def runs(self, run_filter: Filter) -> Filter:
        """Return those runs of a filter that began within the window."""
        return run_filter.replaced(since=self.since, until=self.until)


def ends_with(newest: datetime | None, now: datetime, zone: tzinfo) -> datetime:
    """Return the end of windows: now, or the newest run if no window would contain it."""
    longest = window_of(LENGTHS[-1], now, zone)
    return newest if newest and longest.since and newest < longest.since else now


def usual_window(newest: datetime | None, end: datetime, zone: tzinfo) -> TimeWindow:
    """Return the last 24 hours, or the shortest longer window that holds the newest run.

    It is the window of all runs where no run's start is known.
    """
    if newest is None:
        return TimeWindow(ALL)
    found = [window_of(length, end, zone) for length in LENGTHS[LENGTHS.index(USUAL) :]]
    return next((each for each in found if each.since and newest >= each.since), found[-1])


def window_of(length: Length, end: datetime, zone: tzinfo) -> TimeWindow:
    """Return the window of a length whose last bar contains a time; bars follow local days."""
    local = end.replace(tzinfo=UTC).astimezone(zone)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    began = midnight.astimezone(UTC).replace(tzinfo=None)
    until = began + ((end - began) // length.bucket + 1) * length.bucket
    return TimeWindow(length.name, until - length.lasts, until, length.bucket)
