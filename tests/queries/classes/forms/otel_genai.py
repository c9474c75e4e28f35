"""The GenAI conventions of today, and as LangChain's instrumentation of them pauses."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final

from tests.queries.classes.forms.attributes import raised, with_attributes
from tests.queries.classes.story import LEFT_OUT, Call, Form, Hosted, Message, Tokens
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
        """Return an `invoke_agent`."""
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": name,
            "gen_ai.input.messages": heard and messages_of([Message("user", heard)]),
            "gen_ai.output.messages": answer and messages_of([Message("assistant", answer)]),
        }
        return with_attributes(
            number, parent, attributes, at=at, ms=ms, trace=trace, scope=self.scope,
            name=f"invoke_agent {name}",
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
        """Return a `chat`."""
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.input.messages": messages_of(heard) or None,
            "gen_ai.output.messages": messages_of([said]) if said else None,
            "gen_ai.response.finish_reasons": [stopped] if stopped else None,
            "gen_ai.tool.definitions": [{"type": "function", "name": each} for each in offered]
            or None,
            **self.usage(tokens),
        }
        return with_attributes(
            number, parent, attributes, at=at, trace=trace, scope=self.scope, name="chat m"
        )

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
        """Return an `execute_tool`."""
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id or None,
            "gen_ai.tool.call.arguments": json.dumps(call.given()),
            "gen_ai.tool.call.result": result,
        }
        return with_attributes(
            number, parent, attributes, at=at, ms=ms, trace=trace, scope=self.scope,
            name=f"execute_tool {call.name}",
        )  # fmt: skip

    def paused(self, number: int, parent: int, *, call: Call, at: float = 3) -> Row:
        """Return a tool that LangGraph interrupted."""
        return raised(
            self.tool(number, parent, call=call, at=at), "langgraph.errors.GraphInterrupt"
        )

    def hosted(self, number: int, parent: int, *, ran: Hosted, at: float = 1) -> Row:
        """Return a `chat` with both parts of a tool of the provider's."""
        parts = [
            {
                "type": "server_tool_call", "id": "s1", "name": ran.name,
                "server_tool_call": {"type": ran.name, **ran.arguments},
            },
            {
                "type": "server_tool_call_response", "id": "s1",
                "server_tool_call_response": {"type": ran.name, "response": ran.result},
            },
            {"type": "text", "content": ran.text},
        ]  # fmt: skip
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.output.messages": [{"role": "assistant", "parts": parts}],
        }
        return with_attributes(number, parent, attributes, at=at, scope=self.scope, name="chat m")
