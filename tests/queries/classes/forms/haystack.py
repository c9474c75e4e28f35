"""Haystack 3: an agent's model calls and tools as spans of their own, messages as its JSON."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from tests.queries.classes.forms.attributes import openai_usage, raised, with_attributes
from tests.queries.classes.story import Call, Form, Message, Tokens
from tests.queries.traces import Row

PARSED = (
    "A call is kept with its arguments as an object; what is none is logged, and no call is kept."
)
NO_NAME = "An agent has no name unless a pipeline gives it one."
UNTOLD = "Without content a span tells that a model was called, and nothing else."
TEXTS_ALONE = "A message of a user holds texts and images alone."
NO_HOSTED = "Its messages have no blocks for tools that a provider runs."


def _call(call: Call) -> Row:
    return {"tool_name": call.name, "arguments": call.given(), "id": call.id, "extra": None}


def _message(message: Message, meta: Row) -> Row:
    texts = [{"text": message.text}] if message.text else []
    content: list[Row] = [*texts, *({"tool_call": _call(each)} for each in message.calls)]
    if message.replies_to:
        result = {
            "result": message.text, "origin": _call(message.replies_to), "error": message.failed
        }  # fmt: skip
        content = [{"tool_call_result": result}]
    return {"role": message.role, "meta": meta, "name": None, "content": content}


class Haystack(Form):
    """An agent with its own tracer."""

    dialect = "haystack"
    lacks: ClassVar[Mapping[str, str]] = {
        "texts as arguments": PARSED,
        "names of agents": NO_NAME,
        "reasons to stop": UNTOLD,
        "requests of users": TEXTS_ALONE,
        "tools of providers": NO_HOSTED,
    }

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
        """Return `haystack.agent.run`."""
        del name
        given = {"messages": [_message(Message("user", heard), {})]} if heard else None
        given_back = {"messages": [_message(Message("assistant", answer or ""), {})]}
        attributes = {
            "haystack.agent.max_steps": 100,
            "haystack.agent.input": given,
            "haystack.agent.output": given_back if answer else None,
        }
        return with_attributes(
            number, parent, attributes, at=at, ms=ms, trace=trace, scope="haystack",
            name="haystack.agent.run",
        )  # fmt: skip

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
        """Return `haystack.agent.step.llm`."""
        meta: Row = {"model": "m", "finish_reason": stopped or "stop"}
        if tokens:
            meta["usage"] = openai_usage(tokens)
        messages = [_message(each, {}) for each in heard]
        tools = [{"type": "haystack.tools.tool.Tool", "data": {"name": each}} for each in offered]
        attributes = {
            "haystack.agent.step.llm.input": {"messages": messages, "tools": tools},
            "haystack.agent.step.llm.output": {"replies": [_message(said, meta)]}
            if said
            else None,
        }
        if not messages and not tools:
            del attributes["haystack.agent.step.llm.input"]
        return with_attributes(
            number, parent, attributes, at=at, trace=trace, scope="haystack",
            name="haystack.agent.step.llm",
        )  # fmt: skip

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
        """Return `haystack.agent.step.tool`."""
        attributes = {
            "haystack.tool.name": call.name,
            "haystack.agent.step.tool.input": call.given(),
            "haystack.agent.step.tool.output": result,
        }
        return with_attributes(
            number, parent, attributes, at=at, ms=ms, trace=trace, scope="haystack",
            name="haystack.agent.step.tool",
        )  # fmt: skip

    def paused(self, number: int, parent: int, *, call: Call, at: float = 3) -> Row:
        """Return a tool that a breakpoint stopped."""
        return raised(
            self.tool(number, parent, call=call, at=at),
            "haystack.core.errors.BreakpointException",
        )
