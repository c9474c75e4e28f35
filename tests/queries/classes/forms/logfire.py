"""Pydantic AI before its spans followed the conventions: messages are events in one attribute."""

import json
from collections.abc import Mapping
from typing import ClassVar

from tests.queries.classes.forms.attributes import openai_call, with_attributes
from tests.queries.classes.story import AgentRun, Form, Hosted, Message, ModelCall, Place, ToolRun
from tests.queries.traces import Row

RETRIES = "A tool's failure reaches the model in a message like any other."


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

    def _span(self, place: Place, name: str, told: Row) -> Row:
        return with_attributes(place, told, name=name, scope="pydantic-ai")

    def agent_span(self, run: AgentRun) -> Row:
        """Return an `agent run`."""
        told = {"agent_name": run.name, "model_name": "m", "final_result": run.answer}
        return self._span(run, "agent run", told)

    def model_span(self, made: ModelCall) -> Row:
        """Return a `chat`."""
        events = [
            _body(each) | {"event.name": f"gen_ai.{each.role}.message"} for each in made.heard
        ]
        if made.said:
            events.append({"index": 0, "message": _body(made.said), "event.name": "gen_ai.choice"})
        functions = [{"name": each, "kind": "function"} for each in made.offered]
        told: Row = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "model_request_parameters": {"function_tools": functions},
            "events": events or None,
            "gen_ai.response.finish_reasons": [made.stopped] if made.stopped else None,
        }
        if tokens := made.tokens:
            details = "gen_ai.usage.details."
            told |= {
                "gen_ai.usage.input_tokens": tokens.input,
                "gen_ai.usage.output_tokens": tokens.output,
                details + "cache_read_tokens": tokens.cache_read,
                details + "cache_write_tokens": tokens.cache_write,
                details + "reasoning_tokens": tokens.reasoning,
            }
        return self._span(made, "chat m", told)

    def tool_span(self, ran: ToolRun) -> Row:
        """Return a `running tool`."""
        told = {
            "gen_ai.tool.name": ran.call.name,
            "gen_ai.tool.call.id": ran.call.id or None,
            "tool_arguments": ran.call.given(),
            "tool_response": ran.result,
        }
        return self._span(ran, "running tool", told)

    def paused_span(self, ran: ToolRun) -> Row:
        """Return a tool that asks for an approval."""
        row = self.tool_span(ran)
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

    def hosted_span(self, made: ModelCall, hosted: Hosted) -> Row:
        """Return a response of OpenAI's, as Logfire keeps it of the Agents SDK."""
        items: list[Row] = [
            {
                "type": "mcp_call", "id": "mcp_1", "name": hosted.name, "server_label": "s",
                "arguments": json.dumps(hosted.arguments), "output": hosted.result,
            },
            {"type": "message", "content": [{"type": "output_text", "text": hosted.text}]},
        ]  # fmt: skip
        template = "Responses API with {gen_ai.request.model!r}"
        told = {"logfire.msg_template": template, "response": {"output": items}}
        scope = "logfire.openai_agents"
        return with_attributes(made, told, name=template, scope=scope)
