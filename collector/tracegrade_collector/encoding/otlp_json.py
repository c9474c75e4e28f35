"""OTLP/JSON to messages and back, by OTLP's rules, which are not protobuf's JSON mapping.

Ids are hex, other bytes base64; enums are integers; keys are lowerCamelCase and unknown ones are
ignored; 64-bit integers may be numbers or decimal strings (https://opentelemetry.io/docs/specs/otlp,
"JSON Protobuf Encoding"). What cannot be read is refused with its path, never half read.

protobuf's own parser is of no use here: it reads hex ids as base64 without an error.
"""

import json
import math
from base64 import b64decode, b64encode
from binascii import Error as BadBase64
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from tracegrade_collector.errors import MalformedRequest

HEX_FIELDS: Final = frozenset({"trace_id", "span_id", "parent_span_id"})
BAD_ID: Final = b"\0"
"""Stands for an id that is not hex. No id has this length, so its item is refused later."""

MAX_DEPTH: Final = 100
"""Messages inside one another; protobuf's own parser has this limit."""

MAX_DIGITS: Final = 400
"""Of a number without a fraction; the largest double has 309. More is slow to read."""

INTEGER_RANGES: Final = {
    FieldDescriptor.TYPE_INT32: range(-(2**31), 2**31),
    FieldDescriptor.TYPE_ENUM: range(-(2**31), 2**31),
    FieldDescriptor.TYPE_INT64: range(-(2**63), 2**63),
    FieldDescriptor.TYPE_UINT32: range(2**32),
    FieldDescriptor.TYPE_FIXED32: range(2**32),
    FieldDescriptor.TYPE_UINT64: range(2**64),
    FieldDescriptor.TYPE_FIXED64: range(2**64),
}
WRITTEN_AS_TEXT: Final = frozenset(
    {FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64}
)
MAX_SHOWN_DIGITS: Final = 10
MAX_SHOWN_LETTERS: Final = 24
NAMED_NUMBERS: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


Rewrite: TypeAlias = Callable[[str, Any], Any]


class _Fault(Exception):
    """What is wrong with one value; the way to it is added as the readers are left."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
        self.path: list[str] = []

    def __str__(self) -> str:
        path = "".join(reversed(self.path)).removeprefix(".")
        return f"{path or 'top level'}: {self.text}"


class _Strange(NamedTuple):
    """Stands in parsed JSON for a value that is refused, until its path is known."""

    text: str


def read_json(body: bytes, message: Message, rewrite: Rewrite | None = None) -> None:
    """Fill the message from OTLP/JSON.

    Args:
        body: UTF-8.
        message: Empty.
        rewrite: Returns what to read instead of a member's value, given its key and value; for
            files that are not quite OTLP/JSON.

    Raises:
        MalformedRequest: It is not a JSON object, or a value is not as OTLP says; with its path.
    """
    strange: list[_Strange] = []
    try:
        _fill(message, _parsed(body, strange, rewrite), 0)
        if strange:
            msg = f"{strange[0].text} (below a key that OTLP does not know)"
            raise _Fault(msg)
    except _Fault as fault:
        msg = f"OTLP/JSON: {fault}"
        raise MalformedRequest(msg) from None


def write_json(message: Message) -> dict[str, Any]:
    """Return the message as an OTLP/JSON object; fields that are not set are left out."""
    return {
        field.json_name: [_written(field, item) for item in value]
        if field.is_repeated
        else _written(field, value)
        for field, value in message.ListFields()
    }


def any_value_from_json(text: str) -> AnyValue:
    """Return the AnyValue that `write_json` wrote as this text."""
    value = AnyValue()
    _fill(value, json.loads(text), 0)
    return value


def _parsed(body: bytes, strange: list[_Strange], rewrite: Rewrite | None) -> Any:
    """Return the JSON, with a mark for each part that is refused; the marks also in `strange`."""

    def mark(text: str) -> _Strange:
        strange.append(_Strange(text))
        return strange[-1]

    def integer(text: str) -> int | _Strange:
        too_long = f"number of {len(text)} digits, at most {MAX_DIGITS} are read"
        return mark(too_long) if len(text) > MAX_DIGITS else int(text)

    def fraction(text: str) -> float | _Strange:
        number = float(text)
        return (
            number if math.isfinite(number) else mark(f"{shown(text)} is too large for a double")
        )

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Strange:
        found = dict(pairs)
        if len(found) == len(pairs):
            return {key: rewrite(key, found[key]) for key in found} if rewrite else found
        key, count = Counter(key for key, _ in pairs).most_common(1)[0]
        return mark(f"key {shown_key(key)} stands {count} times in one object")

    try:
        return json.loads(
            body.decode(),
            object_pairs_hook=members,
            parse_int=integer,
            parse_float=fraction,
            parse_constant=lambda name: mark(f"{name} is not a JSON number; put it in quotes"),
        )
    except RecursionError:
        msg = "nested too deep"
        raise _Fault(msg) from None
    except ValueError as error:  # also text that is not UTF-8
        msg = f"not JSON: {error}"
        raise _Fault(msg) from None


class _Field(NamedTuple):
    """How one member of a JSON object is read into one field of a message."""

    name: str
    json_name: str
    is_list: bool
    oneof: str | None
    read: Callable[[Any], Any] | None
    """NULL for a message."""


@cache
def _fields(descriptor: Descriptor) -> dict[str, _Field]:
    return {field.json_name: _field(field) for field in descriptor.fields}


def _field(field: FieldDescriptor) -> _Field:
    oneof = field.containing_oneof.name if field.containing_oneof else None
    is_message = field.type == FieldDescriptor.TYPE_MESSAGE
    read = None if is_message else _reader(field)
    return _Field(field.name, field.json_name, bool(field.is_repeated), oneof, read)


def _reader(field: FieldDescriptor) -> Callable[[Any], Any]:
    if field.type in INTEGER_RANGES:
        allowed = INTEGER_RANGES[field.type]
        is_enum = field.type == FieldDescriptor.TYPE_ENUM
        return lambda value: _read_integer(value, allowed, is_enum=is_enum)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return _read_id if field.name in HEX_FIELDS else _read_bytes
    return {
        FieldDescriptor.TYPE_STRING: _read_string,
        FieldDescriptor.TYPE_BOOL: _read_bool,
        FieldDescriptor.TYPE_DOUBLE: _read_double,
    }[field.type]


def _fill(message: Message, value: Any, depth: int) -> None:
    if not isinstance(value, dict):
        raise _unexpected(value, "object")
    if depth > MAX_DEPTH:
        msg = f"more than {MAX_DEPTH} messages inside one another"
        raise _Fault(msg)
    fields = _fields(message.DESCRIPTOR)
    for key, member in value.items():
        field = fields.get(key)
        if field is None or member is None:  # null is "not set", as in protobuf's mapping
            continue
        try:
            _fill_field(message, field, member, depth)
        except _Fault as fault:
            fault.path.append(f".{key}")
            raise


def _fill_field(message: Message, field: _Field, value: Any, depth: int) -> None:
    if field.is_list:
        _fill_list(getattr(message, field.name), field, value, depth)
        return
    if field.oneof and message.WhichOneof(field.oneof):
        msg = "a second value where one is allowed"
        raise _Fault(msg)
    if field.read:
        setattr(message, field.name, field.read(value))
        return
    inner = getattr(message, field.name)
    inner.SetInParent()
    _fill(inner, value, depth + 1)


def _fill_list(items: Any, field: _Field, value: Any, depth: int) -> None:
    if not isinstance(value, list):
        raise _unexpected(value, "list")
    for index, item in enumerate(value):
        try:
            if field.read:
                items.append(field.read(item))
            else:
                _fill(items.add(), item, depth + 1)
        except _Fault as fault:
            fault.path.append(f"[{index}]")
            raise


def _read_integer(value: Any, allowed: range, *, is_enum: bool) -> int:
    if isinstance(value, str) and not is_enum and _is_decimal(value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _unexpected(value, "integer")
    if value not in allowed:
        msg = f"{shown(str(value))} is not within {allowed.start}..{allowed.stop - 1}"
        raise _Fault(msg)
    return value


def _is_decimal(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS


def _read_double(value: Any) -> float:
    if isinstance(value, str):
        return _read_double_text(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _unexpected(value, "number")
    try:
        return float(value)
    except OverflowError:
        msg = "number too large for a double"
        raise _Fault(msg) from None


def _read_double_text(text: str) -> float:
    if text in NAMED_NUMBERS:
        return NAMED_NUMBERS[text]
    try:
        number = float(text)
    except ValueError:
        raise _unexpected(text, "number") from None
    if not math.isfinite(number):  # what Python alone reads: "inf", "1e999"
        raise _unexpected(text, "number")
    return number


def _read_string(value: Any) -> str:
    if not isinstance(value, str):
        raise _unexpected(value, "string")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        code = ord(value[error.start])
        msg = f"half of a surrogate pair, U+{code:04X}, at {error.start}"
        raise _Fault(msg) from None
    return value


def _read_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _unexpected(value, "true or false")
    return value


def _read_id(value: Any) -> bytes:
    text = _read_string(value)
    try:
        return bytes.fromhex(text) if text.isalnum() or not text else BAD_ID
    except ValueError:
        return BAD_ID


def _read_bytes(value: Any) -> bytes:
    try:
        return b64decode(_read_string(value), validate=True)
    except BadBase64 as error:
        msg = f"not base64: {error}"
        raise _Fault(msg) from None


def _unexpected(value: Any, wanted: str) -> _Fault:
    if isinstance(value, _Strange):
        return _Fault(value.text)
    if isinstance(value, str):
        return _Fault(f"expected {wanted}, found a text of {len(value)} characters")
    found = {dict: "object", list: "list", type(None): "null"}.get(type(value))
    return _Fault(f"expected {wanted}, found {found or shown(json.dumps(value))}")


def shown(number: str) -> str:
    """Return a number as an error may quote it: a long one may be an account's or a card's."""
    return number if len(number) <= MAX_SHOWN_DIGITS else f"a number of {len(number)} digits"


def shown_key(key: str) -> str:
    """Return a key as an error may quote it: only words as OTLP's own, others may be content."""
    is_word = key.isascii() and key.isalpha() and len(key) <= MAX_SHOWN_LETTERS
    return repr(key) if is_word else f"of {len(key)} characters"


def _written(field: FieldDescriptor, value: Any) -> Any:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return write_json(value)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return value.hex() if field.name in HEX_FIELDS else b64encode(value).decode()
    if field.type in WRITTEN_AS_TEXT:
        return str(value)
    if field.type == FieldDescriptor.TYPE_DOUBLE and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
