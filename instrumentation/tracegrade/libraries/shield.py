"""Keeps instrumentors from breaking tools with an argument named `method`.

Several of OpenInference's (for CrewAI, smolagents, DSPy, AutoGen, agno) pass a call's arguments by
name to helpers whose own first parameter is named `method`. So such a tool would fail instead of
being called. This module looks for the faulty helpers; instrumentors without them are unchanged.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, Final

from tracegrade.guard import guarded

_NAME: Final = "method"
_TAKEN_ON: Final = [
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
]
"""The helpers' parameters: the function that is called, and all its arguments."""


@guarded
def shield(package: str) -> None:
    """Make the helpers of a loaded instrumentor's package accept an argument named `method`."""
    modules = [
        module
        for name, module in list(sys.modules.items())
        if name == package or name.startswith(f"{package}.")
    ]
    for module in modules:
        for helper in _functions(module):
            if _is_breakable(helper):
                helper.__code__ = helper.__code__.replace(co_posonlyargcount=1)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for each in list(vars(module).values()):
        if inspect.isfunction(each):
            yield each


def _is_breakable(helper: Callable[..., Any]) -> bool:
    parameters = list(inspect.signature(helper).parameters.values())
    return [each.kind for each in parameters] == _TAKEN_ON and parameters[0].name == _NAME
