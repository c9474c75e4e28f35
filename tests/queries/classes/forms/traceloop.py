"""OpenLLMetry: its own kinds, and messages in indexed keys, as it wrote them before 0.60."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from tests.queries.classes.forms.attributes import (
    as_text,
    raised,
    with_attributes,
)
from tests.queries.classes.story import LEFT_OUT, Call, Form, Message, Tokens
from tests.queries.traces import Row

NO_HOSTED = "Of what Anthropic answered, blocks of tools that it ran are left out."


def _reply(call: Call, message: Message) -> Row:
    return {
        "type": "tool_result", "tool_use_id": call.id, "content": message.text,
        "is_error": message.failed,
    }  # fmt: skip


def keys_of(stem: str, messages: Iterable[Message]) -> Row:
    """Return messages as indexed keys."""
    told: Row = {}
    for position, message in enumerate(messages):
        prefix = f"gen_ai.{stem}.{position}."
        told[prefix + "role"] = "user" if message.replies_to else message.role
        if message.replies_to:
            told[prefix + "content"] = json.dumps([_reply(message.replies_to, message)])
        elif message.text:
            told[prefix + "content"] = message.text
        for place, call in enumerate(message.calls):
            told[f"{prefix}tool_calls.{place}.id"] = call.id
            told[f"{prefix}tool_calls.{place}.name"] = call.name
            if call.arguments is not LEFT_OUT:
                told[f"{prefix}tool_calls.{place}.arguments"] = as_text(call.arguments)
    return told


class Traceloop(Form):
    """Decorated agents and tools around a client of Anthropic's."""

    dialect = "traceloop"
    lacks: ClassVar[Mapping[str, str]] = {"tools of providers": NO_HOSTED}

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
        """Return the span of a function that is decorated as an agent."""
        attributes = {
            "traceloop.span.kind": "agent",
            "traceloop.entity.name": name,
            "traceloop.entity.input": {"args": [heard], "kwargs": {}} if heard else None,
            "traceloop.entity.output": json.dumps(answer) if answer else None,
        }
        return with_attributes(
            number, parent, attributes, at=at, ms=ms, trace=trace,
            scope="opentelemetry.instrumentation.traceloop", name=f"{name}.agent",
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
        """Return the span of a chat."""
        attributes: Row = {
            "llm.request.type": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.completion.0.finish_reason": stopped or None,
            **keys_of("prompt", heard),
            **keys_of("completion", [said] if said else []),
        }
        for place, name in enumerate(offered):
            attributes[f"llm.request.functions.{place}.name"] = name
        if tokens:
            attributes |= {
                "gen_ai.usage.prompt_tokens": tokens.input,
                "gen_ai.usage.completion_tokens": tokens.output,
                "llm.usage.total_tokens": tokens.input + tokens.output,
                "gen_ai.usage.cache_read_input_tokens": tokens.cache_read,
                "gen_ai.usage.cache_creation_input_tokens": tokens.cache_write,
                "gen_ai.usage.reasoning_tokens": tokens.reasoning,
            }
        return with_attributes(
            number, parent, attributes, at=at, trace=trace,
            scope="opentelemetry.instrumentation.anthropic", name="anthropic.chat",
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
        """Return the span of a function that is decorated as a tool."""
        attributes = {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": call.name,
            "traceloop.entity.input": {"args": [], "kwargs": call.given()},
            "traceloop.entity.output": None if result is None else json.dumps(result),
        }
        return with_attributes(
            number, parent, attributes, at=at, ms=ms, trace=trace,
            scope="opentelemetry.instrumentation.traceloop", name=f"{call.name}.tool",
        )  # fmt: skip

    def paused(self, number: int, parent: int, *, call: Call, at: float = 3) -> Row:
        """Return a tool that LangGraph interrupted."""
        return raised(
            self.tool(number, parent, call=call, at=at), "langgraph.errors.GraphInterrupt"
        )
