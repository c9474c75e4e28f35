"""A call's arguments by parameter name, as a model would have written them.

Only what was passed: defaults are the tool's own business. `self` and `cls` are left out, and what
`**kwargs` takes stands beside the rest.
"""

import inspect
from collections.abc import Callable
from typing import Any

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Parameters:
    """The names under which a callable's arguments are written down."""

    def __init__(self, function: Callable[..., Any]) -> None:
        parameters = _parameters(function)
        self.positional = [p.name for p in parameters if p.kind in POSITIONAL]
        """In order; the receiver of a method first, if the callable takes it."""
        self._rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
        self._receiver = self.positional[:1] if self.positional[:1] in (["self"], ["cls"]) else []

    def by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of one call by parameter name."""
        named = dict(zip(self.positional, args, strict=False))
        for name in self._receiver:
            named.pop(name, None)
        if len(args) > len(self.positional):
            named[self._rest] = args[len(self.positional) :]
        named.update(kwargs)
        return named


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some C functions have no signature
        return []
