"""Filters as users type them, `agent=support tsa=0..0.5 refund`; pure.

A condition is a key of an address, `=` and a value. A value with spaces is in quotes; a quote in
it is doubled. All other words are a text in the request.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_WORD: Final = re.compile(
    r"(?P<bare>\w+)=(?!\S)|"
    r'(?:(?P<key>\w+)=)?(?:"(?P<quoted>(?:[^"]|"")*)"?|(?P<plain>[^\s"]\S*))'
)
_PLAIN: Final = re.compile(r'[^\s"]+')


class TypedWord(NamedTuple):
    """A condition, or a word of the request."""

    start: int
    """Its start in the typed text."""
    end: int
    key: str
    """'' if it is not a condition."""
    value: str


def typed_words(text: str) -> list[TypedWord]:
    """Return the words of the typed text, in order."""
    return [*_words(text)]


def typed_pairs(text: str) -> list[tuple[str, str]]:
    """Return the typed text as parameters of an address, conditions first."""
    words = typed_words(text)
    pairs = [(word.key, word.value) for word in words if word.key]
    request = " ".join(word.value for word in words if not word.key)
    return [*pairs, ("request", request)] if request else pairs


def written(key: str, value: str) -> str:
    """Return a condition as one types it."""
    if _PLAIN.fullmatch(value):
        return f"{key}={value}"
    doubled = value.replace('"', '""')
    return f'{key}="{doubled}"'


def _words(text: str) -> Iterator[TypedWord]:
    for found in _WORD.finditer(text):
        quoted, plain = found["quoted"], found["plain"]
        value = quoted.replace('""', '"') if quoted is not None else plain or ""
        yield TypedWord(*found.span(), found["key"] or found["bare"] or "", value)
