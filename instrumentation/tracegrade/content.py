"""Values to JSON text at the time of the call, so that what the host does to them later is unseen.

The fast path is the C encoder. What it refuses (NaN, cycles, odd keys) is copied value by value
within a budget, and the copy is encoded.
"""

import dataclasses
import json
import numbers
from collections.abc import Iterable, Mapping, Set
from datetime import date, time
from enum import Enum
from typing import NamedTuple

MAX_DEPTH = 32
MAX_ITEMS = 10_000


class Text(NamedTuple):
    """Text for an attribute."""

    text: str
    truncated: bool


def text_of(value: object, max_chars: int) -> Text:
    """Return a text as it is and any other value as JSON, at most `max_chars` long."""
    if isinstance(value, str):
        return cut(value, max_chars)
    return json_of(value, max_chars)


def json_of(value: object, max_chars: int) -> Text:
    """Return `value` as JSON of at most `max_chars` characters; never raises for odd values."""
    try:
        text = _encode(value)
    except (TypeError, ValueError, RecursionError, RuntimeError):
        text = _encode(_Copy(max_chars).of(value))
    return cut(text, max_chars)


def cut(text: str, max_chars: int) -> Text:
    """Return valid Unicode of at most `max_chars`, cut before the word that crosses the limit.

    A secret cut in half would no longer be recognised as one, so the last word goes as a whole.
    """
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= max_chars:
        return Text(text, truncated=False)
    kept = text[:max_chars]
    space = max(kept.rfind(mark) for mark in ' \n"')
    return Text(kept[:space] if space > max_chars - 4096 and space > 0 else kept, truncated=True)


class _Copy:
    """Copies a value into what JSON can say, until the budget of characters is spent."""

    def __init__(self, max_chars: int) -> None:
        self._left = max_chars

    def of(self, value: object, depth: int = 0) -> object:
        self._left -= 8
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, str):
            self._left -= len(value)
            return str(value)
        if isinstance(value, float):
            return value if value - value == 0 else repr(value)
        if depth >= MAX_DEPTH or self._left <= 0:
            return "..."
        if isinstance(value, Mapping):
            return {self._key(key): self.of(value[key], depth + 1) for key in value}
        if isinstance(value, (list, tuple, Set)):
            return [self.of(item, depth + 1) for item in self._while_it_fits(value)]
        return self.of(_other(value), depth + 1)

    def _key(self, key: object) -> str:
        return key if isinstance(key, str) else str(_other(key))

    def _while_it_fits(self, items: Iterable[object]) -> Iterable[object]:
        for item in items:
            if self._left <= 0:
                return
            yield item


def _other(value: object) -> object:
    """Return what stands in JSON for an object that JSON does not know."""
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, (Mapping, Set)):
        return dict(value) if isinstance(value, Mapping) else sorted(value, key=repr)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (date, time)):
        return value.isoformat()
    return _object(value)


def _object(value: object) -> object:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"<{len(value)} bytes>"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)  # pydantic
    if callable(dump):
        return dump(mode="json")
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - a user's __str__ may raise anything
        return f"<{type(value).__name__}>"


_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_other
).encode
