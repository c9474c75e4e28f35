"""OTLP's AnyValue as text plus a letter for its type, and back, exactly.

| letter | value | text |
|---|---|---|
| s | string | itself |
| b | bool | `true`, `false` |
| i | int | decimal |
| d | double | shortest form that reads back the same; `NaN`, `Infinity`, `-Infinity` |
| y | bytes | base64 |
| a, k | array, kvlist | plain JSON: `[1,2.0,"x",null]`, `{"a":{"b":true}}` |
| A, K | array, kvlist | OTLP/JSON, where plain JSON would lose something |
| n | an empty AnyValue | NULL |
| m | no AnyValue at all | NULL |

Plain JSON loses bytes, NaN and infinities, equal keys, and a key without a value; an empty value
in it is `null`.
"""

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from tracegrade_collector.encoding.otlp_json import any_value_from_json, write_json

NO_VALUE: Final = "m"


TypedText: TypeAlias = tuple[str, str | None]
"""The letter of a value's type, and the value's text. A plain tuple: there are millions."""

EMPTY: Final[TypedText] = ("n", None)


class _NotPlain(Exception):
    """The value has a part that plain JSON cannot say."""


def value_text(value: AnyValue) -> TypedText:
    """Return the value as text with its letter."""
    kind = value.WhichOneof("value")
    if kind == "string_value":  # nine of ten
        return "s", value.string_value
    write = _WRITERS.get(kind or "")
    return write(value) if write else EMPTY


def entry_text(entry: KeyValue) -> TypedText:
    """Return the text of an entry's value; a missing one differs from an empty one."""
    found = value_text(entry.value)
    return (NO_VALUE, None) if found is EMPTY and not entry.HasField("value") else found


def set_value(value: AnyValue, type_: str, text: str | None) -> None:
    """Write the value that `value_text` returned this letter and text for."""
    if type_ not in "nm":
        _READERS[type_](value, text or "")


def set_entry(entry: KeyValue, key: str, type_: str, text: str | None) -> None:
    """Write the entry that `entry_text` returned this letter and text for."""
    entry.key = key
    if type_ != NO_VALUE:
        entry.value.SetInParent()
        set_value(entry.value, type_, text)


def double_text(number: float) -> str:
    """Return the shortest text that reads back as the same double."""
    if math.isfinite(number):
        return repr(number)
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _nested_text(value: AnyValue, letter: str) -> TypedText:
    try:
        plain = _plain(value)
    except _NotPlain:
        return (letter.upper(), _json(write_json(value)))
    return (letter, _json(plain))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _plain(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_plain(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _plain_object(value.kvlist_value.values)
    if kind == "bytes_value" or (kind == "double_value" and not math.isfinite(value.double_value)):
        raise _NotPlain
    return getattr(value, kind) if kind and kind != "string_value_strindex" else None


def _plain_object(entries: Iterable[KeyValue]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for entry in entries:
        if entry.key in members or not entry.HasField("value"):
            raise _NotPlain
        members[entry.key] = _plain(entry.value)
    return members


def _set_plain(value: AnyValue, plain: Any) -> None:
    if isinstance(plain, list):
        value.array_value.SetInParent()
        for item in plain:
            _set_plain(value.array_value.values.add(), item)
    elif isinstance(plain, dict):
        value.kvlist_value.SetInParent()
        for key, item in plain.items():
            entry = value.kvlist_value.values.add(key=key)
            entry.value.SetInParent()
            _set_plain(entry.value, item)
    elif plain is not None:
        setattr(value, _FIELD_OF_SCALAR[type(plain)], plain)


_FIELD_OF_SCALAR: Final = {
    str: "string_value",
    bool: "bool_value",
    int: "int_value",
    float: "double_value",
}

_WRITERS: Final[dict[str, Callable[[AnyValue], TypedText]]] = {
    "bool_value": lambda value: ("b", "true" if value.bool_value else "false"),
    "int_value": lambda value: ("i", str(value.int_value)),
    "double_value": lambda value: ("d", double_text(value.double_value)),
    "bytes_value": lambda value: ("y", b64encode(value.bytes_value).decode()),
    "array_value": lambda value: _nested_text(value, "a"),
    "kvlist_value": lambda value: _nested_text(value, "k"),
}

_READERS: Final[dict[str, Callable[[AnyValue, str], None]]] = {
    "s": lambda value, text: setattr(value, "string_value", text),
    "b": lambda value, text: setattr(value, "bool_value", text == "true"),
    "i": lambda value, text: setattr(value, "int_value", int(text)),
    "d": lambda value, text: setattr(value, "double_value", float(text)),
    "y": lambda value, text: setattr(value, "bytes_value", b64decode(text)),
    "a": lambda value, text: _set_plain(value, json.loads(text)),
    "k": lambda value, text: _set_plain(value, json.loads(text)),
    "A": lambda value, text: value.CopyFrom(any_value_from_json(text)),
    "K": lambda value, text: value.CopyFrom(any_value_from_json(text)),
}
