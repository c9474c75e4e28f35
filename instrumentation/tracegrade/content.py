"""Values to text at the time of the call, so that what the host does to them later is not seen.

Each text is JSON (a text stays as it is), valid Unicode, at most `max_content_chars` long and,
unless the content mode is `full`, free of the secrets that `tracegrade.redact` knows. The fast
path is the C encoder. What it refuses (NaN, cycles, odd keys), and what is far longer than the
limit, is copied value by value within a budget, and the copy is encoded: `...` stands for what it
left out.
"""

import dataclasses
import json
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Set
from datetime import date, time
from enum import Enum
from typing import Final, NamedTuple

from tracegrade import names
from tracegrade.guard import came_by_signal
from tracegrade.redact.texts import redact
from tracegrade.scope import Attribute
from tracegrade.settings import Content, Settings

MAX_DEPTH: Final = 32
_WORD_ENDS: Final = (" ", "\n", '"')
_LONGEST_WORD: Final = 4096
WHOLE_CHARS: Final = 1_000_000
"""A value of about so many characters is encoded whole; of a longer one the beginning is."""

_PART_CHARS: Final = 8
_OBJECT_CHARS: Final = 64
"""What a part of a container, and a value that JSON does not know, count at least."""

_SCALARS: Final = frozenset({int, float, bool, type(None)})

_MAX_INT_BITS: Final = 14_000  # Python refuses to write an integer of more than 4300 digits


class SpanText(NamedTuple):
    """Text for an attribute."""

    text: str
    marks: tuple[str, ...] = ()
    """Which of `tracegrade.truncated` and `tracegrade.redacted` name this text's key."""


def text_of(value: object, settings: Settings) -> SpanText:
    """Return a text as it is and any other value as JSON."""
    return _bounded(value, settings) if isinstance(value, str) else json_of(value, settings)


def json_of(value: object, settings: Settings) -> SpanText:
    """Return `value` as JSON; never raises for odd values."""
    try:
        return _bounded(_encoded(value, settings), settings)
    except BaseException as error:  # what JSON refuses, and what a value's own methods raise
        if came_by_signal(error):
            raise
    copy = _Copy(settings.max_content_chars)
    return _bounded(_PLAIN.encode(copy.of(value)), settings, is_cut=copy.is_cut)


def write_text(attributes: dict[str, Attribute], key: str, text: SpanText) -> None:
    """Put a text into a span's attributes, and its key under the marks it has."""
    attributes[key] = text.text
    for mark in text.marks:
        marked = attributes.get(mark, ())
        attributes[mark] = (*marked, key) if isinstance(marked, tuple) else (key,)


def _encoded(value: object, settings: Settings) -> str:
    """Return the whole value as JSON.

    Raises:
        TooLong: Only its beginning should be.
    """
    budget = _Budget(max(WHOLE_CHARS, settings.max_content_chars))
    budget.take(value)
    return (_encoder(budget.other) if budget.met_objects else _PLAIN).encode(value)


def _encoder(other: Callable[[object], object] | None) -> json.JSONEncoder:
    return json.JSONEncoder(
        ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=other
    )


_PLAIN: Final = _encoder(None)


def _bounded(text: str, settings: Settings, *, is_cut: bool = False) -> SpanText:
    if len(text) > settings.max_content_chars:
        text, is_cut = _cut(text, settings.max_content_chars), True
    marks: tuple[str, ...] = (names.TRUNCATED,) if is_cut else ()
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


class TooLong(Exception):
    """A value is far longer than what is kept of it."""


class _Budget:
    """How many characters of a value are left to encode, about."""

    def __init__(self, chars: int) -> None:
        self._left = chars
        self.met_objects = False
        """Whether there was something that JSON does not know."""

    def take(self, value: object) -> None:
        """Take off a value's characters, keys and parts.

        Raises:
            TooLong: They are more than are left.
        """
        waiting: list[Iterable[object]] = [(value,)]
        left = self._left
        for parts in waiting:  # which grows
            for part in parts:
                kind = type(part)
                if kind in _SCALARS:
                    continue
                if isinstance(part, str):
                    left -= len(part)
                elif isinstance(part, (dict, list, tuple)):
                    left -= _PART_CHARS * len(part)
                    if left >= 0:
                        waiting.append((*part, *part.values()) if isinstance(part, dict) else part)
                else:
                    left -= _OBJECT_CHARS
                    self.met_objects = True
            if left < 0:
                raise TooLong
        self._left = left

    def other(self, value: object) -> object:
        """Return what stands in JSON for an object that JSON does not know."""
        if isinstance(value, (Mapping, Set)) and _PART_CHARS * len(value) > self._left:
            raise TooLong
        other = _other(value)
        self.take(other)
        return other


class _Copy:
    """Copies a value into what JSON can say, until the budget of characters is spent."""

    def __init__(self, max_chars: int) -> None:
        self._left = max_chars
        self.is_cut = False
        """Whether `...` stands for something that was left out."""

    def of(self, value: object, depth: int = 0) -> object:
        self._left -= _PART_CHARS
        try:
            return self._copied(value, depth)
        except BaseException as error:  # a user's __str__ or model_dump may raise anything
            if came_by_signal(error):
                raise
            return f"<{type(value).__name__}>"

    def _copied(self, value: object, depth: int) -> object:
        if isinstance(value, str):
            return self._text(value)
        if value is None or isinstance(value, (bool, int, float)):
            return _scalar(value)
        if depth >= MAX_DEPTH or self._left <= 0:
            return self._rest()
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, (list, tuple, Set)):
            return self._items(value, depth)
        return self.of(_other(value), depth + 1)

    def _mapping(self, value: Mapping[object, object], depth: int) -> dict[str, object]:
        copied: dict[str, object] = {}
        for key in value:
            if self._left <= 0:
                copied["..."] = self._rest()
                break
            name = self._text(key if isinstance(key, str) else str(_other(key)))
            copied[name] = self.of(value[key], depth + 1)
        return copied

    def _items(self, value: Iterable[object], depth: int) -> list[object]:
        copied: list[object] = []
        for item in value:
            if self._left <= 0:
                copied.append(self._rest())
                break
            copied.append(self.of(item, depth + 1))
        return copied

    def _text(self, text: str) -> str:
        if len(text) > self._left:
            text = _cut(text, max(self._left, 0)) + self._rest()
        self._left -= len(text)
        return text

    def _rest(self) -> str:
        self.is_cut = True
        return "..."


def _scalar(value: bool | int | float | None) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, int) and value.bit_length() > _MAX_INT_BITS:
        return f"<integer of {value.bit_length()} bits>"
    return value


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
