"""Converts values to text at the time of the call, before the host changes them.

Each text is JSON (a text is unchanged), valid Unicode, at most `max_content_chars` long and,
unless the content mode is `full`, free of the secrets that `tracegrade.redact` knows. The C
encoder writes values of JSON's own types. All other values, including NaN, cycles and values far
longer than the limit, are copied first (`tracegrade.values`). The copy has a budget; `...`
replaces the parts left out. No code of the host runs to look at a value.
"""

import json
from collections.abc import Callable
from json import encoder as json_encoder
from typing import Any, Final, NamedTuple

from tracegrade import names
from tracegrade.guard import came_by_signal
from tracegrade.redact.texts import redact
from tracegrade.scope import Attribute
from tracegrade.settings import Content, Objects, Settings
from tracegrade.values.copying import Copy, ObjectRules, cut
from tracegrade.values.errors import message_of, traceback_of
from tracegrade.values.native_inspection import is_kind, named
from tracegrade.whole_texts import whole_text

WHOLE_CHARS: Final = 1_000_000
"""Size up to which a value is encoded whole; of a larger one only the beginning is."""

_PART_CHARS: Final = 8
"""Least size that a part of a container counts."""

Render = Callable[[Any], object]


class SpanText(NamedTuple):
    """Text for an attribute."""

    text: str
    marks: tuple[str, ...] = ()
    """Which of `tracegrade.truncated` and `tracegrade.redacted` name this text's key."""


def text_of(value: object, settings: Settings, render: Render | None = None) -> SpanText:
    """Return a text unchanged and any other value as JSON; `render` as in `json_of`."""
    if type(value) is str:
        return _bounded(value, settings)
    if is_kind(value, str):
        return _bounded(str.__str__(value), settings)
    return json_of(value, settings, render)


def json_of(value: object, settings: Settings, render: Render | None = None) -> SpanText:
    """Return `value` as JSON; never raises for odd values.

    Args:
        value: Anything.
        settings: The limit of the text's length, and other settings.
        render: A tool's function for writing objects in the value.
    """
    try:
        if _is_json(value, max(WHOLE_CHARS, settings.max_content_chars)):
            return _bounded(_encode(value), settings)
    except (ValueError, TypeError, RecursionError):  # NaN, a long integer, an odd key, a cycle
        pass
    copy = _copy(settings, render)
    return _bounded(_encode(copy.of(value)), settings, is_cut=copy.is_cut)


def plain_of(value: object, settings: Settings) -> Any:
    """Return a value of Python's plain types alone, as JSON can express it, cut like its text."""
    return value if _is_json(value, WHOLE_CHARS) else _copy(settings).of(value)


def attribute_of(value: object) -> Attribute:
    """Return the attribute for a value that names something: a text, a number or JSON."""
    kind = type(value)
    if kind is str:
        return whole_text(value)
    plain = Copy(WHOLE_CHARS, ObjectRules()).of(value)
    if type(plain) is str:
        return whole_text(plain)
    return plain if isinstance(plain, (bool, int, float)) else _encode(plain)


def write_text(attributes: dict[str, Attribute], key: str, text: SpanText) -> None:
    """Put a text into a span's attributes, and its key under the marks it has."""
    attributes[key] = text.text
    for mark in text.marks:
        marked = attributes.get(mark, ())
        attributes[mark] = (*marked, key) if isinstance(marked, tuple) else (key,)


def error_texts(error: BaseException, settings: Settings) -> tuple[SpanText, SpanText]:
    """Return an exception's message and its traceback."""

    def message(of: BaseException) -> str:
        try:
            return message_of(of, _copy(settings).of, by_str=settings.objects is Objects.STR)
        except BaseException as raised:  # its own `__str__`, or attributes that are none
            if came_by_signal(raised):
                raise
            return named(type(of))

    text, trace = message(error), traceback_of(error, message)
    return _bounded(text, settings), _bounded(trace, settings)


def _copy(settings: Settings, render: Render | None = None) -> Copy:
    by_str = settings.objects is Objects.STR
    return Copy(settings.max_content_chars, ObjectRules(render, by_str=by_str))


def _is_json(value: object, chars: int) -> bool:
    """Return whether JSON's own types are all there is, and few enough: about `chars` at most."""
    waiting: list[Any] = [value]
    left = chars
    for part in waiting:  # which grows
        kind = type(part)
        if kind is str:
            left -= len(part)
        elif kind is dict or kind is list or kind is tuple:
            left -= _PART_CHARS * len(part)
            if left >= 0:
                waiting += part
                if kind is dict:
                    waiting += part.values()
        elif not (kind is int or kind is float or part is None or kind is bool):
            return False
    return left >= 0


def _encoder() -> Callable[[Any], str]:
    """Return what encodes JSON's own types, made once and not at each call as `encode` does."""
    slow = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    make: Any = vars(json_encoder)["c_make_encoder"]
    if make is None:  # a Python without it
        return slow.encode
    text = json_encoder.encode_basestring
    fast = make(None, slow.default, text, None, ":", ",", False, False, False)
    return lambda value: "".join(fast(value, 0))


_encode: Final = _encoder()


def _bounded(text: str, settings: Settings, *, is_cut: bool = False) -> SpanText:
    if len(text) > settings.max_content_chars:
        text, is_cut = cut(text, settings.max_content_chars), True
    marks: tuple[str, ...] = (names.TRUNCATED,) if is_cut else ()
    text = whole_text(text)
    if settings.content is Content.FULL:
        return SpanText(text, marks)
    clean = redact(text)
    return SpanText(clean, marks if clean is text else (*marks, names.REDACTED))
