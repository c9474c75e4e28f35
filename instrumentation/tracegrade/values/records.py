"""Readers of objects with named fields: dataclasses, attrs, msgspec and pydantic.

The fields are read directly from the object's `__dict__` or its slots. Fields that would have to
be computed, or loaded from a database, are left out, and so are fields that a pydantic model
excludes.
"""

import dataclasses
from collections.abc import Iterable, Iterator
from types import MemberDescriptorType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from tracegrade.values.native_inspection import (
    MISSING,
    ValueReader,
    attribute,
    bases_of,
    instance_dict,
    is_kind,
    module_name,
    on_class,
    slot,
)

if TYPE_CHECKING:
    from tracegrade.values.copying import Copy


_DEFAULTS: Final = (str, int, float, bool, type(None))


def reader(kind: type) -> ValueReader | None:
    """Return a reader for a class with named fields; None for any other class."""
    base = _pydantic_base(kind)
    if base is not None:
        return _model(kind) if module_name(base) == "pydantic.main" else _model_of_v1(kind)
    names = _field_names(kind)
    return None if names is None else _by_names(names)


def _field_names(kind: type) -> list[str] | None:
    fields = on_class(kind, "__dataclass_fields__")
    if type(fields) is dict and all(type(it) is dataclasses.Field for it in fields.values()):
        holder: Any = SimpleNamespace(__dataclass_fields__=fields)
        return [field.name for field in dataclasses.fields(holder)]
    attributes = on_class(kind, "__attrs_attrs__")
    if attributes is not MISSING and is_kind(attributes, tuple):
        return _texts(slot(field, "name") for field in tuple.__iter__(attributes))
    return _struct_fields(kind)


def _struct_fields(kind: type) -> list[str] | None:
    """Return the fields of a `msgspec.Struct`."""
    descriptor = on_class(type(kind), "__struct_fields__")
    is_struct = type(descriptor) is MemberDescriptorType
    return _texts(descriptor.__get__(kind)) if is_struct else None


def _texts(names: Iterable[object]) -> list[str]:
    return [name for name in names if type(name) is str]


def _by_names(names: Iterable[str]) -> ValueReader:
    def read(copy: "Copy", value: object, depth: int) -> object:
        return copy.mapping(_fields(value, names), depth)

    return read


def _fields(value: object, names: Iterable[str]) -> Iterator[tuple[str, object]]:
    own = instance_dict(value)
    for name in names:
        found = dict.get(own, name, MISSING)
        if found is MISSING:
            found = slot(value, name)
        if found is MISSING:  # a default that only the class has
            found = on_class(type(value), name)
            found = found if any(type(found) is kind for kind in _DEFAULTS) else MISSING
        if found is not MISSING:
            yield name, found


def _pydantic_base(kind: type) -> type | None:
    known = ("pydantic.main", "pydantic.v1.main")
    bases = (base for base in bases_of(kind)[1:] if module_name(base) in known)
    return next((base for base in bases if base.__name__ == "BaseModel"), None)


def _model(kind: type) -> ValueReader:
    """Return the reader for a model of pydantic 2, or 1 if only that is installed."""
    fields = on_class(kind, "__pydantic_fields__")
    if type(fields) is not dict:  # before 2.10
        fields = on_class(kind, "model_fields")
    if type(fields) is not dict:
        return _model_of_v1(kind)
    names = [name for name, field in fields.items() if attribute(field, "exclude") is not True]
    if on_class(kind, "__pydantic_root_model__") is True:
        return lambda copy, value, depth: copy.of(attribute(value, "root"), depth + 1)

    def read(copy: "Copy", value: object, depth: int) -> object:
        extra = slot(value, "__pydantic_extra__")
        more = dict.items(extra) if type(extra) is dict else ()
        return copy.mapping((*_fields(value, names), *more), depth)

    return read


def _model_of_v1(kind: type) -> ValueReader:
    fields = on_class(kind, "__fields__")
    excluded = {
        name
        for name, field in (fields.items() if type(fields) is dict else ())
        if attribute(attribute(field, "field_info"), "exclude") is True
    }

    def read(copy: "Copy", value: object, depth: int) -> object:
        own = dict.items(instance_dict(value))
        return copy.mapping(
            [(k, v) for k, v in own if type(k) is str and k[0] != "_" and k not in excluded], depth
        )

    return read
