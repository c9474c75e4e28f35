"""Tools that are awaited: the call lasts from the first step to the last one.

Before the first step a program sees no difference. Wrong arguments are refused when the tool is
called, and Python warns once about a coroutine that was never awaited.
"""

import functools
import inspect
import weakref
from collections.abc import Callable
from types import CoroutineType
from typing import Any, Final, TypeAlias

from tracegrade.attachment import current
from tracegrade.call import Call, WrappedTool, begin, fail, finish, refuse
from tracegrade.wrapping.frames import code_flags, leave_traceback, named_as, unseen

Coroutine: TypeAlias = "CoroutineType[Any, Any, Any]"

_not_begun: Final[dict[int, "weakref.ref[Coroutine]"]] = {}
"""tracegrade's coroutines that are not awaited yet, by the `id` of the tool's coroutine inside."""


def coroutine(function: Callable[..., Any], target: Any, tool: WrappedTool) -> Callable[..., Any]:
    """Return a function whose coroutines do as those of `function` and write the call down."""

    @named_as(target)
    async def delegate(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = Call(tool)
        try:
            begin(call, args, kwargs)
            result = await function(*args, **kwargs)
            finish(call, result)
        except BaseException as error:
            leave_traceback(error)
            fail(call, error)
            raise
        finally:
            call.close()
        return result

    @unseen
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            function(*args, **kwargs).close()
        except BaseException as error:  # it does not take these arguments
            leave_traceback(error)
            refuse(tool, args, kwargs, error)
            raise
        return delegate(args, kwargs)

    @unseen
    def run_later(*args: Any, **kwargs: Any) -> Any:
        return delegate(args, kwargs)

    return run if code_flags(target) & inspect.CO_COROUTINE else run_later  # by an `async def`


def resumed(call: Call, running: Coroutine) -> Any:
    """Return a coroutine that does as `running` and ends the call when that is done."""

    @named_as(running)
    async def resume() -> Any:
        _not_begun.pop(id(running), None)
        try:
            call.attach(current())
            result = await running
            finish(call, result)
        except BaseException as error:
            leave_traceback(error)
            fail(call, error)
            raise
        finally:
            call.close()
        return result

    ours: Any = resume()
    _not_begun[id(running)] = weakref.ref(ours, functools.partial(_forget, running))
    return ours


def _forget(running: Coroutine, _: object) -> None:
    """Close the tool's coroutine if tracegrade's was deleted without being awaited."""
    if _not_begun.pop(id(running), None) is not None:
        running.close()
