"""The events of a run, for every writer: the words in which scenes are written.

A form (`forms/`) writes them as the spans of one framework or instrumentation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

from tests.queries.traces import Row

LEFT_OUT: Final = object()
"""Arguments that a request does not contain."""


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
    """Usage of a model call: 1,000 tokens of input, most of them cached."""

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
    """Return the model's result of a call."""
    return Message("tool", text, replies_to=call, failed=failed)


@dataclass(frozen=True)
class Place:
    """Where a span stands, and when: ms since the scene begins, and how long it takes."""

    number: int
    parent: int | None = None
    at: float = 0
    ms: float = 1
    trace: int = 1


@dataclass(frozen=True, kw_only=True)
class AgentRun(Place):
    """A run of an agent, with the user's words and the answer where its span has them."""

    ms: float = 100
    name: str = "a"
    heard: str | None = None
    answer: str | None = None


@dataclass(frozen=True, kw_only=True)
class ModelCall(Place):
    """A call of a model; without `said` its span does not record what was."""

    at: float = 1
    heard: Sequence[Message] = ()
    said: Message | None = None
    tokens: Tokens | None = None
    stopped: str = ""
    offered: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class ToolRun(Place):
    """An execution of a tool."""

    at: float = 3
    call: Call
    result: str | None = None


class Form:
    """How one framework or instrumentation writes spans.

    Scenes ask for spans by `agent`, `model`, `tool` and the like, with what is not as usual; a
    form writes them from all facts of each.
    """

    dialect: ClassVar[str]
    """The dialect that reads it."""
    lacks: ClassVar[Mapping[str, str]] = {}
    """What its spans cannot tell, as a scene names it under `needs`, and why."""

    def agent(self, number: int, parent: int | None = None, **facts: Any) -> Row:
        """Return the span of a run; `facts` are those of `AgentRun`."""
        return self.agent_span(AgentRun(number, parent, **facts))

    def model(self, number: int, parent: int | None = None, **facts: Any) -> Row:
        """Return the span of a model call; `facts` are those of `ModelCall`."""
        return self.model_span(ModelCall(number, parent, **facts))

    def tool(self, number: int, parent: int | None = None, **facts: Any) -> Row:
        """Return the span of a tool's execution; `facts` are those of `ToolRun`."""
        return self.tool_span(ToolRun(number, parent, **facts))

    def paused(self, number: int, parent: int, **facts: Any) -> Row:
        """Return the span of a tool that ended because it waits for a user."""
        return self.paused_span(ToolRun(number, parent, **facts))

    def refused(self, number: int, parent: int, **facts: Any) -> list[Row]:
        """Return what is recorded of a tool that a user refused."""
        return self.refused_spans(ToolRun(number, parent, **facts))

    def hosted(self, number: int, parent: int, *, ran: Hosted, **facts: Any) -> Row:
        """Return the span of a model call in which the provider ran a tool."""
        return self.hosted_span(ModelCall(number, parent, **facts), ran)

    def agent_span(self, run: AgentRun) -> Row:
        """Write a run."""
        raise NotImplementedError

    def model_span(self, made: ModelCall) -> Row:
        """Write a model call."""
        raise NotImplementedError

    def tool_span(self, ran: ToolRun) -> Row:
        """Write a tool's execution."""
        raise NotImplementedError

    def paused_span(self, ran: ToolRun) -> Row:
        """Write a tool that waits for a user."""
        raise NotImplementedError

    def refused_spans(self, ran: ToolRun) -> list[Row]:
        """Write a tool that a user refused: mostly nothing is recorded."""
        del ran
        return []

    def hosted_span(self, made: ModelCall, hosted: Hosted) -> Row:
        """Write a model call in which the provider ran a tool."""
        raise NotImplementedError

    def plain(self, result: str | None) -> str | None:
        """Return a result as a tool gave it, of what is read where it is wrapped."""
        return result
