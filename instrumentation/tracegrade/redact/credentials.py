"""Replaces credentials in headers and URLs, and leaves text that only looks like one.

Such texts are a server's request, `Bearer resource_metadata="…"`, and a line of code,
`postgres://{user}:{password}@{host}`.
"""

import re
from functools import cache
from typing import Final

from tracegrade.redact.marks import marker
from tracegrade.redact.names import stands_for_no_value
from tracegrade.redact.patterns import AFTER_BASIC, AFTER_BEARER, BOT_KEY, URL_KEYS

BEARER: Final = marker("bearer")
URL: Final = marker("url")
_IN_HEADERS: Final = (
    rf"(?i)(bearer(?:\s+|%20|\+))(?![a-z_]{{3,40}}=\\*\"){AFTER_BEARER}",
    rf"(?i)(basic\s+){AFTER_BASIC}",
)
_USER_INFO: Final = r"(://)([^\s/?#\"'\\<>@:]*):([^\s/?#\"'\\<>]+)@"
_IN_URLS: Final = (
    r"(://)[A-Za-z0-9_~.%+-]{20,}(?=@)",  # a token in the user's place
    rf"({'|'.join(URL_KEYS)})[A-Za-z0-9_:/-]{{16,}}",
    rf"(){BOT_KEY}",
)


def replace_in_headers(text: str) -> str:
    """Return the text with a mark for each credential after `Bearer` and `Basic`."""
    for pattern in _IN_HEADERS:
        text = _compiled(pattern).sub(rf"\1{BEARER}", text)
    return text


def replace_in_urls(text: str) -> str:
    """Return the text with marks for users with passwords, and for keys, in URLs."""
    text = _compiled(_USER_INFO).sub(_without_password, text)
    for pattern in _IN_URLS:
        text = _compiled(pattern).sub(rf"\1{URL}", text)
    return text


def _without_password(match: re.Match[str]) -> str:
    is_code = stands_for_no_value(match[3])
    return match[0] if is_code else f"{match[1]}{URL}@"


# Compiled at first use, which no import should take the time for.
_compiled = cache(re.compile)
