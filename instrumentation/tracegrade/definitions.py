"""Offered tools as GenAI tool definitions: name, description and a JSON schema of the arguments.

The schema follows the signature exactly. An annotation that JSON cannot express leaves its
argument unconstrained, so a validator never refuses a call that the tool would accept.
"""

import functools
import inspect
import types
import typing
from collections import UserDict
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, Literal, Union

from tracegrade.content import plain_of
from tracegrade.state import state
from tracegrade.tools import described, name_of
from tracegrade.values.native_inspection import MISSING, class_name, is_kind, on_class
from tracegrade.values.reading import is_class
from tracegrade.wrapping.proxy import is_proxy

DefinitionPart = dict[str, Any]

_SCALARS: Final[Mapping[object, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
_ARRAYS: Final = (list, set, frozenset, tuple, Sequence)


def definition_of(tool: Callable[..., Any] | Mapping[str, Any]) -> DefinitionPart:
    """Return one tool's definition; a given definition is returned unchanged.

    An object that can be called is described by the `__call__` of its class, not by itself.
    """
    if any(is_kind(tool, mapping) for mapping in (dict, UserDict, MappingProxyType)):
        definition: DefinitionPart = plain_of(tool, state.settings)
        return definition
    if is_class(tool):
        return _made(class_name(tool), on_class(tool, "__init__"))  # type: ignore[arg-type]
    if not (is_proxy(tool) or any(type(tool) is kind for kind in _CALLABLE_TYPES)):
        return _made(class_name(type(tool)), on_class(type(tool), "__call__"))
    wrapped = described(tool)
    return _made(wrapped.name if wrapped is not None else name_of(tool), tool)  # type: ignore[arg-type]


_CALLABLE_TYPES: Final = (
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodType),
    *(types.MethodDescriptorType, functools.partial),
)
"""Callables that describe their own arguments."""


def _made(name: str, function: Any) -> DefinitionPart:
    definition = {"type": "function", "name": name}
    description = inspect.getdoc(function) if inspect.isroutine(function) else None
    if description:
        definition["description"] = description
    return {**definition, "parameters": _parameters(function)}


def _parameters(tool: Callable[..., Any]) -> DefinitionPart:
    try:
        parameters = inspect.signature(tool).parameters.values()
    except (TypeError, ValueError):  # some C functions have no signature
        return {"type": "object"}
    hints = _hints(tool)
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    named = [p for p in named if p.name not in {"self", "cls"}]
    schema: DefinitionPart = {
        "type": "object",
        "properties": {p.name: schema_of(hints.get(p.name, Any)) for p in named},
        "required": [p.name for p in named if p.default is p.empty],
    }
    if all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters):
        schema["additionalProperties"] = False
    return schema


def _hints(tool: Callable[..., Any]) -> dict[str, Any]:
    function = inspect.unwrap(tool)
    try:
        return typing.get_type_hints(function)
    except Exception:  # noqa: BLE001 - a name that only a type checker sees; without types, then
        return {}


def schema_of(hint: object) -> DefinitionPart:
    """Return the JSON schema of a type hint; {} (anything) if JSON cannot express it."""
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return schema_of(typing.get_args(hint)[0])
    if origin is Literal:
        return {"enum": list(typing.get_args(hint))}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(part) for part in typing.get_args(hint)]}
    return _class_schema(hint, origin if origin is not None else hint)


def _class_schema(hint: object, kind: object) -> DefinitionPart:
    if not isinstance(kind, type):
        return {}
    if issubclass(kind, Enum):
        return {"enum": [member.value for member in kind]}
    if issubclass(kind, _ARRAYS) and not issubclass(kind, (str, bytes)):
        items = schema_of(next(iter(typing.get_args(hint)), Any))
        is_uniform = kind is not tuple  # the items of a tuple differ
        return {"type": "array", "items": items} if is_uniform and items else {"type": "array"}
    if on_class(kind, "model_json_schema") is not MISSING:  # pydantic
        made: DefinitionPart = kind.model_json_schema()  # type: ignore[attr-defined]
        return made
    return {"type": "object"} if issubclass(kind, Mapping) else {}
