"""Tools that yield: the call lasts from the first value asked for to the last one given.

The tool's span is current only while the tool runs: what the caller does between two values is not
inside it. The result is the list of yielded values, each written down when it was yielded.
"""

from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

from tracegrade.call import Call, WrappedTool, begin, fail, finish
from tracegrade.content import SpanText, json_of, text_of
from tracegrade.guard import guarded
from tracegrade.state import state


class Yielded:
    """The values that a call yielded, as JSON, up to the limit of one text."""

    def __init__(self) -> None:
        self._items: list[str] = []
        self._marks: dict[str, None] = {}
        self._chars = 0

    @guarded
    def add(self, value: object) -> None:
        """Write one more value down."""
        if self._chars <= state.settings.max_content_chars:
            text, marks = json_of(value, state.settings)
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

    def __init__(self, call: Call | None, yielded: Yielded) -> None:
        self._call = call
        self._yielded = yielded

    def __enter__(self) -> None:
        if self._call is not None:
            self._call.enter()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._call is not None:
            self._call.leave()
        if isinstance(error, (StopIteration, StopAsyncIteration, GeneratorExit)):
            finish(self._call, self._yielded.written())
        elif error is not None:
            fail(self._call, error)


def generator(function: Callable[..., Any], tool: WrappedTool) -> Callable[..., Any]:
    """Return a generator function that does as `function` and writes the call down."""

    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        call = begin(tool, args, kwargs)
        if call is not None:
            call.leave()
        yielded = Yielded()
        inside = _Inside(call, yielded)
        running = function(*args, **kwargs)
        resume, sent = running.send, None
        while True:
            try:
                with inside:
                    value = resume(sent)
            except StopIteration as stop:
                return stop.value
            yielded.add(value)
            try:
                sent = yield value
                resume = running.send
            except GeneratorExit:
                with inside:
                    running.close()
                    raise
            except BaseException as error:  # noqa: BLE001 - thrown in by the caller, for the tool
                resume, sent = running.throw, error

    return wrapper


def async_generator(function: Callable[..., Any], tool: WrappedTool) -> Callable[..., Any]:
    """Return an async generator function that does as `function` and writes the call down."""

    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        call = begin(tool, args, kwargs)
        if call is not None:
            call.leave()
        yielded = Yielded()
        inside = _Inside(call, yielded)
        running = function(*args, **kwargs)
        resume, sent = running.asend, None
        while True:
            try:
                with inside:
                    value = await resume(sent)
            except StopAsyncIteration:
                return
            yielded.add(value)
            try:
                sent = yield value
                resume = running.asend
            except GeneratorExit:
                with inside:
                    await running.aclose()
                    raise
            except BaseException as error:  # noqa: BLE001 - thrown in by the caller, for the tool
                resume, sent = running.athrow, error

    return wrapper
