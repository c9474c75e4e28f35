"""A call's arguments by parameter name, as a model would have written them.

Only arguments that were passed: defaults belong to the tool. `self` and `cls` are left out, and so
are arguments that a framework adds to the model's. Entries of `**kwargs` are listed like named
arguments.
"""

import inspect
from collections.abc import Callable
from typing import Any

from tracegrade.values.injected import asks_for_context, is_context

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Parameters:
    """The names of a callable's arguments in its records."""

    def __init__(self, function: Callable[..., Any]) -> None:
        parameters = _parameters(function)
        self.positional = [p.name for p in parameters if p.kind in POSITIONAL]
        """In order; the receiver of a method first, if the callable takes it."""
        self._rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
        self._injected = [p.name for p in parameters if asks_for_context(p.annotation)]
        self._receiver = self.positional[:1] if self.positional[:1] in (["self"], ["cls"]) else []

    def by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of one call by parameter name."""
        named = dict(zip(self.positional, args, strict=False))
        for name in self._receiver:
            named.pop(name, None)
        if len(args) > len(self.positional):
            named[self._rest] = args[len(self.positional) :]
        named.update(kwargs)
        for name in (*self._injected, *_contexts(named)):
            named.pop(name, None)
        return named


def _contexts(named: dict[str, Any]) -> list[str]:
    """Return the names of arguments that no model wrote; JSON's own types need no look."""
    return [
        name
        for name, value in named.items()
        if not (
            (kind := type(value)) is str
            or kind is int
            or kind is float
            or kind is bool
            or kind is list
            or kind is dict
            or value is None
        )
        and is_context(kind)
    ]


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some C functions have no signature
        return []
