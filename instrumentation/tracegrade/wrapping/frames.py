"""Hides tracegrade's frames between a host's own from its tracebacks and warnings.

A traceback with one more entry would change a program's output. `warnings.warn(stacklevel=2)` in a
tool would blame tracegrade instead of its caller, and the caller's filters would not match.
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
    """Return a decorator that hides a function and gives it the original's name."""
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
    """Return the flags of a function's code, which describe its calls; 0 without code."""
    flags: int = getattr(getattr(_below_partials(function), "__code__", None), "co_flags", 0)
    return flags


def _below_partials(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function
