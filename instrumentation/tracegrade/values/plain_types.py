"""Readers of Python's own types and their subclasses, with the methods of the base.

A subclass may have its own `items`, `__iter__` or `__str__`, which is code of the program.
"""

import datetime as dt
import gc
import types
from collections import OrderedDict, UserDict, UserList, UserString, deque
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from pathlib import PosixPath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from tracegrade.values.errors import message_of
from tracegrade.values.native_inspection import (
    ValueReader,
    attribute,
    bases_of,
    instance_dict,
    module_name,
    named,
    qualified_name,
    slot,
)

if TYPE_CHECKING:
    from tracegrade.values.copying import Copy


def exact_reader(kind: type) -> ValueReader | None:
    """Return the reader for objects of exactly this type, None if it is not Python's own."""
    return _EXACT.get(id(kind)) or _DERIVED.get(id(kind))


def derived_reader(kind: type) -> ValueReader | None:
    """Return how objects of a class that is derived from one of Python's own are read."""
    return next((_DERIVED[id(base)] for base in bases_of(kind) if id(base) in _DERIVED), None)


def listed(value: Any) -> list[Any]:
    """Return the items of one of Python's own containers; [] of anything else."""
    for base in bases_of(type(value)):
        if any(base is kind for kind in (list, tuple, set, frozenset, dict, deque)):
            return list(base.__iter__(value))
    return []


def _text_by(method: Callable[[Any], object]) -> ValueReader:
    return lambda copy, value, _: copy.text(method(value))


def _items_by(method: Callable[[Any], Any]) -> ValueReader:
    return lambda copy, value, depth: copy.items(method(value), depth)


def _mapping_by(method: Callable[[Any], Any]) -> ValueReader:
    return lambda copy, value, depth: copy.mapping(method(value), depth)


def _attribute_by(name: str) -> ValueReader:
    return lambda copy, value, depth: copy.of(attribute(value, name), depth + 1)


def _number_by(method: Callable[[Any], object]) -> ValueReader:
    return lambda copy, value, _: copy.number(method(value))


def _set(method: Callable[[Any], Any]) -> ValueReader:
    """Return a reader that sorts, so that equal sets have equal texts."""

    def read(copy: "Copy", value: Any, depth: int) -> object:
        was_cut = copy.is_cut
        copied = copy.items(method(value), depth)
        rest = [copied.pop()] if copy.is_cut > was_cut and copied[-1:] == ["..."] else []
        return sorted(copied, key=repr) + rest

    return read


def _proxied(copy: "Copy", value: object, depth: int) -> object:
    """Read a `mappingproxy`, whose own methods are the only way to its content."""
    return copy.of(gc.get_referents(value)[0], depth + 1)


_DATETIME: Final = vars(dt.datetime)
_TIME: Final = vars(dt.time)
_DAY: Final = ("year", "month", "day")
_CLOCK: Final = ("hour", "minute", "second", "microsecond")
_ZONES: Final = frozenset({"dateutil", "pandas", "pendulum", "pytz", "zoneinfo"})
"""Packages whose time zones look up their offset in a table, so they may be called."""


def _moment(copy: "Copy", value: Any, _: int) -> object:
    parts: Any = [vars(dt.date)[part].__get__(value) for part in _DAY]
    parts += [_DATETIME[part].__get__(value) for part in _CLOCK]
    zone, more = _zone(_DATETIME["tzinfo"].__get__(value))
    fold = _DATETIME["fold"].__get__(value)
    moment = dt.datetime(*parts, fold=fold)  # noqa: DTZ001 - the zone, if it has one, comes next
    return copy.text(moment.replace(tzinfo=zone).isoformat() + more)


def _time(copy: "Copy", value: Any, _: int) -> object:
    parts: Any = [_TIME[part].__get__(value) for part in _CLOCK]
    zone, more = _zone(_TIME["tzinfo"].__get__(value))
    return copy.text(dt.time(*parts).replace(tzinfo=zone).isoformat() + more)


def _zone(zone: Any) -> tuple[dt.tzinfo | None, str]:
    """Return a time zone that may be asked, and the name of one that may not."""
    kind = type(zone)
    is_known = kind is dt.timezone or module_name(kind).partition(".")[0] in _ZONES
    return (zone, "") if zone is None or is_known else (None, named(kind))


def _uuid(value: object) -> str:
    return str(UUID(int=slot(value, "int")))


_FUNCTION: Final = vars(types.FunctionType)
_BUILTIN: Final = vars(types.BuiltinFunctionType)


def _function(value: Any) -> str:
    name, module = (_FUNCTION[part].__get__(value) for part in ("__qualname__", "__module__"))
    return f"<function {f'{module}.' if type(module) is str else ''}{str.__str__(name)}>"


def _builtin(value: types.BuiltinFunctionType) -> str:
    return f"<built-in function {_BUILTIN['__name__'].__get__(value)}>"


def _method(value: types.MethodType) -> str:
    function = value.__func__
    return _function(function) if type(function) is types.FunctionType else named(type(value))


def _error(copy: "Copy", value: Any, depth: int) -> object:
    def as_text(part: object) -> object:
        return copy.of(part, depth + 1)

    return copy.text(message_of(value, as_text, by_str=copy.rules.by_str))


def _sizes(kind: type) -> ValueReader:
    return _text_by(lambda value: f"<{kind.__len__(value)} bytes>")  # type: ignore[attr-defined]


def _by_address(readers: dict[type, ValueReader]) -> dict[int, ValueReader]:
    return {id(kind): read for kind, read in readers.items()}


_VIEWS: Final[tuple[object, ...]] = ({}.keys(), {}.values(), {}.items())

_DERIVED: Final = _by_address(
    {
        str: _text_by(str.__str__),
        int: _number_by(int.__int__),
        float: _number_by(float.__float__),
        complex: _text_by(complex.__repr__),
        bytes: _sizes(bytes),
        bytearray: _sizes(bytearray),
        dict: _mapping_by(dict.items),
        list: _items_by(list.__iter__),
        tuple: _items_by(tuple.__iter__),
        deque: _items_by(deque.__iter__),
        set: _set(set.__iter__),
        frozenset: _set(frozenset.__iter__),
        UserDict: _attribute_by("data"),
        UserList: _attribute_by("data"),
        UserString: _attribute_by("data"),
        Enum: _attribute_by("_value_"),
        Decimal: _text_by(Decimal.__str__),
        dt.datetime: _moment,
        dt.date: _text_by(dt.date.isoformat),
        dt.time: _time,
        dt.timedelta: _text_by(dt.timedelta.__str__),
        UUID: _text_by(_uuid),
        types.SimpleNamespace: _mapping_by(lambda value: dict.items(instance_dict(value))),
        type: _text_by(lambda value: f"<class '{qualified_name(value)}'>"),
        BaseException: _error,
    }
)
"""Types whose own methods also read objects of derived classes."""

_EXACT: Final = _by_address(
    {
        OrderedDict: _mapping_by(OrderedDict.items),
        memoryview: _text_by(lambda value: f"<{value.nbytes} bytes>"),
        range: _text_by(range.__repr__),
        types.MappingProxyType: _proxied,
        types.FunctionType: _text_by(_function),
        types.BuiltinFunctionType: _text_by(_builtin),
        types.MethodType: _text_by(_method),
        type(...): _text_by(repr),
        dt.timezone: _text_by(str),
        **dict.fromkeys((PurePosixPath, PureWindowsPath, PosixPath, WindowsPath), _text_by(str)),
        **{type(view): _items_by(iter) for view in _VIEWS},
    }
)
"""Types with a reader of their own, except for derived classes."""
