"""Rebuilds a tool's result from its text in a span: the text itself, or JSON.

Spans do not distinguish the two. The return type in the tool's signature does.
"""

import json
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, Union

_AS_JSON: Final = frozenset(
    {
        *(bool, dict, float, int, list, object, type(None)),
        *(Collection, Iterable, Mapping, Sequence),
    }
)
"""Types that can be restored from JSON."""


class ResultNotText(Exception):
    """The text is all that a tape has, and the tool gives something else."""


def result_of(text: str, function: Callable[..., Any]) -> Any:
    """Return a tool's result from its text in a span.

    If the signature has no return type, the result is the text's JSON, if it is any.

    Raises:
        ResultNotText: The return type is neither a text nor restorable from JSON.
    """
    kinds = _kinds(_returned(function))
    strange = [kind for kind in kinds if isinstance(kind, type) and not _is_plain(kind)]
    if strange:
        msg = f"it returns a {strange[0].__name__}, and the tape has its text alone; record it"
        raise ResultNotText(msg)
    if [*kinds] == [str]:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    is_other = not isinstance(value, (dict, list)) and value is not None
    return text if str in kinds and is_other else value


def _returned(function: Callable[..., Any]) -> object:
    try:
        return typing.get_type_hints(function).get("return", Any)
    except Exception:  # noqa: BLE001 - a name that only a type checker sees
        return Any


def _kinds(hint: object) -> list[object]:
    """Return the types that a hint allows, without their parameters in brackets."""
    if hint is Any:  # a class, from Python 3.11 on
        return [object]
    origin = typing.get_origin(hint)
    if origin in {Union, types.UnionType}:
        return [kind for part in typing.get_args(hint) for kind in _kinds(part)]
    if origin is typing.Annotated:
        return _kinds(typing.get_args(hint)[0])
    if origin is Literal:
        return [type(value) for value in typing.get_args(hint)]
    return [hint if origin is None else origin]


def _is_plain(kind: type) -> bool:
    return kind is str or kind in _AS_JSON or typing.is_typeddict(kind)
