"""Times that people type: a date, a time, or how long ago."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

WAYS: Final = "2026-11-21, 2026-11-21T09:30 (UTC, or with its offset), today, yesterday, 24h or 7d"
"""How a time is written."""

_DATED: Final = re.compile(r"\d{4}-?\d\d-?\d\d([T ].+)?", re.ASCII)
_AGO: Final = re.compile(r"(\d{1,6})([mhdw])", re.ASCII)
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAYS_AGO: Final = {"today": 0, "yesterday": 1}


def parse_time(text: str, now: datetime | None = None) -> datetime | None:
    """Return a time as tables hold it, in UTC and without an offset; None if it is not a time.

    A date or time is ISO 8601, so that eight digits are a date and no seconds; without an offset
    it is UTC. `today` and `yesterday` are when that day began in UTC; `90m`, `24h`, `7d` and `2w`
    are so long ago, to the minute.

    Args:
        text: What was typed.
        now: The present, in UTC and without an offset; the clock's if it is not given.
    """
    now = now or datetime.now(UTC).replace(tzinfo=None)
    try:
        if _DATED.fullmatch(text):
            given = datetime.fromisoformat(text)
            return given.astimezone(UTC).replace(tzinfo=None) if given.tzinfo else given
        if text in _DAYS_AGO:
            midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
            return midnight - timedelta(days=_DAYS_AGO[text])
        if ago := _AGO.fullmatch(text):
            length = timedelta(**{_UNITS[ago[2]]: int(ago[1])})
            return now.replace(second=0, microsecond=0) - length
    except (OverflowError, ValueError):  # no day of the calendar
        pass
    return None
