"""`tool`: wraps what an agent calls, so that each call becomes a span and an observation.

    @tracegrade.tool(effect="read", cost=1)
    def search_orders(customer: str) -> list[dict]: ...

    fetch = tracegrade.tool(effect="read")(some.library.fetch)     # also what you do not own

The wrapper is of the same kind as what it wraps (plain, coroutine, generator, async generator),
since frameworks ask. Results and exceptions pass through unchanged.
"""

import functools
import inspect
import os
from collections.abc import Callable
from types import CoroutineType
from typing import Any, Literal, ParamSpec, TypeVar, overload

from tracegrade.arguments import Parameters
from tracegrade.call import Call, WrappedTool, begin, fail, finish
from tracegrade.generators import async_generator, generator
from tracegrade.guard import came_by_signal, expect, expect_number, report, say
from tracegrade.steps import EFFECTS

P = ParamSpec("P")
R = TypeVar("R")

Effect = Literal["read", "write", "destructive"]
TOOL_ATTRIBUTE = "__tracegrade_tool__"
TAPE = "TRACEGRADE_TOOLS"
"""Names the socket of the harness, where it takes calls down or answers them."""


@overload
def tool(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def tool(
    *, name: str | None = None, effect: Effect | None = None, cost: float | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    effect: Effect | None = None,
    cost: float | None = None,
) -> Any:
    """Return a callable that does the same and writes each call down.

    What is a tool of ours already is returned as it is: a call is written once. So is what cannot
    be called, such as a framework's tool object: there, ours goes below the framework's decorator.

    Args:
        function: Any callable; or none, to use `tool(...)` as a decorator.
        name: The tool's name in traces and task files; the function's own by default.
        effect: What a call does to the world, for rollback metrics; others are said once.
        cost: What a call costs, in any unit that is the same for all tools of the agent.
    """

    def wrap(wrapped: Any) -> Any:
        if isinstance(wrapped, (classmethod, staticmethod)):
            return type(wrapped)(wrap(wrapped.__func__))
        try:
            if hasattr(wrapped, TOOL_ATTRIBUTE):
                return wrapped
            if not callable(wrapped):
                kind = type(wrapped).__name__
                say("tool", f"a {kind} cannot be called; put @tracegrade.tool below what made it")
                return wrapped
            expect("effect=", effect, EFFECTS)
            expect_number("cost=", cost, 0)
            described = WrappedTool(name or name_of(wrapped), Parameters(wrapped), effect, cost)
            return _wrapper(wrapped, described)
        except BaseException as error:  # a tool we cannot wrap must still work
            if came_by_signal(error):
                raise
            report("tool", error)
            return wrapped

    return wrap if function is None else wrap(function)


def name_of(function: Callable[..., Any]) -> str:
    """Return a callable's own name; a partial has that of what it calls, an object its class's."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _wrapper(function: Callable[..., Any], tool: WrappedTool) -> Callable[..., Any]:
    target = function
    if not inspect.isroutine(function) and not isinstance(function, (functools.partial, type)):
        target = type(function).__call__  # a callable object is what its __call__ is
    called = function
    if os.environ.get(TAPE):
        from tracegrade.tape import taped  # noqa: PLC0415 - only where a harness asks

        called = taped(function, target, tool)
    wrapper = _kind_of_wrapper(target)(called, tool)
    functools.update_wrapper(wrapper, function)
    wrapper.__name__ = tool.name
    setattr(wrapper, TOOL_ATTRIBUTE, tool)
    return wrapper


def _kind_of_wrapper(target: Callable[..., Any]) -> Callable[..., Callable[..., Any]]:
    if inspect.iscoroutinefunction(target):
        return _coroutine
    if inspect.isasyncgenfunction(target):
        return async_generator
    return generator if inspect.isgeneratorfunction(target) else _plain


def _plain(function: Callable[..., Any], tool: WrappedTool) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = begin(tool, args, kwargs)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            fail(call, error)
            raise
        if type(result) is CoroutineType:  # a decorator hid that the tool is a coroutine
            return _awaited(call, result)
        finish(call, result)
        return result

    return wrapper


def _awaited(call: Call | None, running: "CoroutineType[Any, Any, Any]") -> Any:
    """Return a coroutine that does as `running` and ends the call when that is done."""
    if call is not None:
        call.leave()

    async def resume() -> Any:
        if call is not None:
            call.enter()
        try:
            result = await running
        except BaseException as error:
            fail(call, error)
            raise
        finish(call, result)
        return result

    return resume()


def _coroutine(function: Callable[..., Any], tool: WrappedTool) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = begin(tool, args, kwargs)
        try:
            result = await function(*args, **kwargs)
        except BaseException as error:
            fail(call, error)
            raise
        finish(call, result)
        return result

    return wrapper
