"""Finds the reader for objects of a class: the program's, a known class's, or none.

The result is cached as long as the class exists, by its address: a metaclass may have a `__hash__`
of its own.
"""

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from tracegrade.guard import came_by_signal, report, say
from tracegrade.values import libraries, plain_types, records
from tracegrade.values.native_inspection import bases_of, named, qualified_name

if TYPE_CHECKING:
    from tracegrade.values.copying import Copy

T = TypeVar("T")


class ObjectReader(NamedTuple):
    """Reads the objects of a class."""

    read: Callable[["Copy", Any, int], object]
    """Takes the copy that is made, the object, and how deep in other values it stands."""
    is_plain: bool = False
    """Whether it is of a plain type, which a tool's `render=` does not get."""


_registered: Final[dict[int, tuple[type, Callable[[Any], object]]]] = {}
_known: Final[dict[int, tuple["weakref.ref[type]", ObjectReader]]] = {}


def register_renderer(cls: type[T], render: Callable[[T], object]) -> None:
    """Say how objects of a class, and of those derived from it, are written in spans.

        tracegrade.register_renderer(QuerySet, lambda query: str(query.query))
        tracegrade.register_renderer(Order, vars)

    Without it, an object of a class that is not known (see `init(objects=...)`) is written as the
    name of its class, since its own methods may take locks, ask a database or another process. It
    holds for arguments, results and all other values of a step, inside of others, too; a tool's
    own `render=` comes before it, and the nearest base class counts. What fails is counted and
    said once, and the name of the class is written.

    Args:
        cls: The class. Python's own plain types (`str`, `dict`, ...) are always written as JSON.
        render: Returns what is written: a text, or anything else of plain types. It runs during
            the call, so it should be quick.
    """
    if not is_class(cls) or not callable(render):
        say("register_renderer", "register_renderer takes a class and what renders its objects")
        return
    _registered[id(cls)] = (cls, render)
    _known.clear()


def is_class(value: object) -> bool:
    """Return whether a value is a class."""
    return any(base is type for base in bases_of(type(value)))


def reader_of(kind: type) -> ObjectReader:
    """Return how the objects of a class are read."""
    found = _known.get(id(kind))
    if found is not None and found[0]() is kind:
        return found[1]
    reader = _found(kind)
    address = id(kind)
    _known[address] = (weakref.ref(kind, lambda _: _known.pop(address, None)), reader)
    return reader


def rendered(render: Callable[[Any], object], value: object) -> object:
    """Return the program's form of an object; its class's name if that fails."""
    try:
        return render(value)
    except BaseException as error:
        if came_by_signal(error):
            raise
        report(f"render of {qualified_name(type(value))}", error)
        return named(type(value))


def _found(kind: type) -> ObjectReader:
    plain = plain_types.exact_reader(kind)
    if plain is not None:
        return ObjectReader(plain, is_plain=True)
    for base in bases_of(kind):
        if id(base) in _registered:
            return _rendering(_registered[id(base)][1])
    if read := libraries.scalar_reader(kind) or plain_types.derived_reader(kind):
        return ObjectReader(read, is_plain=True)
    return ObjectReader(libraries.reader(kind) or records.reader(kind) or _unknown)


def _rendering(render: Callable[[Any], object]) -> ObjectReader:
    return ObjectReader(lambda copy, value, depth: copy.of(rendered(render, value), depth + 1))


def _unknown(copy: "Copy", value: object, _: int) -> object:
    return copy.text(str(value) if copy.rules.by_str else named(type(value)))
