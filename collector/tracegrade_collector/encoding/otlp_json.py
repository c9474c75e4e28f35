"""OTLP/JSON to messages and back, by OTLP's rules, which are not protobuf's JSON mapping.

Ids are hex, other bytes base64, and enums integers. Keys are lowerCamelCase; unknown ones are
ignored. 64-bit integers may be numbers or decimal strings
(https://opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"). What cannot be read is
refused with its path, never half read.

Senders also write other forms, which are read if they have only one meaning. These are protobuf's
field names (`trace_id`), names of enum values, ids in base64, numbers as texts and texts as
numbers. A bad value affects no other value. Half a surrogate pair, and bytes that are not UTF-8,
become U+FFFD; an integer beyond 64 bits becomes its digits.

protobuf's own parser is of no use here: it reads hex ids as base64 without an error.
"""

import json
import math
import re
from base64 import b64decode, b64encode
from binascii import Error as BadBase64
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final, NamedTuple, TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from tracegrade_collector.encoding.wire_texts import REPLACEMENT
from tracegrade_collector.errors import MalformedRequest

ID_BYTES: Final = {"trace_id": 16, "span_id": 8, "parent_span_id": 8}
BAD_ID: Final = b"\0"
"""Replaces an id that is not hex. Its length is invalid, so its item is refused later."""

MAX_DEPTH: Final = 100
"""Messages inside one another; protobuf's own parser has this limit."""

MAX_DIGITS: Final = 400
"""Most digits of a number without a fraction; the largest double has 309. More are slow to read.
"""

INTEGER_RANGES: Final = {
    FieldDescriptor.TYPE_INT32: range(-(2**31), 2**31),
    FieldDescriptor.TYPE_ENUM: range(-(2**31), 2**31),
    FieldDescriptor.TYPE_SINT32: range(-(2**31), 2**31),
    FieldDescriptor.TYPE_INT64: range(-(2**63), 2**63),
    FieldDescriptor.TYPE_SFIXED64: range(-(2**63), 2**63),
    FieldDescriptor.TYPE_UINT32: range(2**32),
    FieldDescriptor.TYPE_FIXED32: range(2**32),
    FieldDescriptor.TYPE_UINT64: range(2**64),
    FieldDescriptor.TYPE_FIXED64: range(2**64),
}
WRITTEN_AS_TEXT: Final = frozenset(
    {
        FieldDescriptor.TYPE_INT64,
        FieldDescriptor.TYPE_UINT64,
        FieldDescriptor.TYPE_FIXED64,
        FieldDescriptor.TYPE_SFIXED64,
    }
)
MAX_QUOTED_DIGITS: Final = 10
MAX_QUOTED_LETTERS: Final = 24
MAX_QUOTED_KEYS: Final = 5
INVALID_UNICODE: Final = "invalid_unicode"
LARGE_INTEGER: Final = "large_integer"
_HALVES: Final = re.compile("[\ud800-\udfff]")
NAMED_NUMBERS: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class _Fault(Exception):
    """A fault of one value; each reader that the error passes adds a part of its path."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
        self.path: list[str] = []

    def __str__(self) -> str:
        path = "".join(reversed(self.path)).removeprefix(".")
        return f"{path or 'top level'}: {self.text}"


@dataclass
class JsonReading:
    """Replaced values and unknown keys, noted while JSON was read."""

    replaced: Counter[str] = field(default_factory=Counter)
    """Values that could not be stored unchanged, by reason."""

    unknown: list[str] = field(default_factory=list)
    """The first keys that OTLP does not know, as an error may quote them."""

    def note_unknown(self, key: str) -> None:
        """Note a key that OTLP does not know."""
        if len(self.unknown) < MAX_QUOTED_KEYS:
            self.unknown.append(quoted_key(key))


class _RejectedValue(NamedTuple):
    """Stands in parsed JSON for a value that is refused, until its path is known."""

    text: str


def read_json(body: bytes, message: Message) -> JsonReading:
    """Fill the message from OTLP/JSON, and return the notes on reading it.

    Args:
        body: UTF-8.
        message: Empty.

    Raises:
        MalformedRequest: It is not a JSON object, or a value breaks OTLP's rules; with its path.
    """
    strange: list[_RejectedValue] = []
    reading = JsonReading()
    try:
        _fill(message, _parsed(body, strange), 0, reading)
        if strange:
            msg = f"{strange[0].text} (below a key that OTLP does not know)"
            raise _Fault(msg)
    except _Fault as fault:
        msg = f"OTLP/JSON: {fault}"
        raise MalformedRequest(msg) from None
    return reading


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
    _fill(value, json.loads(text), 0, JsonReading())
    return value


def _parsed(body: bytes, strange: list[_RejectedValue]) -> Any:
    """Return the JSON, with a mark for each refused part; `strange` has the marks, too."""

    def mark(text: str) -> _RejectedValue:
        strange.append(_RejectedValue(text))
        return strange[-1]

    def integer(text: str) -> int | _RejectedValue:
        too_long = f"number of {len(text)} digits, at most {MAX_DIGITS} are read"
        return mark(too_long) if len(text) > MAX_DIGITS else int(text)

    def fraction(text: str) -> float | _RejectedValue:
        number = float(text)
        return (
            number
            if math.isfinite(number)
            else mark(f"{quoted_number(text)} is too large for a double")
        )

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _RejectedValue:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        key, count = Counter(key for key, _ in pairs).most_common(1)[0]
        return mark(f"key {quoted_key(key)} stands {count} times in one object")

    try:
        return json.loads(
            body.decode(errors="surrogateescape"),  # halves, which `_read_string` replaces
            object_pairs_hook=members,
            parse_int=integer,
            parse_float=fraction,
            parse_constant=lambda name: mark(f"{name} is not a JSON number; put it in quotes"),
        )
    except RecursionError:
        msg = "nested too deep"
        raise _Fault(msg) from None
    except ValueError as error:
        msg = f"not JSON: {error}"
        raise _Fault(msg) from None


class _Field(NamedTuple):
    """Reads one member of a JSON object into one field of a message."""

    name: str
    json_name: str
    is_list: bool
    oneof: str | None
    read: "Read | None"
    """NULL for a message."""


Read: TypeAlias = Callable[[Any, JsonReading], Any]


@cache
def _fields(descriptor: Descriptor) -> dict[str, _Field]:
    """Return the fields of a message by their names in JSON and in protobuf."""
    return {name: _field(field) for field in descriptor.fields for name in _names(field)}


def _names(field: FieldDescriptor) -> tuple[str, str]:
    return field.name, field.json_name


@cache
def _spelled_otherwise(descriptor: Descriptor) -> dict[str, _Field]:
    return {_plain(name): field for name, field in _fields(descriptor).items()}


def _plain(key: str) -> str:
    """Return a key without what spellings differ in: `traceId`, `trace_id`, `TraceID`."""
    return key.replace("_", "").lower()


def is_same_key(key: str, other: str) -> bool:
    """Return whether two keys are spellings of one."""
    return key == other or _plain(key) == _plain(other)


def _find(descriptor: Any, key: str) -> _Field | None:
    return _fields(descriptor).get(key) or _spelled_otherwise(descriptor).get(_plain(key))


def _field(field: FieldDescriptor) -> _Field:
    oneof = field.containing_oneof.name if field.containing_oneof else None
    is_message = field.type == FieldDescriptor.TYPE_MESSAGE
    read = None if is_message else _reader(field)
    return _Field(field.name, field.json_name, bool(field.is_repeated), oneof, read)


def _reader(field: FieldDescriptor) -> Read:
    if field.type == FieldDescriptor.TYPE_ENUM and field.enum_type:
        numbers = {name: value.number for name, value in field.enum_type.values_by_name.items()}
        return partial(_read_enum, numbers=numbers)
    if field.type in INTEGER_RANGES:
        return partial(_read_integer, allowed=INTEGER_RANGES[field.type])
    if field.name in ID_BYTES:
        return partial(_read_id, size=ID_BYTES[field.name])
    return {
        FieldDescriptor.TYPE_BYTES: _read_bytes,
        FieldDescriptor.TYPE_STRING: _read_string,
        FieldDescriptor.TYPE_BOOL: _read_bool,
        FieldDescriptor.TYPE_DOUBLE: _read_double,
    }[field.type]


def _fill(message: Message, value: Any, depth: int, reading: JsonReading) -> None:
    if not isinstance(value, dict):
        raise _unexpected(value, "object")
    if depth > MAX_DEPTH:
        msg = f"more than {MAX_DEPTH} messages inside one another"
        raise _Fault(msg)
    descriptor = message.DESCRIPTOR
    fields = _fields(descriptor)
    for key, member in value.items():
        field = fields.get(key) or _find(descriptor, key)
        if field is None:
            reading.note_unknown(key)
            continue
        if member is None:  # "not set", as in protobuf's mapping
            continue
        try:
            if key != field.json_name:
                _check_once(descriptor, field, key, value)
            _fill_field(message, field, member, depth, reading)
        except _Fault as fault:
            fault.path.append(f".{key}")
            raise


def _check_once(descriptor: Any, field: _Field, key: str, members: dict[str, Any]) -> None:
    """Check that an object has a field only once, in any spelling of its name."""
    for other in members:
        found = _find(descriptor, other)
        if other != key and found and found.name == field.name:
            msg = f"{field.json_name} occurs twice in one object, in two spellings"
            raise _Fault(msg)


def _fill_field(
    message: Message, field: _Field, value: Any, depth: int, reading: JsonReading
) -> None:
    if field.is_list:
        _fill_list(getattr(message, field.name), field, value, depth, reading)
        return
    if field.oneof and message.WhichOneof(field.oneof):
        msg = "a second value where one is allowed"
        raise _Fault(msg)
    if field.name == "int_value":
        _set_integer(message, value, reading)
        return
    if field.read:
        setattr(message, field.name, field.read(value, reading))
        return
    inner = getattr(message, field.name)
    inner.SetInParent()
    _fill(inner, value, depth + 1, reading)


def _fill_list(items: Any, field: _Field, value: Any, depth: int, reading: JsonReading) -> None:
    if not isinstance(value, list):
        raise _unexpected(value, "list")
    for index, item in enumerate(value):
        try:
            if field.read:
                items.append(field.read(item, reading))
            else:
                _fill(items.add(), item, depth + 1, reading)
        except _Fault as fault:
            fault.path.append(f"[{index}]")
            raise


def _set_integer(value: Any, given: Any, reading: JsonReading) -> None:
    """Set an `AnyValue` to an integer, or to its digits if it has more than 64 bits."""
    number = _integer(given)
    if number in INTEGER_RANGES[FieldDescriptor.TYPE_INT64]:
        value.int_value = number
        return
    reading.replaced[LARGE_INTEGER] += 1
    value.string_value = str(number)


def _read_integer(value: Any, _: JsonReading, *, allowed: range) -> int:
    number = _integer(value)
    if number not in allowed:
        msg = f"{quoted_number(str(number))} is not within {allowed.start}..{allowed.stop - 1}"
        raise _Fault(msg)
    return number


def _integer(value: Any) -> int:
    if isinstance(value, str) and _is_decimal(value):
        return int(value)
    if isinstance(value, float) and value.is_integer():  # as JavaScript writes large ones
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _unexpected(value, "integer")
    return value


def _read_enum(value: Any, reading: JsonReading, *, numbers: dict[str, int]) -> int:
    """Read a number, or the name of one, as protobuf's mapping writes it."""
    if isinstance(value, str) and value in numbers:
        return numbers[value]
    return _read_integer(value, reading, allowed=INTEGER_RANGES[FieldDescriptor.TYPE_ENUM])


def _is_decimal(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS


def _read_double(value: Any, _: JsonReading) -> float:
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


def _read_string(value: Any, reading: JsonReading) -> str:
    if not isinstance(value, str):
        return _scalar_text(value)
    try:
        value.encode()
    except UnicodeEncodeError:
        reading.replaced[INVALID_UNICODE] += 1
        return _HALVES.sub(REPLACEMENT, value)
    return value


def _scalar_text(value: Any) -> str:
    """Return a number, true or false as the text that JSON has for it."""
    if not isinstance(value, bool | int | float):
        raise _unexpected(value, "string")
    return json.dumps(value)


def _read_bool(value: Any, _: JsonReading) -> bool:
    if isinstance(value, str) and value in ("true", "false"):
        return value == "true"
    if not isinstance(value, bool):
        raise _unexpected(value, "true or false")
    return value


def _read_id(value: Any, _: JsonReading, *, size: int) -> bytes:
    """Read hex, or base64 as in protobuf's mapping of ids; their lengths differ."""
    if not isinstance(value, str):
        raise _unexpected(value, "string")
    try:
        if len(value) == 4 * math.ceil(size / 3):
            return b64decode(value, validate=True)
        return bytes.fromhex(value) if value.isalnum() or not value else BAD_ID
    except ValueError:  # BadBase64 is one
        return BAD_ID


def _read_bytes(value: Any, _: JsonReading) -> bytes:
    if not isinstance(value, str):
        raise _unexpected(value, "string")
    try:
        return b64decode(value, validate=True)
    except (BadBase64, ValueError) as error:
        msg = f"not base64: {error}"
        raise _Fault(msg) from None


def _unexpected(value: Any, expected: str) -> _Fault:
    if isinstance(value, _RejectedValue):
        return _Fault(value.text)
    if isinstance(value, str):
        return _Fault(f"expected {expected}, found a text of {len(value)} characters")
    found = {dict: "object", list: "list", type(None): "null"}.get(type(value))
    return _Fault(f"expected {expected}, found {found or quoted_number(json.dumps(value))}")


def quoted_number(number: str) -> str:
    """Return a number for an error message: a long one may be an account's or a card's."""
    return number if len(number) <= MAX_QUOTED_DIGITS else f"a number of {len(number)} digits"


def quoted_key(key: str) -> str:
    """Return a key for an error message: only words that OTLP has, others may be content."""
    is_word = key.isascii() and key.isalpha() and len(key) <= MAX_QUOTED_LETTERS
    return repr(key) if is_word else f"of {len(key)} characters"


def _written(field: FieldDescriptor, value: Any) -> Any:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return write_json(value)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return value.hex() if field.name in ID_BYTES else b64encode(value).decode()
    if field.type in WRITTEN_AS_TEXT:
        return str(value)
    if field.type == FieldDescriptor.TYPE_DOUBLE and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
