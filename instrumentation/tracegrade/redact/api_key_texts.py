"""Texts without API keys: keys with a prefix, and keys that are recognized by their middle.

All formats together are a pattern with more states than RE2 has room for, so RE2 would run it step
by step. So its engine finds where a key may begin, which is cheap, and `re` examines these
positions.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

from tracegrade.redact.api_keys import API_KEY, API_KEY_HINT, INFIX_HINT, INFIX_KEY
from tracegrade.redact.marks import marker
from tracegrade.redact.patterns import BOUNDARY

MARK: Final = marker("api_key")
BEGINNING: Final = rf"(?:{BOUNDARY}|\\[bfnrtu]?)(?:{API_KEY_HINT})"
"""Possible beginning of a key with a prefix, with the character before it."""


class ApiKeys:
    """Finds API keys."""

    def __init__(self, compile_pattern: Callable[[str], Any]) -> None:
        """Find them with patterns compiled so."""
        self._pattern = cache(compile_pattern)

    def redact(self, text: str) -> str:
        """Return the text with a mark for each key in it."""
        parts, at = [], 0
        for start, end in sorted((*self._prefixed(text), *self._infixed(text))):
            if start >= at:
                parts += [text[at:start], MARK]
            at = max(at, end)
        return "".join([*parts, text[at:]]) if parts else text

    def _infixed(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield from where to where a key that is known by something inside stands, rising."""
        if self._pattern(INFIX_HINT).search(text) is not None:
            for found in self._pattern(INFIX_KEY).finditer(text):
                yield found.end(1), found.end()

    def _prefixed(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each key with a prefix, rising.

        If a match is not a key, the next key may begin before that match ends.
        """
        at = 0
        for place in self._pattern(BEGINNING).finditer(text):
            start, end = place.span()
            at = max(at, start)
            while at < end:
                found = _key().match(text, at)
                at = found.end() if found else at + 1
                if found and found.lastindex:
                    yield found.end(found.lastindex), at


@cache
def _key() -> re.Pattern[str]:
    """Return the pattern of a key; made at first use, since no import should take that long."""
    return re.compile(API_KEY)
