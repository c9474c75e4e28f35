"""Claude Code: spans tell which tools ran, and log records what was said and given."""

import json
from collections.abc import Mapping
from typing import ClassVar

from tests.queries.classes.forms.attributes import with_attributes
from tests.queries.classes.story import AgentRun, Form, ModelCall, Place, ToolRun
from tests.queries.traces import MS, NOON_NS, Row

REQUESTS = "Only the tool's execution records what the model requested."
REPLIES = "Nothing records the messages that the model receives."
PROVIDER = "No span and no record shows a tool that the provider ran."
ONE_AGENT = "All spans of an agent that a tool runs hang below the one interaction."
REASONING = "Reasoning is part of the output tokens, and is not counted."


def _record(span_id: int, at: float, name: str, **told: str) -> Row:
    """Return a record of the interaction, which is not of the span that it tells of."""
    attributes = {"event.name": name, **told}
    return {
        "spanId": f"{span_id:016x}",
        "timeUnixNano": str(NOON_NS + int(at * MS)),
        "body": {"stringValue": f"claude_code.{name}"},
        "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in attributes.items()
        ],
    }


class ClaudeCode(Form):
    """The CLI's own telemetry."""

    dialect = "claude_code"
    lacks: ClassVar[Mapping[str, str]] = {
        "requests": REQUESTS,
        "replies": REPLIES,
        "texts in model inputs": REPLIES,
        "tools of providers": PROVIDER,
        "agents inside": ONE_AGENT,
        "names of agents": "It is always Claude Code.",
        "counts of reasoning": REASONING,
        "pauses": "The call waits within the process, and its spans end when a person answers.",
        "calls without ids": "The span of a tool has the id of its call.",
    }
    scope = "com.anthropic.claude_code.tracing"

    def _span(self, place: Place, kind: str, told: Row) -> Row:
        return with_attributes(
            place, {"span.type": kind, **told}, scope=self.scope, name=f"claude_code.{kind}"
        )

    def agent_span(self, run: AgentRun) -> Row:
        """Return an interaction."""
        told = {"gen_ai.operation.name": "invoke_agent", "user_prompt": run.heard}
        return self._span(run, "interaction", told)

    def model_span(self, made: ModelCall) -> Row:
        """Return a request, with the record of its text."""
        told: Row = {"model": "m", "stop_reason": made.stopped or None}
        if tokens := made.tokens:
            told |= {
                "input_tokens": tokens.fresh,
                "output_tokens": tokens.output,
                "cache_read_tokens": tokens.cache_read,
                "cache_creation_tokens": tokens.cache_write,
            }
        row = self._span(made, "llm_request", told)
        if not made.said or not made.said.text or made.parent is None:
            return row
        record = _record(made.parent, made.at + 1, "assistant_response", response=made.said.text)
        return row | {"records": [record]}

    def tool_span(self, ran: ToolRun) -> Row:
        """Return a tool, with the record of what it was given."""
        told = {
            "gen_ai.operation.name": "execute_tool",
            "tool_name": ran.call.name,
            "gen_ai.tool.name": ran.call.name,
            "tool_use_id": ran.call.id or None,
            "gen_ai.tool.call.id": ran.call.id or None,
        }
        row = self._span(ran, "tool", told)
        if ran.result is not None:
            attributes = [{"key": "output", "value": {"stringValue": ran.result}}]
            at_ns = row["endTimeUnixNano"]
            event = {"timeUnixNano": at_ns, "name": "tool.output", "attributes": attributes}
            row["events"] = [event]
        if ran.parent is None or not ran.call.id:
            return row
        given = json.dumps(ran.call.given())
        record = _record(
            ran.parent, ran.at + ran.ms, "tool_result",
            tool_use_id=ran.call.id, success="true", tool_input=given,
        )  # fmt: skip
        return row | {"records": [record]}

    def refused_spans(self, ran: ToolRun) -> list[Row]:
        """Return the span of a tool that waited for its user, and was never executed."""
        tool = self.tool_span(ran)
        told = {"decision": "reject", "source": "user_reject"}
        place = Place(ran.number + 100, ran.number, ran.at)
        asked = self._span(place, "tool.blocked_on_user", told)
        return [{key: tool[key] for key in tool if key != "records"}, asked]
