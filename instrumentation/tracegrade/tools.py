"""`tool`: wraps an agent's tool, so that each call becomes a span and an observation.

    @tracegrade.tool(effect="read", cost=1)
    def search_orders(customer: str) -> list[dict]: ...

    fetch = tracegrade.tool(effect="read")(some.library.fetch)     # also code that you do not own

The result is a proxy of the wrapped callable (`wrapping.proxy`), because programs and frameworks
use more than its call. Results, exceptions and tracebacks pass through unchanged.
"""

import functools
import inspect
import os
from collections.abc import Callable
from types import CoroutineType, MethodType
from typing import Any, Literal, ParamSpec, TypeVar, overload

from tracegrade.arguments import Parameters
from tracegrade.call import Call, Description, WrappedTool, begin, fail, finish
from tracegrade.content import Render
from tracegrade.guard import came_by_signal, expect, expect_number, report, say
from tracegrade.settings import TAPE_VARIABLE
from tracegrade.state import is_off
from tracegrade.steps import EFFECTS
from tracegrade.wrapping.coroutines import coroutine, resumed
from tracegrade.wrapping.frames import leave_traceback, unseen
from tracegrade.wrapping.generators import async_generator, generator
from tracegrade.wrapping.proxy import is_proxy, proxy_of, tool_of

P = ParamSpec("P")
R = TypeVar("R")

Effect = Literal["read", "write", "destructive"]
_LAYERS = 100  # an object may have an attribute of any name, and that again


@overload
def tool(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    effect: Effect | None = None,
    cost: float | None = None,
    render: Render | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    effect: Effect | None = None,
    cost: float | None = None,
    render: Render | None = None,
) -> Any:
    """Return a proxy of a callable that writes each call down.

    A tool that is already wrapped is returned unchanged: a call is written once. The same applies
    to a class, which must stay the class of its instances, and to an object that cannot be called,
    such as a framework's tool object. For these, wrap the method that does the work, or put `tool`
    below the framework's decorator. Both cases are logged once.

    Args:
        function: Any callable; or none, to use `tool(...)` as a decorator.
        name: The tool's name in traces and task files; the function's own by default.
        effect: The effect of a call on the world, for rollback metrics; other values are logged
            once.
        cost: The cost of a call, in any unit that is the same for all tools of the agent.
        render: Returns the text, or another value of plain types, for an object among the
            arguments and the result, at any depth. It is called for each object that is not of one
            of Python's own types, such as `str`, `dict`, `datetime` or `Path`. Without it, an
            object whose class is neither known nor registered (`register_renderer`) is written as
            the name of its class, and none of its code runs.
    """

    def wrap(wrapped: Any) -> Any:
        try:
            if isinstance(wrapped, (classmethod, staticmethod, functools.partialmethod)):
                return _around(wrapped, wrap)
            if described(wrapped) is not None or not _can_be_wrapped(wrapped):
                return wrapped
            expect("effect=", effect, EFFECTS)
            expect_number("cost=", cost, 0)
            called = name_of(wrapped) if name is None else name
            return _wrapped(wrapped, Description(called, effect, cost, render))
        except BaseException as error:  # a tool we cannot wrap must still work
            if came_by_signal(error):
                raise
            report("tool", error)
            return wrapped

    return wrap if function is None else wrap(function)


def _can_be_wrapped(wrapped: object) -> bool:
    """Return whether calls of this can be recorded; report it if not."""
    if isinstance(wrapped, type):
        way_out = "put @tracegrade.tool on the method that does the work, or on a function"
        say("tool of a class", f"calls of the class {wrapped.__name__} are not written; {way_out}")
        return False
    if not callable(wrapped):
        kind = type(wrapped).__name__
        say("tool", f"a {kind} cannot be called; put @tracegrade.tool below what made it")
        return False
    return True


def described(function: Any) -> WrappedTool | None:
    """Return the facts about a tool, also below decorators and methods; None for others."""
    for _ in range(_LAYERS):
        if is_proxy(function):
            tool: WrappedTool = tool_of(function)
            return tool
        below = "__func__" if isinstance(function, MethodType) else "__wrapped__"
        function = getattr(function, below, None)
    return None


def name_of(function: Callable[..., Any]) -> str:
    """Return a callable's own name; a partial has that of its function, an object its class's."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _around(method: Any, wrap: Callable[[Any], Any]) -> Any:
    """Return a method of a class, of its own type and with its attributes, around a tool."""
    if isinstance(method, functools.partialmethod):
        return type(method)(wrap(method.func), *method.args, **method.keywords)
    function = wrap(method.__func__)
    made = type(method)(function)
    vars(made).update({**vars(method), "__wrapped__": function})
    return made


def _wrapped(function: Callable[..., Any], description: Description) -> Any:
    called = function.__call__ if _is_object(function) else function  # type: ignore[operator]
    tool = WrappedTool(description, Parameters(called))
    again = functools.partial(_again, description)
    return proxy_of(function, _runner(function, tool), tool, again)


def _again(description: Description, other: Any) -> Any:
    """Return the same tool for a bound or copied original."""
    try:
        return _wrapped(other, description) if callable(other) else other
    except BaseException as error:
        if came_by_signal(error):
            raise
        report("tool", error)
        return other


def _is_object(function: Callable[..., Any]) -> bool:
    """Return whether this is an object with a `__call__`, not a function or method."""
    return not inspect.isroutine(function) and not isinstance(function, functools.partial)


def _runner(function: Callable[..., Any], tool: WrappedTool) -> Callable[..., Any]:
    """Return a function of the same kind that writes each call of `function` down."""
    target: Any = function
    if _is_object(function):
        target = type(function).__call__  # a callable object is what its __call__ is
    called = function
    if os.environ.get(TAPE_VARIABLE):
        from tracegrade.tape import taped  # noqa: PLC0415 - only where a harness asks

        called = taped(function, target, tool)
    return _kind_of_runner(target)(called, target, tool)


def _kind_of_runner(target: Callable[..., Any]) -> Callable[..., Callable[..., Any]]:
    if inspect.iscoroutinefunction(target):
        return coroutine
    if inspect.isasyncgenfunction(target):
        return async_generator
    return generator if inspect.isgeneratorfunction(target) else _plain


def _plain(function: Callable[..., Any], _: Any, tool: WrappedTool) -> Callable[..., Any]:
    @unseen
    def run(*args: Any, **kwargs: Any) -> Any:
        if is_off():
            try:
                return function(*args, **kwargs)
            except BaseException as error:
                leave_traceback(error)
                raise
        call = Call(tool)
        try:
            begin(call, args, kwargs)
            result = function(*args, **kwargs)
            if type(result) is CoroutineType:  # a decorator hid that the tool is a coroutine
                begun, call = call, Call(tool)
                begun.detach()
                return resumed(begun, result)
            finish(call, result)
        except BaseException as error:
            leave_traceback(error)
            fail(call, error)
            raise
        finally:
            call.close()
        return result

    return run
