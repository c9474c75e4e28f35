"""Our frames between a host's own: neither its tracebacks nor its warnings show them.

A traceback that has one more entry is other output, and `warnings.warn(stacklevel=2)` in a tool
would blame us in its caller's stead, whose own filters would not find it then.
"""

import functools
from collections.abc import Callable
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., object])

_SKIPPED: Final = "<tracegrade, passed over as importlib._bootstrap is>"
"""`warnings` and `logging` pass over files whose name holds `importlib` and `_bootstrap`."""


def unseen(function: F) -> F:
    """Hide a function of tracegrade that calls the host's code from lists of callers."""
    function.__code__ = function.__code__.replace(co_filename=_SKIPPED)
    return function


def named_as(original: Any) -> Callable[[F], F]:
    """Return a decorator: unseen, and what it makes (a coroutine, say) has the original's name."""
    original = _below_partials(original)

    def named(function: F) -> F:
        for name in ("__name__", "__qualname__"):
            setattr(function, name, getattr(original, name, getattr(function, name)))
        return unseen(function)

    return named


def leave_traceback(error: BaseException) -> None:
    """Take the frame that caught an exception out of its traceback; raise it again by `raise`."""
    trace = error.__traceback__
    if trace is not None:
        error.__traceback__ = trace.tb_next


def code_flags(function: Any) -> int:
    """Return the flags of a function's code, which say what a call makes; 0 if it has none."""
    flags: int = getattr(getattr(_below_partials(function), "__code__", None), "co_flags", 0)
    return flags


def _below_partials(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function
