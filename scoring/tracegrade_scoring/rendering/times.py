"""Times that people type: a date, a time, how long ago, or a length."""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

WAYS: Final = (
    "2026-11-21, 2026-11-21T09:30 (UTC, or with its offset), today, yesterday, monday, 24h or 7d"
)
"""The forms in which a time can be written."""

_DATED: Final = re.compile(r"\d{4}-?\d\d-?\d\d(?P<clock>[T ].+)?", re.ASCII)
_AGO: Final = re.compile(r"(\d{1,6})([mhdw])", re.ASCII)
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAYS_AGO: Final = {"today": 0, "yesterday": 1}
_WEEKDAYS: Final = (
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
)  # fmt: skip

_LENGTH: Final = re.compile(r"(\d{1,6})([smhd])", re.ASCII)
_SECS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def parse_length(text: str) -> float | None:
    """Return the seconds of a length of time such as `30s`, `10m`, `1h` or `7d`; else None."""
    found = _LENGTH.fullmatch(text)
    return float(int(found[1]) * _SECS[found[2]]) if found else None


def utc_now() -> datetime:
    """Return the present as tables hold it: in UTC and without an offset."""
    return datetime.now(UTC).replace(tzinfo=None)


def parse_time(text: str, now: datetime | None = None, zone: tzinfo = UTC) -> datetime | None:
    """Return a time in the form of tables, in UTC without an offset; None for another text.

    A date or time is ISO 8601, so that eight digits are a date and no seconds; a time without an
    offset is UTC. A date, `today`, `yesterday` and the name of a weekday, which is its last one,
    today included, are when that day began where people are; `90m`, `24h`, `7d` and `2w` are so
    long ago, to the minute.

    Args:
        text: What was typed.
        now: The present, in UTC and without an offset; the clock's if it is not given.
        zone: Where days begin.
    """
    now = now or utc_now()
    try:
        if found := _DATED.fullmatch(text):
            given = datetime.fromisoformat(text)
            return _in_utc(given) if found["clock"] else _day_began(given.date(), zone)
        if ago := _AGO.fullmatch(text):
            length = timedelta(**{_UNITS[ago[2]]: int(ago[1])})
            return now.replace(second=0, microsecond=0) - length
        today = now.replace(tzinfo=UTC).astimezone(zone).date()
        days_ago = _days_ago(text, today)
        return None if days_ago is None else _day_began(today - timedelta(days_ago), zone)
    except (OverflowError, ValueError):  # no day of the calendar
        return None


def _days_ago(text: str, today: date) -> int | None:
    """Return how many days ago a day of this name was; None for another name."""
    if text in _WEEKDAYS:
        return (today.weekday() - _WEEKDAYS.index(text)) % 7
    return _DAYS_AGO.get(text)


def _day_began(day: date, zone: tzinfo) -> datetime:
    return _in_utc(datetime.combine(day, time(), zone))


def _in_utc(given: datetime) -> datetime:
    return given.astimezone(UTC).replace(tzinfo=None) if given.tzinfo else given
