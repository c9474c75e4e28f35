"""Times as tools write them → nanoseconds since 1970 UTC."""

from datetime import UTC, datetime
from typing import Any, Final

_UNITS: Final = ((1e11, 10**9), (1e14, 10**6), (1e17, 10**3), (9.2e18, 1))
"""Numbers below are seconds, milliseconds, microseconds, nanoseconds: from 1973 to 5138."""


def nanoseconds(value: Any) -> int | None:
    """Return the time of a number, its text, or ISO 8601; UTC if it names no zone.

    None for anything that is not a time, or is before 1970.
    """
    if isinstance(value, str):
        return _of_text(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return None
    unit = next((unit for limit, unit in _UNITS if value < limit), None)
    return None if unit is None else int(value * unit)


def _of_text(text: str) -> int | None:
    try:
        return nanoseconds(float(text) if "." in text else int(text))
    except ValueError:
        pass
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    since = time - datetime(1970, 1, 1, tzinfo=UTC)
    micros = (since.days * 86_400 + since.seconds) * 10**6 + since.microseconds
    return micros * 1000 if micros > 0 else None
