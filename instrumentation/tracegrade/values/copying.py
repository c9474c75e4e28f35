"""Copies values into JSON: plain types unchanged, other objects as far as their class is known.

`reading` finds once how to read objects of a class. A copy is made within a budget of characters,
and `...` replaces the parts left out.
"""

from collections.abc import Callable, Iterable
from json.encoder import encode_basestring
from math import isfinite
from typing import Any, Final, NamedTuple

from tracegrade.guard import came_by_signal
from tracegrade.values.native_inspection import named
from tracegrade.values.reading import reader_of, rendered

MAX_DEPTH: Final = 32
MAX_INT_BITS: Final = 14_000  # Python refuses to write an integer of more than 4300 digits
_RESERVE: Final = 100  # for what closes a copy that was cut
_WORD_ENDS: Final = (" ", "\n", '"')
_LONGEST_WORD: Final = 4096


class ObjectRules(NamedTuple):
    """Rules for objects of types that are not plain."""

    render: Callable[[Any], object] | None = None
    """The tool's function for objects among its arguments and results."""
    by_str: bool = False
    """Whether to call `str()` of an unknown object, instead of naming its class."""


class Copy:
    """Copies a value into what JSON can say, until the budget of characters is spent."""

    def __init__(self, max_chars: int, rules: ObjectRules) -> None:
        self.left = max_chars - min(_RESERVE, max_chars // 4)
        """Characters that may still be written, about."""
        self.rules: ObjectRules = rules
        self.is_cut = False
        """Whether `...` replaces a part that was left out."""

    def of(self, value: object, depth: int = 0) -> Any:
        """Return a value's copy; its class's name where it cannot be read."""
        kind = type(value)
        if kind is str:
            return self.text(value)
        if value is None or kind is int or kind is float or kind is bool:
            return self.number(value)
        if depth >= MAX_DEPTH or self.left <= 0:
            return self.rest()
        try:
            return self._object(kind, value, depth)
        except BaseException as error:  # another thread changes it, or its own `str()` raised
            if came_by_signal(error):
                raise
            return self.text(named(kind))

    def _object(self, kind: type, value: object, depth: int) -> object:
        reader = reader_of(kind)
        if self.rules.render is not None and not reader.is_plain:
            return self.of(rendered(self.rules.render, value), depth + 1)
        return reader.read(self, value, depth)

    def mapping(self, items: Iterable[tuple[object, object]], depth: int) -> dict[str, object]:
        """Return the copy of a mapping's items, with texts as keys."""
        copied: dict[str, object] = {}
        self.left -= 2
        for key, item in items:
            if self.left <= 0:
                copied["..."] = self.rest()
                break
            self.left -= 2
            name = self.text(key) if type(key) is str else self._key(key, depth)
            copied[name] = self.of(item, depth + 1)
        return copied

    def items(self, items: Iterable[object], depth: int) -> list[object]:
        """Return the copies of a container's items."""
        copied: list[object] = []
        self.left -= 2
        for item in items:
            if self.left <= 0:
                copied.append(self.rest())
                break
            self.left -= 1
            copied.append(self.of(item, depth + 1))
        return copied

    def text(self, text: Any) -> str:
        """Return a text, cut where the budget ends."""
        chars = len(encode_basestring(text)) if len(text) <= self.left else len(text)
        if chars > self.left:
            text = cut(text, max(self.left, 0)) + self.rest()
            chars = len(text)
        self.left -= chars
        return str(text)

    def number(self, value: Any) -> object:
        """Return a number, a truth value or None."""
        if type(value) is float and not isfinite(value):
            value = repr(value)
        elif type(value) is int and value.bit_length() > MAX_INT_BITS:
            value = f"<integer of {value.bit_length()} bits>"
        self.left -= len(repr(value))
        return value

    def rest(self) -> str:
        """Return the mark for all parts that are left out."""
        self.is_cut = True
        self.left -= 6
        return "..."

    def _key(self, key: object, depth: int) -> str:
        copied = self.of(key, depth + 1)
        self.left -= 2
        if copied is None or type(copied) is bool:
            return {None: "null", True: "true", False: "false"}[copied]
        is_tuple = type(key) is tuple and type(copied) is list
        return copied if type(copied) is str else str(tuple(copied) if is_tuple else copied)


def cut(text: str, max_chars: int) -> str:
    """Return the start of `text`, without a last word that the limit would cut in half.

    Half a secret would no longer be recognized as one.
    """
    beginning = text[:max_chars]
    word = max(beginning.rfind(mark) for mark in _WORD_ENDS)
    return beginning[:word] if word > max_chars - _LONGEST_WORD else beginning
