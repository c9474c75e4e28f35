"""OpenLLMetry: its own kinds, and messages in indexed keys, as it wrote them before 0.60."""

import json
from collections.abc import Iterable, Mapping
from typing import ClassVar

from tests.queries.classes.forms.attributes import (
    as_text,
    raised,
    with_attributes,
)
from tests.queries.classes.story import LEFT_OUT, AgentRun, Call, Form, Message, ModelCall, ToolRun
from tests.queries.traces import Row

NO_HOSTED = "The recorded answer leaves out blocks of tools that Anthropic ran."


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

    def agent_span(self, run: AgentRun) -> Row:
        """Return the span of a function that is decorated as an agent."""
        attributes = {
            "traceloop.span.kind": "agent",
            "traceloop.entity.name": run.name,
            "traceloop.entity.input": {"args": [run.heard], "kwargs": {}} if run.heard else None,
            "traceloop.entity.output": json.dumps(run.answer) if run.answer else None,
        }
        return with_attributes(
            run,
            attributes,
            scope="opentelemetry.instrumentation.traceloop",
            name=f"{run.name}.agent",
        )

    def model_span(self, made: ModelCall) -> Row:
        """Return the span of a chat."""
        attributes: Row = {
            "llm.request.type": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.completion.0.finish_reason": made.stopped or None,
            **keys_of("prompt", made.heard),
            **keys_of("completion", [made.said] if made.said else []),
        }
        for place, name in enumerate(made.offered):
            attributes[f"llm.request.functions.{place}.name"] = name
        if tokens := made.tokens:
            attributes |= {
                "gen_ai.usage.prompt_tokens": tokens.input,
                "gen_ai.usage.completion_tokens": tokens.output,
                "llm.usage.total_tokens": tokens.input + tokens.output,
                "gen_ai.usage.cache_read_input_tokens": tokens.cache_read,
                "gen_ai.usage.cache_creation_input_tokens": tokens.cache_write,
                "gen_ai.usage.reasoning_tokens": tokens.reasoning,
            }
        return with_attributes(
            made,
            attributes,
            scope="opentelemetry.instrumentation.anthropic",
            name="anthropic.chat",
        )

    def tool_span(self, ran: ToolRun) -> Row:
        """Return the span of a function that is decorated as a tool."""
        attributes = {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": ran.call.name,
            "traceloop.entity.input": {"args": [], "kwargs": ran.call.given()},
            "traceloop.entity.output": None if ran.result is None else json.dumps(ran.result),
        }
        return with_attributes(
            ran,
            attributes,
            scope="opentelemetry.instrumentation.traceloop",
            name=f"{ran.call.name}.tool",
        )

    def paused_span(self, ran: ToolRun) -> Row:
        """Return a tool that LangGraph interrupted."""
        return raised(self.tool_span(ran), "langgraph.errors.GraphInterrupt")
