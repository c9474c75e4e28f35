"""OpenInference: messages in indexed keys, as its instrumentation of LangChain writes them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from tests.queries.classes.forms.attributes import (
    anthropic_hosted,
    as_text,
    raised,
    with_attributes,
)
from tests.queries.classes.story import LEFT_OUT, Call, Form, Hosted, Message, Tokens
from tests.queries.traces import Row

FAILED = "The keys of a message do not tell whether a reply is an error."


def keys_of(direction: str, messages: Iterable[Message]) -> Row:
    """Return messages as indexed keys."""
    told: Row = {}
    for position, message in enumerate(messages):
        prefix = f"llm.{direction}_messages.{position}.message."
        told[prefix + "role"] = message.role
        if message.text:
            told[prefix + "content"] = message.text
        if message.replies_to:
            told[prefix + "tool_call_id"] = message.replies_to.id
        for place, call in enumerate(message.calls):
            stem = f"{prefix}tool_calls.{place}.tool_call."
            told[stem + "id"] = call.id
            told[stem + "function.name"] = call.name
            if call.arguments is not LEFT_OUT:
                told[stem + "function.arguments"] = as_text(call.arguments)
    return told


class OpenInference(Form):
    """As LangChain's runs are written."""

    dialect = "openinference"
    lacks: ClassVar[Mapping[str, str]] = {"failed replies": FAILED}
    scope = "openinference.instrumentation.langchain"

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
        """Return the span of a graph."""
        output = {"messages": [{"type": "ai", "data": {"content": answer}}]} if answer else None
        attributes = {
            "openinference.span.kind": "AGENT",
            "input.value": {"messages": [["user", heard]]} if heard else None,
            "output.value": output,
            "metadata": {"ls_integration": "langchain_create_agent", "lc_agent_name": name},
        }
        return with_attributes(
            number, parent, attributes, at=at, ms=ms, trace=trace, scope=self.scope, name=name
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
        """Return the span of a model."""
        attributes: Row = {
            "openinference.span.kind": "LLM",
            "llm.model_name": "m",
            "llm.finish_reason": stopped or None,
            **keys_of("input", heard),
            **keys_of("output", [said] if said else []),
        }
        for place, name in enumerate(offered):
            definition = {"type": "function", "function": {"name": name}}
            attributes[f"llm.tools.{place}.tool.json_schema"] = json.dumps(definition)
        if tokens:
            attributes |= {
                "llm.token_count.prompt": tokens.input,
                "llm.token_count.completion": tokens.output,
                "llm.token_count.prompt_details.cache_read": tokens.cache_read,
                "llm.token_count.prompt_details.cache_write": tokens.cache_write,
                "llm.token_count.completion_details.reasoning": tokens.reasoning,
            }
        return with_attributes(
            number, parent, attributes, at=at, trace=trace, scope=self.scope, name="ChatOpenAI"
        )

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
        """Return the span of a tool, whose output is LangChain's message."""
        output = {"type": "tool", "data": {"content": result, "tool_call_id": call.id or None}}
        attributes = {
            "openinference.span.kind": "TOOL",
            "tool.name": call.name,
            "input.value": call.given(),
            "output.value": None if result is None else output,
        }
        return with_attributes(
            number, parent, attributes, at=at, ms=ms, trace=trace, scope=self.scope,
            name=call.name,
        )  # fmt: skip

    def paused(self, number: int, parent: int, *, call: Call, at: float = 3) -> Row:
        """Return a tool that LangGraph interrupted."""
        return raised(
            self.tool(number, parent, call=call, at=at), "langgraph.errors.GraphInterrupt"
        )

    def hosted(self, number: int, parent: int, *, ran: Hosted, at: float = 1) -> Row:
        """Return a model's span whose whole output is Anthropic's."""
        content = anthropic_hosted(ran.name, ran.arguments, ran.result, ran.text)
        attributes = {
            "openinference.span.kind": "LLM",
            "output.value": {"type": "message", "role": "assistant", "content": content},
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": ran.text,
        }
        return with_attributes(number, parent, attributes, at=at, scope=self.scope, name="Claude")
