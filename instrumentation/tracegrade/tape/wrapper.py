"""A tool whose calls the harness records, or answers: then its body does not run.

This wrapper is inside the one that writes spans, so the spans of a call are the same either way.
Calls inside a taped call belong to it and are recorded with it.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CoroutineType
from typing import Any, Final

from tracegrade import names
from tracegrade.call import WrappedTool
from tracegrade.content import json_of
from tracegrade.settings import Content, Settings
from tracegrade.tape import exceptions
from tracegrade.tape.captured import ResultNotText, result_of
from tracegrade.tape.channel import exchange
from tracegrade.tape.plain_json import why_not_plain

_WHOLE: Final = Settings(content=Content.FULL, max_content_chars=16 << 20)
_is_inside: Final = ContextVar("tracegrade-taped-call", default=False)


def taped(
    function: Callable[..., Any], target: Callable[..., Any], tool: WrappedTool
) -> Callable[..., Any]:
    """Return a callable of the same kind that asks the harness before each call.

    Args:
        function: The function to call.
        target: The callable that decides the kind.
        tool: The facts about it.
    """
    if inspect.iscoroutinefunction(target):
        return _coroutine(function, tool)
    is_generator = inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target)
    return _refused(function, target, tool) if is_generator else _plain(function, tool)


class _Call:
    """A call, and the harness's reply to it."""

    def __init__(
        self,
        function: Callable[..., Any],
        tool: WrappedTool,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        named = tool.parameters.by_name(args, kwargs)
        arguments = json_of(named, _WHOLE, tool.render).text
        effect = tool.attributes.get(names.TOOL_EFFECT)
        self._call = {"name": tool.name, "arguments": arguments, "effect": effect}
        self._reply: dict[str, Any] = {"type": "run"} if _is_inside.get() else self._say("call")
        self._function = function
        self.is_awaited = False
        """It gives a coroutine, though it does not look like one."""
        self.is_answered = self._reply["type"] in {"reply", "miss"}
        self._is_recorded = self._reply["type"] == "record"

    def answer(self) -> Any:
        """Return the tool's result from the tape, or raise its exception.

        Raises:
            ReplayMiss: The tape does not have this call.
        """
        if self._reply["type"] == "miss":
            raise exceptions.ReplayMiss(self._reply["message"])
        reply = self._reply["reply"]
        if "error" in reply:
            raise exceptions.from_json(reply["error"])
        return self._from_text(reply["text"]) if "text" in reply else reply["result"]

    def _from_text(self, text: str) -> Any:
        try:
            return result_of(text, self._function)
        except ResultNotText as error:
            raise exceptions.ReplayMiss(self._say("unusable", why=str(error))["message"]) from None

    @property
    def gives_coroutine(self) -> bool:
        """Whether the tool gave a coroutine, though it does not look like one."""
        return self._reply.get("reply", {}).get("awaited") is True

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the tool run, and record the exception that it raises."""
        token = _is_inside.set(True) if self._is_recorded else None
        try:
            yield
        except Exception as error:
            self._give({"error": exceptions.as_json(error)})
            raise
        except BaseException as error:
            self.refuse(f"it was ended by {type(error).__name__}")
            raise
        finally:
            if token is not None:
                _is_inside.reset(token)

    def gave(self, result: object) -> None:
        """Record the tool's result."""
        if not self._is_recorded:
            return
        if fault := why_not_plain(result):
            self.refuse(f"its result is not what JSON gives back: {fault}")
        else:
            self._give({"result": result})

    def refuse(self, why: str) -> None:
        """Report that a tape cannot hold this call."""
        if self._is_recorded:
            self._say("gave", refused=why)

    def _give(self, reply: dict[str, Any]) -> None:
        if self._is_recorded:
            how = {"awaited": True} if self.is_awaited else {}
            self._say("gave", reply={**reply, **how})

    def _say(self, kind: str, **more: Any) -> dict[str, Any]:
        return exchange({"type": kind, **self._call, **more})


def _plain(function: Callable[..., Any], tool: WrappedTool) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = _Call(function, tool, args, kwargs)
        if call.is_answered:
            return _later(call) if call.gives_coroutine else call.answer()
        with call.running():
            result = function(*args, **kwargs)
        if type(result) is CoroutineType:  # a decorator hid that the tool is a coroutine
            return _awaited(call, result)
        call.gave(result)
        return result

    return wrapper


async def _later(call: _Call) -> Any:
    return call.answer()


async def _awaited(call: _Call, running: "CoroutineType[Any, Any, Any]") -> Any:
    call.is_awaited = True
    with call.running():
        result = await running
    call.gave(result)
    return result


def _coroutine(function: Callable[..., Any], tool: WrappedTool) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = _Call(function, tool, args, kwargs)
        if call.is_answered:
            return call.answer()
        with call.running():
            result = await function(*args, **kwargs)
        call.gave(result)
        return result

    return wrapper


def _refused(
    function: Callable[..., Any], target: Callable[..., Any], tool: WrappedTool
) -> Callable[..., Any]:
    """Return a tool that yields; tapes do not record it."""

    def plain(*args: Any, **kwargs: Any) -> Any:
        call = _Call(function, tool, args, kwargs)
        if call.is_answered:
            call.answer()
        call.refuse("it yields, and tapes hold results alone")
        yield from function(*args, **kwargs)

    async def asynchronous(*args: Any, **kwargs: Any) -> Any:
        call = _Call(function, tool, args, kwargs)
        if call.is_answered:
            call.answer()
        call.refuse("it yields, and tapes hold results alone")
        async for value in function(*args, **kwargs):
            yield value

    return asynchronous if inspect.isasyncgenfunction(target) else plain
