"""Readers of what well-known libraries hand around: numbers, addresses, rows and messages.

A class is known by its name and by being what its module has under that name; nothing is imported.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tracegrade.values.frames import FRAMES, array_reader
from tracegrade.values.native_inspection import (
    MISSING,
    ValueReader,
    attribute,
    bases_of,
    is_native,
    is_of_module,
    native_method,
    short_name,
    slot,
)

if TYPE_CHECKING:
    from tracegrade.values.copying import Copy


def scalar_reader(kind: type) -> ValueReader | None:
    """Return a reader for a value that is one number, text or time; None for other values."""
    known = _SCALARS.get(short_name(kind))
    if known is None and "numpy.generic" in map(short_name, bases_of(kind)[1:]):
        known = _by_item
    return known if known is not None and is_of_module(kind) else None


def reader(kind: type) -> ValueReader | None:
    """Return how objects of a library's class are read, None if it is not known."""
    name = short_name(kind)
    known = FRAMES.get(name) or _OBJECTS.get(name)
    if known is not None and is_of_module(kind):
        return known
    if name in _NATIVE and is_native(kind, "__iter__") and is_native(kind, "__getitem__"):
        return _map
    for base in bases_of(kind)[1:]:
        derived = _DERIVED.get(short_name(base))
        if derived is not None and is_of_module(base):
            return derived
    return array_reader(kind)


def _text(copy: "Copy", value: object, _: int) -> object:
    return copy.text(str(value))


def _by_item(copy: "Copy", value: Any, depth: int) -> object:
    """Read a scalar of numpy; one without a Python type becomes its text."""
    item = value.item()
    return copy.text(str(value)) if type(item) is type(value) else copy.of(item, depth + 1)


def _constant_text(text: str) -> ValueReader:
    return lambda copy, value, depth: copy.text(text)


def _mapping_by(method: Callable[[Any], Any]) -> ValueReader:
    return lambda copy, value, depth: copy.mapping(method(value), depth)


def _items(copy: "Copy", value: Any, depth: int) -> object:
    return copy.items(iter(value), depth)


def _inside(name: str) -> ValueReader:
    def read(copy: "Copy", value: object, depth: int) -> object:
        found = attribute(value, name)
        return copy.of(slot(value, name) if found is MISSING else found, depth + 1)

    return read


def _message(copy: "Copy", value: object, depth: int) -> object:
    """Read a message of protobuf, whose fields are listed without being copied."""
    fields = native_method(type(value), "ListFields")(value)
    return copy.mapping(((field.name, item) for field, item in fields), depth)


def _map(copy: "Copy", value: Any, depth: int) -> object:
    return copy.mapping(((key, value[key]) for key in value), depth)


_HIDDEN: Final = _constant_text("**********")
_ADDRESSES: Final = ("Address", "Network", "Interface")

_SCALARS: Final[dict[str, ValueReader]] = {
    **{f"ipaddress.IPv{version}{kind}": _text for version in (4, 6) for kind in _ADDRESSES},
    "asyncpg.UUID": _text,
    "bson.Decimal128": _text,
    "bson.ObjectId": _text,
    "fractions.Fraction": lambda copy, value, _: copy.number(float(value)),
    "httpx.URL": _text,
    "pandas.NAType": _constant_text("NA"),
    "pandas.NaTType": _constant_text("NaT"),
    "pydantic.SecretBytes": _HIDDEN,
    "pydantic.SecretStr": _HIDDEN,
    "pydantic_core.MultiHostUrl": _text,
    "pydantic_core.Url": _text,
    "yarl.URL": _text,
    "zoneinfo.ZoneInfo": _text,
}
"""By package and name: values that equal one text or number."""

_OBJECTS: Final[dict[str, ValueReader]] = {
    "array.array": _items,
    "asyncpg.Record": _mapping_by(lambda row: row.items()),
    "google.RepeatedCompositeContainer": _items,
    "google.RepeatedScalarContainer": _items,
    "sqlalchemy.Row": _mapping_by(lambda row: row._mapping.items()),
    "sqlalchemy.RowMapping": _mapping_by(lambda row: row.items()),
    "sqlite3.Row": _mapping_by(lambda row: zip(row.keys(), row, strict=True)),
}
"""By package and name: values that contain other values. Rows hold the result of a query."""

_NATIVE: Final = ("google.MessageMapContainer", "google.ScalarMapContainer")
"""Mappings that are written in C, and belong to no module."""

_DERIVED: Final[dict[str, ValueReader]] = {
    "google.Message": _message,
    "proto.Message": _inside("_pb"),
    "pydantic._BaseUrl": _inside("_url"),
    "tracegrade.Proxy": _inside("_original"),
}
"""By package and name of a base class."""
