"""Reads an exception's message without running code of the program.

The message of Python's own exceptions is built from their arguments. This also holds for classes
that inherit `__str__` from them, and for those of well-known libraries if their values are plain.
A class with its own `__str__` is described by the exception's arguments, or its attributes.
"""

import sys
import traceback
from collections.abc import Callable, Iterator
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final

from tracegrade.values.native_inspection import (
    bases_of,
    instance_dict,
    is_kind,
    is_native,
    is_of_module,
    module_name,
    namespace_of,
    qualified_name,
)

_LIBRARY_NAMES: Final = """
    aiohttp aiosqlite anthropic anyio asyncpg azure boto3 botocore celery click cryptography
    django docker elasticsearch fastapi fsspec google grpc httpcore httpx huggingface_hub jinja2
    jsonschema jwt kombu kubernetes langchain langchain_core langgraph litellm lxml marshmallow
    mcp mysql numpy openai opensearchpy pandas paramiko playwright polars psycopg psycopg2
    pyarrow pydantic pydantic_core pymongo pymysql redis referencing requests selenium sqlalchemy
    starlette stripe tenacity tornado urllib3 websockets yaml
"""
_LIBRARIES: Final = frozenset(_LIBRARY_NAMES.split())
"""Packages whose exceptions' `__str__` only formats their values, without calls to other objects.
"""
_INERT: Final = frozenset(
    {"aiohttp", "grpc", "httpx", "multidict", "pydantic", "requests", "urllib3", "yaml", "yarl"}
)
"""Packages whose objects may be values of such an exception."""

_VALIDATION: Final = "pydantic_core._pydantic_core.ValidationError"
_MAX_DEPTH: Final = 6
_MAX_PARTS: Final = 1000
_MAX_CHAIN: Final = 20
_MAX_MEMBERS: Final = 15
_MAX_INPUT_CHARS: Final = 50
_ATOMS: Final = (str, int, float, bool, type(None), bytes, complex, type)
_BASE: Final = vars(BaseException)

ShowArgument = Callable[[object], Any]
"""Returns a value in a form for JSON."""


def message_of(error: BaseException, as_text: ShowArgument, *, by_str: bool = False) -> str:
    """Return an exception's message.

    Args:
        error: The exception.
        as_text: Formats a value in it that is not plain.
        by_str: Whether to call its own `__str__`, with any effect that has.
    """
    if by_str or _says_itself(error, set()):
        return str.__str__(str(error))
    if qualified_name(type(error)) == _VALIDATION and is_of_module(type(error)):
        return _validation(error, as_text)
    parts = [as_text(part) for part in _arguments(error)]
    if not parts:
        return ", ".join(f"{name}={value!r}" for name, value in _plain_attributes(error, as_text))
    return str(parts[0] if len(parts) == 1 else tuple(parts))


def _arguments(error: BaseException) -> tuple[object, ...]:
    return tuple(tuple.__iter__(_BASE["args"].__get__(error)))


def _plain_attributes(error: BaseException, as_text: ShowArgument) -> Iterator[tuple[str, object]]:
    """Yield the attributes of an exception whose values are plain."""
    for name, value in list(dict.items(instance_dict(error)))[:_MAX_MEMBERS]:
        if type(name) is str and name[:1] != "_" and any(type(value) is kind for kind in _ATOMS):
            yield name, as_text(value)


def _says_itself(error: BaseException, seen: set[int]) -> bool:
    """Return whether `str()` of an exception runs no code of the program; `seen` are others."""
    if id(error) in seen:
        return True
    seen.add(id(error))
    saying = next(base for base in bases_of(type(error)) if "__str__" in namespace_of(base))
    inside: list[object] = [*_arguments(error)]
    if saying is BaseExceptionGroup:
        inside = [namespace_of(saying)["message"].__get__(error)]
    elif saying is not BaseException and module_name(saying) == "builtins":
        inside += _native(saying, error)
    elif saying is not BaseException:
        if not _is_of_library(saying) or qualified_name(saying) == _VALIDATION:
            return False
        inside += dict.values(instance_dict(error))
    return _is_plain(inside, seen, is_library=module_name(saying) != "builtins")


def _native(saying: type, error: BaseException) -> Iterator[object]:
    """Yield the members, such as a file, of one of Python's own exceptions."""
    for name, field in namespace_of(saying).items():
        kind = type(field)
        if (kind is MemberDescriptorType or kind is GetSetDescriptorType) and name[:2] != "__":
            try:
                yield field.__get__(error)
            except AttributeError:
                continue


def _is_of_library(kind: type) -> bool:
    package = module_name(kind).partition(".")[0]
    return (package in sys.stdlib_module_names or package in _LIBRARIES) and is_of_module(kind)


def _is_plain(values: Any, seen: set[int], *, is_library: bool) -> bool:
    """Return whether `str()` of values, and `repr()`, runs no code of the program."""
    waiting: list[Any] = [values]
    for value in waiting:  # which grows
        kind = type(value)
        if len(waiting) > _MAX_PARTS:
            return False
        if kind is list or kind is tuple or kind is set or kind is frozenset:
            waiting += value
        elif kind is dict:
            waiting += [*value.keys(), *value.values()]
        elif not (any(kind is atom for atom in _ATOMS) or _may_say(value, seen, is_library)):
            return False
    return True


def _may_say(value: object, seen: set[int], is_library: bool) -> bool:
    kind = type(value)
    if is_kind(value, BaseException):
        return len(seen) < _MAX_CHAIN and _says_itself(value, seen)  # type: ignore[arg-type]
    if is_kind(value, type):
        return is_native(kind, "__repr__")
    package = module_name(kind).partition(".")[0]
    if package in ("datetime", "decimal", "uuid", "pathlib"):
        return is_of_module(kind)
    return is_library and package in _INERT and is_of_module(kind)


def _validation(error: Any, as_text: ShowArgument) -> str:
    """Return pydantic's message about a refused value, with objects replaced."""
    faults = error.errors(include_url=False, include_context=False)
    plural = "" if len(faults) == 1 else "s"
    lines = [f"{len(faults)} validation error{plural} for {error.title}"]
    for fault in faults:
        given = repr(as_text(fault["input"]))[:_MAX_INPUT_CHARS]
        of_type = qualified_name(type(fault["input"]))
        what = f"type={fault['type']}, input_value={given}, input_type={of_type}"
        location = ".".join(map(str, fault["loc"]))
        lines += [*([location] if location else []), f"  {fault['msg']} [{what}]"]
    return "\n".join(lines)


def traceback_of(error: BaseException, message: Callable[[BaseException], str]) -> str:
    """Return an exception's traceback with its causes, as Python prints it.

    Args:
        error: The exception.
        message: Returns an exception's message.
    """
    return "".join(_chain(error, message, _MAX_DEPTH))


_CAUSE: Final = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT: Final = "\nDuring handling of the above exception, another exception occurred:\n\n"


def _chain(error: BaseException, message: Callable[[BaseException], str], depth: int) -> list[str]:
    blocks: list[list[str]] = []
    seen: set[int] = set()
    current: BaseException | None = error
    link = ""
    while current is not None and id(current) not in seen and len(seen) < _MAX_CHAIN:
        seen.add(id(current))
        blocks.append([*_one(current, message, depth), link])
        cause = _BASE["__cause__"].__get__(current)
        link = _CONTEXT if cause is None else _CAUSE
        is_hidden = _BASE["__suppress_context__"].__get__(current)
        context = None if is_hidden else _BASE["__context__"].__get__(current)
        current = context if cause is None else cause
    return [line for block in reversed(blocks) for line in block]


def _one(error: BaseException, message: Callable[[BaseException], str], depth: int) -> list[str]:
    trace = _BASE["__traceback__"].__get__(error)
    lines = ["Traceback (most recent call last):\n"] if trace is not None else []
    if trace is not None:
        lines += traceback.StackSummary.format(traceback.extract_tb(trace))
    text = message(error)
    lines.append(f"{qualified_name(type(error))}{': ' if text else ''}{text}\n")
    notes = dict.get(instance_dict(error), "__notes__")
    lines += [f"{note}\n" for note in notes if type(note) is str] if type(notes) is list else []
    return lines + (_members(error, message, depth) if is_kind(error, BaseExceptionGroup) else [])


def _members(error: Any, message: Callable[[BaseException], str], depth: int) -> list[str]:
    members = vars(BaseExceptionGroup)["exceptions"].__get__(error)
    lines: list[str] = []
    for number, member in enumerate(members[:_MAX_MEMBERS] if depth > 0 else (), 1):
        inner = "".join(_chain(member, message, depth - 1)).splitlines()
        lines += [f"  +---------------- {number} ----------------\n"]
        lines += [f"    | {line}\n" for line in inner]
    return lines
