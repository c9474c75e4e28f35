"""Claude Code: spans tell which tools ran, and log records what was said and given."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from tests.queries.classes.forms.attributes import with_attributes
from tests.queries.classes.story import Call, Form, Message, Tokens
from tests.queries.traces import MS, NOON_NS, Row

REQUESTS = "What the model requested is recorded nowhere but by its execution."
REPLIES = "What the model is told is recorded nowhere."
PROVIDER = "No span and no record tells of a tool that the provider ran."
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
        "words that models heard": REPLIES,
        "tools of providers": PROVIDER,
        "agents inside": ONE_AGENT,
        "names of agents": "It is always Claude Code.",
        "counts of reasoning": REASONING,
        "pauses": "It waits within the process, and its spans end when somebody answered.",
        "calls without ids": "The span of a tool has the id of its call.",
    }
    scope = "com.anthropic.claude_code.tracing"

    def _span(self, number: int, parent: int | None, kind: str, told: Row, **fields: float) -> Row:
        trace = int(fields.pop("trace", 1))
        return with_attributes(
            number, parent, {"span.type": kind, **told}, name=f"claude_code.{kind}",
            scope=self.scope, trace=trace, **fields,
        )  # fmt: skip

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
        """Return an interaction."""
        del name, answer
        told = {"gen_ai.operation.name": "invoke_agent", "user_prompt": heard}
        return self._span(number, parent, "interaction", told, at=at, ms=ms, trace=trace)

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
        """Return a request, with the record of its text."""
        del heard, offered
        told: Row = {"model": "m", "stop_reason": stopped or None}
        if tokens:
            told |= {
                "input_tokens": tokens.fresh,
                "output_tokens": tokens.output,
                "cache_read_tokens": tokens.cache_read,
                "cache_creation_tokens": tokens.cache_write,
            }
        row = self._span(number, parent, "llm_request", told, at=at, trace=trace)
        if not said or not said.text or parent is None:
            return row
        record = _record(parent, at + 1, "assistant_response", response=said.text)
        return row | {"records": [record]}

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
        """Return a tool, with the record of what it was given."""
        told = {
            "gen_ai.operation.name": "execute_tool",
            "tool_name": call.name,
            "gen_ai.tool.name": call.name,
            "tool_use_id": call.id or None,
            "gen_ai.tool.call.id": call.id or None,
        }
        row = self._span(number, parent, "tool", told, at=at, ms=ms, trace=trace)
        if result is not None:
            attributes = [{"key": "output", "value": {"stringValue": result}}]
            at_ns = row["endTimeUnixNano"]
            event = {"timeUnixNano": at_ns, "name": "tool.output", "attributes": attributes}
            row["events"] = [event]
        if parent is None or not call.id:
            return row
        given = json.dumps(call.given())
        record = _record(
            parent, at + ms, "tool_result",
            tool_use_id=call.id, success="true", tool_input=given,
        )  # fmt: skip
        return row | {"records": [record]}

    def refused(self, number: int, parent: int, *, call: Call, at: float = 3) -> list[Row]:
        """Return the span of a tool that waited for its user, and was never executed."""
        tool = self.tool(number, parent, call=call, at=at)
        told = {"decision": "reject", "source": "user_reject"}
        asked = self._span(number + 100, number, "tool.blocked_on_user", told, at=at)
        return [{key: tool[key] for key in tool if key != "records"}, asked]
