"""Keeps instrumentors from breaking tools with an argument named `method`.

OpenInference's for CrewAI and smolagents hand a call's arguments by name to a helper whose own
first parameter is named `method`, so such a tool would fail instead of being called. The fault is
theirs and is looked for: a helper whose first parameter cannot be named is left as it is.
"""

import inspect
import json
import sys
from collections.abc import Callable
from typing import Any, Final

from tracegrade.guard import guarded

_HELPER: Final = "_get_input_value"
_NAME: Final = "method"


@guarded
def shield(package: str) -> None:
    """Make the helper of a loaded instrumentor's package bear an argument named `method`."""
    for name in (package, f"{package}._wrappers"):
        module = sys.modules.get(name)
        helper = getattr(module, _HELPER, None)
        if callable(helper) and _is_breakable(helper):
            setattr(module, _HELPER, _shielded(helper))


def _is_breakable(helper: Callable[..., str]) -> bool:
    first = next(iter(inspect.signature(helper).parameters.values()), None)
    return first is not None and first.name == _NAME and first.kind is not first.POSITIONAL_ONLY


def _shielded(helper: Callable[..., str]) -> Callable[..., str]:
    def get_input_value(wrapped: Any, /, *args: Any, **kwargs: Any) -> str:
        if _NAME not in kwargs:
            return helper(wrapped, *args, **kwargs)
        try:
            named = inspect.signature(wrapped).bind_partial(*args, **kwargs).arguments
        except (TypeError, ValueError):
            named = kwargs
        return json.dumps(dict(named), default=repr, ensure_ascii=False)

    return get_input_value
