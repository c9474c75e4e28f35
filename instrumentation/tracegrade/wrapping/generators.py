"""Tools that yield: the call lasts from the first requested value to the last yielded one.

The tool's span is current only while the tool runs; the caller's code between two values is not
inside it. The result is the list of yielded values, each recorded when it was yielded.
"""

import inspect
import sys
import types
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

from tracegrade.attachment import current
from tracegrade.call import Call, WrappedTool, begin, fail, finish, refuse
from tracegrade.content import SpanText, json_of, text_of
from tracegrade.guard import guarded
from tracegrade.state import state
from tracegrade.wrapping.frames import code_flags, leave_traceback, named_as, unseen


class YieldedValues:
    """The values that a call yielded, as JSON, up to the limit of one text."""

    def __init__(self, tool: WrappedTool) -> None:
        self._render = tool.render
        self._items: list[str] = []
        self._marks: dict[str, None] = {}
        self._chars = 0

    @guarded
    def add(self, value: object) -> None:
        """Write one more value down."""
        if self._chars <= state.settings.max_content_chars:
            text, marks = json_of(value, state.settings, self._render)
            self._items.append(text)
            self._marks |= dict.fromkeys(marks)
            self._chars += len(text) + 1

    @guarded
    def written(self) -> SpanText:
        """Return the values as one JSON list, with what marks them and the whole."""
        text, marks = text_of(f"[{','.join(self._items)}]", state.settings)
        return SpanText(text, tuple(self._marks | dict.fromkeys(marks)))


class _Inside:
    """`with` block in which the tool runs: its span is current, and a raise ends the call."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.yielded = YieldedValues(call.tool)

    def __enter__(self) -> None:
        try:
            self._call.attach(current())
        except BaseException:  # a signal: Python does not call __exit__ then
            self._call.detach()
            raise

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is not None:
                leave_traceback(error)
            self._call.detach()
            if isinstance(error, (StopIteration, StopAsyncIteration, GeneratorExit)):
                finish(self._call, self.yielded.written())
            elif error is not None:
                fail(self._call, error)
        finally:  # once more, where a signal interrupted it
            self._call.detach()


def generator(function: Callable[..., Any], target: Any, tool: WrappedTool) -> Callable[..., Any]:
    """Return a function whose generators do as those of `function` and write the call down."""

    @named_as(target)
    def delegate(
        running: Generator[Any, Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Generator[Any, Any, Any]:
        call = Call(tool)
        try:
            begin(call, args, kwargs)
            call.detach()
            inside = _Inside(call)
            resume: Callable[[Any], Any]
            sent: Any
            resume, sent = running.send, None
            while True:
                try:
                    with inside:
                        value = resume(sent)
                except StopIteration as stop:
                    return stop.value
                inside.yielded.add(value)
                try:
                    sent = yield value
                    resume = running.send
                except BaseException as error:  # noqa: BLE001 - the caller's, for the tool
                    leave_traceback(error)
                    resume, sent = running.throw, error
        except BaseException as error:
            fail(call, error)
            raise
        finally:
            call.close()

    if code_flags(target) & inspect.CO_ITERABLE_COROUTINE:  # by `types.coroutine`
        return _making(function, types.coroutine(delegate), tool)
    return _making(function, delegate, tool)


def async_generator(
    function: Callable[..., Any], target: Any, tool: WrappedTool
) -> Callable[..., Any]:
    """Return a function whose async generators do as those of `function`, with records."""

    @named_as(target)
    async def delegate(
        running: AsyncGenerator[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> AsyncGenerator[Any, Any]:
        call = Call(tool)
        try:
            begin(call, args, kwargs)
            call.detach()
            inside = _Inside(call)
            step = _first_step(running)
            while True:
                try:
                    with inside:
                        value = await step
                except StopAsyncIteration:
                    return
                inside.yielded.add(value)
                try:
                    step = running.asend((yield value))
                except BaseException as error:  # noqa: BLE001 - the caller's, for the tool
                    leave_traceback(error)
                    step = running.athrow(error)
        except BaseException as error:
            fail(call, error)
            raise
        finally:
            call.close()

    return _making(function, delegate, tool)


def _making(
    function: Callable[..., Any], delegate: Callable[..., Any], tool: WrappedTool
) -> Callable[..., Any]:
    @unseen
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            running = function(*args, **kwargs)
        except BaseException as error:  # it does not take these arguments
            leave_traceback(error)
            refuse(tool, args, kwargs, error)
            raise
        return delegate(running, args, kwargs)

    return run


def _first_step(running: AsyncGenerator[Any, Any]) -> Any:
    """Return the awaitable for the first value, without registering it with the event loop.

    A loop remembers the async generators that have begun, and closes all of them at once at its
    end. That would include the tool's own, which tracegrade's generator closes already.
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        return running.asend(None)
    finally:
        sys.set_asyncgen_hooks(*hooks)
