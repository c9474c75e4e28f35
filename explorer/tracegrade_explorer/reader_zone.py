"""The reader's time zone, from a cookie that the page's script sets; UTC without one."""

import re
from datetime import UTC, tzinfo
from typing import Final
from urllib.parse import unquote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from starlette.requests import Request

COOKIE: Final = "tz"
_NAME: Final = re.compile(r"[A-Z][A-Za-z0-9_+-]*(/[A-Z][A-Za-z0-9_+-]*){0,2}")
"""As in `Europe/Berlin`; nothing that leads to another folder."""


def chosen(request: Request) -> tzinfo:
    """Return the time zone that a browser states; UTC if it is missing or unknown."""
    name = unquote(request.cookies.get(COOKIE, ""))
    if not _NAME.fullmatch(name):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError):  # a folder of zones is not a zone
        return UTC
