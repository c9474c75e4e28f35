"""Times that people type mean the same in every command and on every page."""

from datetime import datetime, timedelta, timezone

import pytest

from tracegrade_explorer.filters.grammar import parse_query
from tracegrade_scoring.rendering.options import utc_time
from tracegrade_scoring.rendering.times import parse_time

NOW = datetime.fromisoformat("2026-03-01T08:30:59.000007")


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-11-21", "2026-11-21T00:00"),
        ("20261121", "2026-11-21T00:00"),
        ("2026-11-21T09:30", "2026-11-21T09:30"),
        ("2026-11-21T09:30+02:00", "2026-11-21T07:30"),
        ("2026-11-21 09:30Z", "2026-11-21T09:30"),
        ("today", "2026-03-01T00:00"),
        ("yesterday", "2026-02-28T00:00"),
        ("sunday", "2026-03-01T00:00"),
        ("monday", "2026-02-23T00:00"),
        ("90m", "2026-03-01T07:00"),
        ("24h", "2026-02-28T08:30"),
        ("7d", "2026-02-22T08:30"),
        ("2w", "2026-02-15T08:30"),
    ],
)
def test_dates_times_and_how_long_ago_are_times(text: str, time: str) -> None:
    """In UTC, and to the minute where it is so long ago."""
    found = parse_time(text, NOW)

    assert found is not None
    assert found.isoformat(timespec="minutes") == time
    assert (found.second, found.microsecond, found.tzinfo) == (0, 0, None)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("today", "2026-03-01T15:00"),
        ("monday", "2026-03-01T15:00"),
        ("sunday", "2026-02-28T15:00"),
        ("2026-03-01", "2026-02-28T15:00"),
        ("2026-03-01T09:00", "2026-03-01T09:00"),
        ("2h", "2026-03-01T16:00"),
    ],
)
def test_days_begin_where_people_are(text: str, time: str) -> None:
    """A time of the clock is UTC all the same, as addresses write it."""
    evening = datetime.fromisoformat("2026-03-01T18:00")  # already Monday, the 2nd, in Tokyo
    found = parse_time(text, evening, timezone(timedelta(hours=9)))

    assert found is not None
    assert found.isoformat(timespec="minutes") == time


@pytest.mark.parametrize(
    "text",
    ["", "1764121200", "24", "h", "-1h", "1y", "24 h", "tomorrow", "2026-02-30", "999999w", "٣d"],
)
def test_what_is_no_time_is_none(text: str) -> None:
    """Neither a number of seconds nor a day that no calendar has."""
    assert parse_time(text, NOW) is None


@pytest.mark.parametrize("text", ["2026-11-21T09:30+02:00", "yesterday"])
def test_commands_and_pages_mean_the_same(text: str) -> None:
    """An option and an address."""
    assert parse_query(f"since={text.replace('+', '%2B')}").since == utc_time(text)
