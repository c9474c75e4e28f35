"""Pydantic AI before its spans followed the conventions: messages are events in one attribute."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from tests.queries.classes.forms.attributes import openai_call, with_attributes
from tests.queries.classes.story import Call, Form, Hosted, Message, Tokens
from tests.queries.traces import Row

RETRIES = "That a tool failed is told to the model in a message like any other."


def _body(message: Message) -> Row:
    if message.replies_to:
        call = message.replies_to
        return {"role": "tool", "id": call.id, "name": call.name, "content": message.text}
    calls = [openai_call(each) for each in message.calls]
    return (
        {"role": message.role}
        | ({"content": message.text} if message.text else {})
        | ({"tool_calls": calls} if calls else {})
    )


class PydanticAI(Form):
    """Version 1 of its instrumentation."""

    dialect = "logfire"
    lacks: ClassVar[Mapping[str, str]] = {"failed replies": RETRIES}

    def _span(self, number: int, parent: int | None, name: str, told: Row, **fields: float) -> Row:
        trace = int(fields.pop("trace", 1))
        return with_attributes(
            number, parent, told, name=name, scope="pydantic-ai", trace=trace, **fields
        )

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
        """Return an `agent run`."""
        del heard
        told = {"agent_name": name, "model_name": "m", "final_result": answer}
        return self._span(number, parent, "agent run", told, at=at, ms=ms, trace=trace)

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
        events = [_body(each) | {"event.name": f"gen_ai.{each.role}.message"} for each in heard]
        if said:
            events.append({"index": 0, "message": _body(said), "event.name": "gen_ai.choice"})
        functions = [{"name": each, "kind": "function"} for each in offered]
        told: Row = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "model_request_parameters": {"function_tools": functions},
            "events": events or None,
            "gen_ai.response.finish_reasons": [stopped] if stopped else None,
        }
        if tokens:
            details = "gen_ai.usage.details."
            told |= {
                "gen_ai.usage.input_tokens": tokens.input,
                "gen_ai.usage.output_tokens": tokens.output,
                details + "cache_read_tokens": tokens.cache_read,
                details + "cache_write_tokens": tokens.cache_write,
                details + "reasoning_tokens": tokens.reasoning,
            }
        return self._span(number, parent, "chat m", told, at=at, trace=trace)

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
        """Return a `running tool`."""
        told = {
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id or None,
            "tool_arguments": call.given(),
            "tool_response": result,
        }
        return self._span(number, parent, "running tool", told, at=at, ms=ms, trace=trace)

    def paused(self, number: int, parent: int, *, call: Call, at: float = 3) -> Row:
        """Return a tool that asks for an approval."""
        row = self.tool(number, parent, call=call, at=at)
        exception = {
            "timeUnixNano": row["endTimeUnixNano"],
            "name": "exception",
            "attributes": [
                {
                    "key": "exception.type",
                    "value": {"stringValue": "pydantic_ai.exceptions.ApprovalRequired"},
                }
            ],
        }
        return row | {"events": [exception], "status": {"code": 2}}

    def hosted(self, number: int, parent: int, *, ran: Hosted, at: float = 1) -> Row:
        """Return a response of OpenAI's, as Logfire keeps it of the Agents SDK."""
        items: list[Row] = [
            {
                "type": "mcp_call", "id": "mcp_1", "name": ran.name, "server_label": "s",
                "arguments": json.dumps(ran.arguments), "output": ran.result,
            },
            {"type": "message", "content": [{"type": "output_text", "text": ran.text}]},
        ]  # fmt: skip
        template = "Responses API with {gen_ai.request.model!r}"
        told = {"logfire.msg_template": template, "response": {"output": items}}
        scope = "logfire.openai_agents"
        return with_attributes(number, parent, told, name=template, scope=scope, at=at)
