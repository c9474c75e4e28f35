"""The GenAI conventions of today, and as LangChain's instrumentation of them pauses."""

import json
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from tests.queries.classes.forms.attributes import raised, with_attributes
from tests.queries.classes.story import (
    LEFT_OUT,
    AgentRun,
    Form,
    Hosted,
    Message,
    ModelCall,
    Tokens,
    ToolRun,
)
from tests.queries.traces import Row

SCOPE: Final = "opentelemetry.instrumentation.genai.langchain"


def _parts(message: Message) -> list[Row]:
    if message.replies_to:
        part = {
            "type": "tool_call_response", "id": message.replies_to.id, "response": message.text
        }  # fmt: skip
        return [part | ({"is_error": True} if message.failed else {})]
    calls = [
        {"type": "tool_call", "id": call.id, "name": call.name}
        | ({} if call.arguments is LEFT_OUT else {"arguments": call.arguments})
        for call in message.calls
    ]
    return [*([{"type": "text", "content": message.text}] if message.text else []), *calls]


def messages_of(messages: Iterable[Message]) -> list[Row]:
    """Return messages as the conventions have them."""
    return [{"role": each.role, "parts": _parts(each)} for each in messages]


class GenAI(Form):
    """Messages in attributes of the model's span."""

    dialect = "otel_genai"
    lacks: ClassVar[Mapping[str, str]] = {}
    scope = SCOPE

    def agent_span(self, run: AgentRun) -> Row:
        """Return an `invoke_agent`."""
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": run.name,
            "gen_ai.input.messages": run.heard and messages_of([Message("user", run.heard)]),
            "gen_ai.output.messages": run.answer
            and messages_of([Message("assistant", run.answer)]),
        }
        return with_attributes(run, attributes, scope=self.scope, name=f"invoke_agent {run.name}")

    def model_span(self, made: ModelCall) -> Row:
        """Return a `chat`."""
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.input.messages": messages_of(made.heard) or None,
            "gen_ai.output.messages": messages_of([made.said]) if made.said else None,
            "gen_ai.response.finish_reasons": [made.stopped] if made.stopped else None,
            "gen_ai.tool.definitions": [
                {"type": "function", "name": each} for each in made.offered
            ]
            or None,
            **self.usage(made.tokens),
        }
        return with_attributes(made, attributes, scope=self.scope, name="chat m")

    def usage(self, tokens: Tokens | None) -> Row:
        """Return the attributes of tokens: what a cache had is part of the input."""
        if tokens is None:
            return {}
        return {
            "gen_ai.usage.input_tokens": tokens.input,
            "gen_ai.usage.output_tokens": tokens.output,
            "gen_ai.usage.cache_read.input_tokens": tokens.cache_read,
            "gen_ai.usage.cache_write.input_tokens": tokens.cache_write,
            "gen_ai.usage.reasoning.output_tokens": tokens.reasoning,
        }

    def tool_span(self, ran: ToolRun) -> Row:
        """Return an `execute_tool`."""
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": ran.call.name,
            "gen_ai.tool.call.id": ran.call.id or None,
            "gen_ai.tool.call.arguments": json.dumps(ran.call.given()),
            "gen_ai.tool.call.result": ran.result,
        }
        return with_attributes(
            ran, attributes, scope=self.scope, name=f"execute_tool {ran.call.name}"
        )

    def paused_span(self, ran: ToolRun) -> Row:
        """Return a tool that LangGraph interrupted."""
        return raised(self.tool_span(ran), "langgraph.errors.GraphInterrupt")

    def hosted_span(self, made: ModelCall, hosted: Hosted) -> Row:
        """Return a `chat` with both parts of a tool of the provider's."""
        parts = [
            {
                "type": "server_tool_call", "id": "s1", "name": hosted.name,
                "server_tool_call": {"type": hosted.name, **hosted.arguments},
            },
            {
                "type": "server_tool_call_response", "id": "s1",
                "server_tool_call_response": {"type": hosted.name, "response": hosted.result},
            },
            {"type": "text", "content": hosted.text},
        ]  # fmt: skip
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.output.messages": [{"role": "assistant", "parts": parts}],
        }
        return with_attributes(made, attributes, scope=self.scope, name="chat m")
