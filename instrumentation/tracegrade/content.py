"""Values to text at the time of the call, so that what the host does to them later is not seen.

Each text is JSON (a text stays as it is), valid Unicode, at most `max_content_chars` long and,
unless the content mode is `full`, free of the secrets that `tracegrade.redact` knows. The fast
path is the C encoder. What it refuses (NaN, cycles, odd keys) is copied value by value within a
budget, and the copy is encoded.
"""

import dataclasses
import json
import math
import numbers
from collections.abc import Iterable, Mapping, Set
from datetime import date, time
from enum import Enum
from typing import Final, NamedTuple

from tracegrade import names
from tracegrade.redact import redact
from tracegrade.scope import Attribute
from tracegrade.settings import Content, Settings

MAX_DEPTH: Final = 32
_WORD_ENDS: Final = (" ", "\n", '"')
_LONGEST_WORD: Final = 4096
_MAX_INT_BITS: Final = 14_000  # Python refuses to write an integer of more than 4300 digits


class SpanText(NamedTuple):
    """Text for an attribute."""

    text: str
    marks: tuple[str, ...] = ()
    """Which of `tracegrade.truncated` and `tracegrade.redacted` name this text's key."""


def text_of(value: object, settings: Settings) -> SpanText:
    """Return a text as it is and any other value as JSON."""
    return _bounded(value if isinstance(value, str) else _json(value, settings), settings)


def json_of(value: object, settings: Settings) -> SpanText:
    """Return `value` as JSON; never raises for odd values."""
    return _bounded(_json(value, settings), settings)


def write_text(attributes: dict[str, Attribute], key: str, text: SpanText) -> None:
    """Put a text into a span's attributes, and its key under the marks it has."""
    attributes[key] = text.text
    for mark in text.marks:
        marked = attributes.get(mark, ())
        attributes[mark] = (*marked, key) if isinstance(marked, tuple) else (key,)


def _json(value: object, settings: Settings) -> str:
    try:
        return _encode(value)
    except Exception:  # noqa: BLE001 - besides what JSON refuses, a value's own methods may raise
        return _encode(_Copy(settings.max_content_chars).of(value))


def _bounded(text: str, settings: Settings) -> SpanText:
    marks: tuple[str, ...] = ()
    if len(text) > settings.max_content_chars:
        text = _cut(text, settings.max_content_chars)
        marks = (names.TRUNCATED,)
    if not text.isascii():  # lone surrogates cannot be sent, and would cost the whole batch
        text = text.encode("utf-8", "replace").decode("utf-8")
    if settings.content is Content.FULL:
        return SpanText(text, marks)
    clean = redact(text)
    return SpanText(clean, marks if clean is text else (*marks, names.REDACTED))


def _cut(text: str, max_chars: int) -> str:
    """Return the start of `text`, without a last word that the limit would cut in half.

    Half a secret would no longer be recognised as one.
    """
    kept = text[:max_chars]
    word = max(kept.rfind(mark) for mark in _WORD_ENDS)
    return kept[:word] if word > max_chars - _LONGEST_WORD else kept


class _Copy:
    """Copies a value into what JSON can say, until the budget of characters is spent."""

    def __init__(self, max_chars: int) -> None:
        self._left = max_chars

    def of(self, value: object, depth: int = 0) -> object:
        self._left -= 8
        try:
            return self._copied(value, depth)
        except Exception:  # noqa: BLE001 - a user's __str__, __iter__ or model_dump may raise anything
            return f"<{type(value).__name__}>"

    def _copied(self, value: object, depth: int) -> object:
        if value is None or isinstance(value, (bool, int, float, str)):
            return self._scalar(value)
        if depth >= MAX_DEPTH or self._left <= 0:
            return "..."
        if isinstance(value, Mapping):
            keys = self._while_it_fits(value)
            return {self._key(key): self.of(value[key], depth + 1) for key in keys}
        if isinstance(value, (list, tuple, Set)):
            return [self.of(item, depth + 1) for item in self._while_it_fits(value)]
        return self.of(_other(value), depth + 1)

    def _scalar(self, value: bool | int | float | str | None) -> object:
        if isinstance(value, str):
            self._left -= len(value)
        if isinstance(value, float) and not math.isfinite(value):
            return repr(value)
        if isinstance(value, int) and value.bit_length() > _MAX_INT_BITS:
            return f"<integer of {value.bit_length()} bits>"
        return value

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
    # pydantic; on the class, since a mock has every attribute and a model's class is no model.
    dump = getattr(type(value), "model_dump", None)
    return dump(value, mode="json") if callable(dump) else str(value)


_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_other
).encode
