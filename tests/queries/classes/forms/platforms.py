"""Langfuse's SDK: of each observation its type, one input and one output."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from tests.queries.classes.forms.attributes import (
    anthropic_hosted,
    openai_message,
    with_attributes,
)
from tests.queries.classes.story import Call, Form, Hosted, Message, Tokens
from tests.queries.traces import Row

TYPE = "langfuse.observation.type"
INPUT = "langfuse.observation.input"
OUTPUT = "langfuse.observation.output"


class Langfuse(Form):
    """Functions that are observed, and its client of OpenAI."""

    dialect = "platforms"
    lacks: ClassVar[Mapping[str, str]] = {}

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
        """Return a function that is observed as an agent."""
        given = {"args": [heard], "kwargs": {}} if heard else None
        attributes = {TYPE: "agent", INPUT: given, OUTPUT: answer}
        return with_attributes(
            number, parent, attributes, at=at, ms=ms, trace=trace, scope="langfuse-sdk", name=name
        )

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
        """Return a generation of OpenAI's client."""
        messages = [openai_message(each) for each in heard]
        tools = [{"type": "function", "function": {"name": each}} for each in offered]
        usage = None
        if tokens:
            usage = {
                "input": tokens.fresh,
                "input_cached_tokens": tokens.cache_read,
                "input_cache_creation": tokens.cache_write,
                "output": tokens.output - tokens.reasoning,
                "output_reasoning_tokens": tokens.reasoning,
                "total": tokens.input + tokens.output,
            }
        attributes = {
            TYPE: "generation",
            INPUT: {"messages": messages} | ({"tools": tools} if tools else {}),
            OUTPUT: openai_message(said) if said else None,
            "langfuse.observation.model.name": "m",
            "langfuse.observation.usage_details": usage,
        }
        return with_attributes(
            number, parent, attributes | ({} if messages else {INPUT: None}), at=at, trace=trace,
            scope="langfuse-sdk", name="OpenAI-generation",
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
        """Return a function that is observed as a tool."""
        given = {"args": [], "kwargs": call.given()}
        return with_attributes(
            number, parent, {TYPE: "tool", INPUT: given, OUTPUT: result}, at=at, ms=ms,
            trace=trace, scope="langfuse-sdk", name=call.name,
        )  # fmt: skip

    def paused(self, number: int, parent: int, *, call: Call, at: float = 3) -> Row:
        """Return a tool that LangGraph interrupted, which is no error to Langfuse."""
        row = self.tool(number, parent, call=call, at=at)
        told = {
            "langfuse.observation.level": "DEFAULT",
            "langfuse.observation.status_message": "(Interrupt(value='ok?', id='5f'),)",
        }
        row["attributes"] += [
            {"key": key, "value": {"stringValue": value}} for key, value in told.items()
        ]
        return row

    def hosted(self, number: int, parent: int, *, ran: Hosted, at: float = 1) -> Row:
        """Return a generation of Anthropic's client."""
        content = anthropic_hosted(ran.name, ran.arguments, ran.result, ran.text)
        attributes = {TYPE: "generation", OUTPUT: {"role": "assistant", "content": content}}
        return with_attributes(
            number, parent, attributes, at=at, scope="langfuse-sdk", name="Anthropic-generation"
        )
