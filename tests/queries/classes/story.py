"""What happens in a run, whoever records it: the words in which scenes are written.

A form (`forms/`) writes them as the spans of one framework or instrumentation.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from tests.queries.traces import Row

LEFT_OUT: Final = object()
"""Arguments of which a request says nothing."""


class Call(NamedTuple):
    """A tool call that a model requests."""

    name: str
    arguments: object = LEFT_OUT
    """An object, a text that is none, None for null, or LEFT_OUT."""
    id: str = "c1"

    def given(self) -> Mapping[str, Any]:
        """Return the arguments as the object that a tool gets, {} where the model gave none."""
        return self.arguments if isinstance(self.arguments, dict) else {}


class Message(NamedTuple):
    """A message: a text, requests, or what a tool replied to one."""

    role: str
    text: str = ""
    calls: Sequence[Call] = ()
    replies_to: Call | None = None
    failed: bool = False
    """Of a reply: that it is an error, as the provider's messages say it."""


class Tokens(NamedTuple):
    """What a model call took: 1,000 tokens of input, of which a cache had most."""

    fresh: int = 10
    cache_read: int = 800
    cache_write: int = 190
    output: int = 50
    reasoning: int = 30
    """Part of the output."""

    @property
    def input(self) -> int:
        """Return the tokens of the whole input."""
        return self.fresh + self.cache_read + self.cache_write


class Hosted(NamedTuple):
    """A tool that the provider ran within a model call."""

    name: str
    arguments: Mapping[str, Any]
    result: str
    text: str
    """What the model said then."""


def asked(text: str) -> Message:
    """Return what the user says."""
    return Message("user", text)


def told(text: str) -> Message:
    """Return what the program tells the model to do."""
    return Message("system", text)


def said(text: str) -> Message:
    """Return a text of the model."""
    return Message("assistant", text)


def requested(*calls: Call, role: str = "assistant") -> Message:
    """Return a message that requests tools."""
    return Message(role, calls=calls)


def replied(call: Call, text: str, *, failed: bool = False) -> Message:
    """Return what the model is told of a call."""
    return Message("tool", text, replies_to=call, failed=failed)


class Form:
    """How one framework or instrumentation writes spans."""

    dialect: ClassVar[str]
    """The dialect that reads it."""
    lacks: ClassVar[Mapping[str, str]] = {}
    """What its spans cannot tell, as a scene names it under `needs`, and why."""

    def agent(
        self,
        number: int,
        parent: int | None = None,
        *,
        name: str = "a",
        at: float = 0,
        ms: float = 100,
        heard: str | None = None,
        answer: str | None = None,
        trace: int = 1,
    ) -> Row:
        """Return the span of a run, with the user's words and the answer where it has them."""
        raise NotImplementedError

    def model(
        self,
        number: int,
        parent: int | None = None,
        *,
        at: float = 1,
        heard: Iterable[Message] = (),
        said: Message | None = None,
        tokens: Tokens | None = None,
        stopped: str = "",
        offered: Sequence[str] = (),
        trace: int = 1,
    ) -> Row:
        """Return the span of a model call; without `said` it does not record what was."""
        raise NotImplementedError

    def tool(
        self,
        number: int,
        parent: int | None = None,
        *,
        call: Call,
        at: float = 3,
        ms: float = 1,
        result: str | None = None,
        trace: int = 1,
    ) -> Row:
        """Return the span of a tool's execution."""
        raise NotImplementedError

    def paused(self, number: int, parent: int, *, call: Call, at: float = 3) -> Row:
        """Return the span of a tool that ended because it waits for somebody."""
        raise NotImplementedError

    def refused(self, number: int, parent: int, *, call: Call, at: float = 3) -> list[Row]:
        """Return what is recorded of a tool that a user refused: mostly nothing."""
        del number, parent, call, at
        return []

    def plain(self, result: str | None) -> str | None:
        """Return a result as a tool gave it, of what is read where it is wrapped."""
        return result

    def hosted(self, number: int, parent: int, *, ran: Hosted, at: float = 1) -> Row:
        """Return the span of a model call in which the provider ran a tool."""
        raise NotImplementedError
