"""Classes whose methods must never run: each notes its call, and raises.

An instance is made by the base's own `__new__`, since its class cannot be called.
"""

import datetime as dt
import enum
from collections import UserDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import attr
import pydantic

sprung: Final[list[str]] = []
"""What was called."""

SPECIAL: Final = """
    abs add aenter aexit aiter and anext array array_function array_interface await bool bytes call
    complex contains copy deepcopy delattr delitem dir enter eq exit float format fspath ge get
    getitem getstate gt hash html index int invert iter json le len length_hint lt ne neg next or
    radd reduce reduce_ex repr reversed round set setattr setitem sizeof str sub trunc
"""
PLAIN: Final = """
    as_dict copy dict encode get items isoformat json keys lower model_dump replace startswith
    split to_dict to_json tolist utcoffset tzname dst value name values
"""
META: Final = "bool call eq getattribute hash instancecheck iter len ne repr str subclasscheck"
PROPERTIES: Final = ("__class__", "__doc__", "dtype", "shape", "args", "notes", "real", "year")


class Sprung(BaseException):
    """Says that code of the program was run."""


def _trap(place: str) -> Callable[..., Any]:
    def spring(*_: object, **__: object) -> Any:
        sprung.append(place)
        raise Sprung(place)

    return spring


def trap_names(kind: str) -> dict[str, Any]:
    """Return the namespace of a class full of traps."""
    names = [*(f"__{word}__" for word in SPECIAL.split()), *PLAIN.split()]
    methods = {name: _trap(f"{kind}.{name}") for name in names}
    asked = {name: property(_trap(f"{kind}.{name}")) for name in PROPERTIES}
    every = {name: _trap(f"{kind}.{name}") for name in ("__getattr__", "__getattribute__")}
    return {**methods, **asked, **every}


class MetaTrap(type):
    """A class that may not be asked either."""


for _word in META.split():
    setattr(MetaTrap, f"__{_word}__", _trap(f"MetaTrap.{_word}"))


def trapped(base: type, *content: Any) -> Any:
    """Return an object of a class full of traps that is derived from `base`."""
    meta: Any = MetaTrap if type(base) is type else type(base)
    kind = meta.__new__(meta, "Trap", (base,), trap_names(base.__name__))
    value = base.__new__(kind, *content)
    if base in (list, dict, set, deque):
        base.__init__(value, *content)
    return value


def trap() -> Any:
    """Return an object full of traps."""
    return trapped(object)


class _Zone(dt.tzinfo):
    utcoffset = dst = tzname = _trap("tzinfo")


@dataclass
class _Order:
    id: str
    inside: object


@dataclass(slots=True)
class _Slots:
    id: str
    inside: object


@attr.define(slots=False)
class _Attrs:
    id: str
    inside: object


def _filled(base: type, **fields: object) -> Any:
    value = trapped(base)
    for name, item in fields.items():
        object.__setattr__(value, name, item)
    return value


class _Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    id: str
    inside: Any = None

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def total(self) -> int:
        sprung.append("computed field")
        return 1

    @pydantic.field_serializer("id")
    def serialized(self, value: str) -> str:
        sprung.append("serializer")
        return value

    @pydantic.model_serializer
    def whole(self) -> dict[str, object]:
        sprung.append("model serializer")
        return {}

    def model_dump(self, **_: Any) -> dict[str, Any]:
        sprung.append("model_dump")
        return {}

    def __getattr__(self, name: str) -> Any:
        sprung.append("__getattr__")
        raise AttributeError(name)


class _Color(enum.Enum):
    RED = "red"

    @property
    def value(self) -> Any:
        sprung.append("value")
        return "blue"

    __str__ = __repr__ = __hash__ = _trap("Enum")


NAME: Final = "<tests.instrumentation.values.traps.Trap>"
ZONE: Final = "<tests.instrumentation.values.traps._Zone>"
ORDER: Final = {"id": "o-1", "inside": NAME}

WRITTEN: Final[dict[str, tuple[Any, object]]] = {
    "object": (trap(), NAME),
    "str": (trapped(str, "text"), "text"),
    "int": (trapped(int, 7), 7),
    "float": (trapped(float, 0.5), 0.5),
    "bytes": (trapped(bytes, b"abc"), "<3 bytes>"),
    "list": (trapped(list, [1, 2]), [1, 2]),
    "tuple": (trapped(tuple, (1, 2)), [1, 2]),
    "dict": (trapped(dict, {"id": "o-1"}), {"id": "o-1"}),
    "set": (trapped(set, {1}), [1]),
    "frozenset": (trapped(frozenset, {1}), [1]),
    "deque": (trapped(deque, [1]), [1]),
    "Decimal": (trapped(Decimal, "1.50"), "1.50"),
    "datetime": (trapped(dt.datetime, 2026, 1, 2), "2026-01-02T00:00:00"),
    "date": (trapped(dt.date, 2026, 1, 2), "2026-01-02"),
    "time": (trapped(dt.time, 1, 2), "01:02:00"),
    "timedelta": (trapped(dt.timedelta, 1), "1 day, 0:00:00"),
    "tzinfo": (dt.datetime(2026, 1, 2, tzinfo=_Zone()), f"2026-01-02T00:00:00{ZONE}"),
    "exception": (trapped(ValueError, "no"), "no"),
    "class": (type(trap()), "<class 'tests.instrumentation.values.traps.Trap'>"),
    "enum": (_Color.RED, "red"),
    "UserDict": (_filled(UserDict, data={"id": "o-1"}), {"id": "o-1"}),
    "dataclass": (_filled(_Order, id="o-1", inside=trap()), ORDER),
    "dataclass with slots": (_filled(_Slots, id="o-1", inside=trap()), ORDER),
    "attrs": (_filled(_Attrs, id="o-1", inside=trap()), ORDER),
    "pydantic": (_Model(id="o-1", inside=trap()), ORDER),
}
"""Objects full of traps, and what JSON says of each."""
