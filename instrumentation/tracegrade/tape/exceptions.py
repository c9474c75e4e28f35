"""Exceptions of tools as JSON, and again as exceptions.

A class is looked up among those that the program has loaded: replay imports nothing and calls no
constructor. So the tape also holds the attributes that the constructor set.
"""

import sys
from collections.abc import Mapping
from typing import Any, Final

from tracegrade.tape.plain_json import why_not_plain
from tracegrade.values.native_inspection import class_name, instance_dict, qualified_name

_BUILTINS: Final = "builtins"


class ReplayedError(Exception):
    """An error on a tape whose own class is not loaded; its class has that name, too."""


class ReplayMiss(RuntimeError):
    """A call that is not on the tape, or too often; the text names the nearest difference."""


def as_json(error: BaseException) -> dict[str, Any]:
    """Return an exception in the form for a tape, without values that JSON cannot hold."""
    arguments = [*vars(BaseException)["args"].__get__(error)]
    attributes = {
        name: value
        for name, value in dict.items(instance_dict(error))
        if why_not_plain({name: value}) is None
    }
    found: dict[str, Any] = {"type": qualified_name(type(error)), "message": _text(error)}
    if why_not_plain(arguments) is None:
        found["args"] = arguments
    if attributes:
        found["attributes"] = attributes
    return found


def from_json(found: Mapping[str, Any]) -> Exception:
    """Return the exception that a tape has."""
    name, message = str(found.get("type", "")), str(found.get("message", ""))
    kind = _loaded(name)
    if kind is None:
        return _nameless(name, message)
    try:
        return _made(kind, message, found.get("args", [message]), found.get("attributes", {}))
    except Exception:  # noqa: BLE001 - a class that is made otherwise
        return _nameless(name, message)


def _nameless(name: str, message: str) -> Exception:
    """Return an exception whose class has a name like that of one that is not loaded."""
    last = name.rpartition(".")[2]
    kind: type[Exception] = type(
        last if last.isidentifier() else ReplayedError.__name__, (ReplayedError,), {}
    )
    return kind(message)


def _made(
    kind: type[Exception], message: str, arguments: list[Any], attributes: Mapping[str, Any]
) -> Exception:
    """Return an exception of a class with this message, even if the class formats others."""
    error = kind.__new__(kind, *arguments)
    vars(error).update(attributes)
    if _text(error) == message:
        return error
    space = {"__str__": lambda _: message, "__module__": kind.__module__}
    saying: type[Exception] = type(kind.__name__, (kind,), space)
    error = saying.__new__(saying, *arguments)
    vars(error).update(attributes)
    return error


def _loaded(name: str) -> type[Exception] | None:
    """Return a class of exceptions by its name, without running code of its module."""
    parts = name.split(".")
    for count in range(len(parts) - 1, -1, -1):
        module = sys.modules.get(".".join(parts[:count]) or _BUILTINS)
        found: Any = module
        for part in parts[count:]:
            found = vars(found).get(part) if hasattr(found, "__dict__") else None
        if isinstance(found, type) and issubclass(found, Exception):
            return found
    return None


def _text(error: BaseException) -> str:
    try:
        return str(error).encode(errors="replace").decode()  # the agent will get this text again
    except Exception:  # noqa: BLE001 - a user's __str__ may raise anything
        return class_name(type(error))
