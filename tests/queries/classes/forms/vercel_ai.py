"""Vercel's AI SDK, version 6: one operation a span, messages as its own JSON."""

import json
from collections.abc import Mapping
from typing import ClassVar

from tests.queries.classes.forms.attributes import with_attributes
from tests.queries.classes.story import (
    AgentRun,
    Call,
    Form,
    Hosted,
    Message,
    ModelCall,
    Place,
    ToolRun,
)
from tests.queries.traces import Row

APPROVALS = "No attribute marks an approval; only a request without an answer shows it."
RESULTS = "No attribute holds the result of a tool that the provider ran."


def _input(call: Call) -> object:
    return {} if not isinstance(call.arguments, dict | str) else call.arguments


def _message(message: Message) -> Row:
    if message.replies_to:
        output = {"type": "error-text" if message.failed else "text", "value": message.text}
        part = {"toolCallId": message.replies_to.id, "toolName": message.replies_to.name}
        return {"role": "tool", "content": [{"type": "tool-result", **part, "output": output}]}
    if message.role == "system":
        return {"role": "system", "content": message.text}
    texts = [{"type": "text", "text": message.text}] if message.text else []
    calls = [
        {"type": "tool-call", "toolCallId": each.id, "toolName": each.name, "input": _input(each)}
        for each in message.calls
    ]
    return {"role": message.role, "content": [*texts, *calls]}


class VercelAI(Form):
    """`generateText` with `experimental_telemetry`."""

    dialect = "vercel_ai"
    lacks: ClassVar[Mapping[str, str]] = {
        "pauses": APPROVALS, "results of providers": RESULTS
    }  # fmt: skip

    def _span(self, place: Place, operation: str, told: Row) -> Row:
        attributes = {"operation.name": operation, "ai.operationId": operation, **told}
        return with_attributes(place, attributes, scope="ai", name=operation)

    def agent_span(self, run: AgentRun) -> Row:
        """Return `ai.generateText`."""
        told = {
            "ai.telemetry.functionId": run.name,
            "ai.prompt": {"prompt": run.heard} if run.heard else None,
            "ai.response.text": run.answer,
        }
        return self._span(run, "ai.generateText", told)

    def model_span(self, made: ModelCall) -> Row:
        """Return `ai.generateText.doGenerate`."""
        calls = [
            {"toolCallId": each.id, "toolName": each.name, "input": self._text(each)}
            for each in (made.said.calls if made.said else ())
        ]
        definitions = [json.dumps({"type": "function", "name": each}) for each in made.offered]
        told: Row = {
            "ai.model.id": "m",
            "ai.prompt.messages": [_message(each) for each in made.heard] or None,
            "ai.prompt.tools": definitions or None,
            "ai.response.finishReason": made.stopped.replace("_", "-") or None,
            "ai.response.text": made.said.text or None if made.said else None,
            "ai.response.toolCalls": calls or None,
        }
        if tokens := made.tokens:
            details = "ai.usage.inputTokenDetails."
            told |= {
                "ai.usage.inputTokens": tokens.input,
                details + "noCacheTokens": tokens.fresh,
                details + "cacheReadTokens": tokens.cache_read,
                details + "cacheWriteTokens": tokens.cache_write,
                "ai.usage.outputTokens": tokens.output,
                "ai.usage.outputTokenDetails.reasoningTokens": tokens.reasoning,
                "ai.usage.totalTokens": tokens.input + tokens.output,
            }
        return self._span(made, "ai.generateText.doGenerate", told)

    def _text(self, call: Call) -> object:
        """Return arguments as the provider gave them: a JSON text."""
        return call.arguments if isinstance(call.arguments, str) else json.dumps(_input(call))

    def tool_span(self, ran: ToolRun) -> Row:
        """Return `ai.toolCall`."""
        told = {
            "ai.toolCall.name": ran.call.name,
            "ai.toolCall.id": ran.call.id or None,
            "ai.toolCall.args": ran.call.given(),
            "ai.toolCall.result": None if ran.result is None else json.dumps(ran.result),
        }
        return self._span(ran, "ai.toolCall", told)

    def hosted_span(self, made: ModelCall, hosted: Hosted) -> Row:
        """Return a model call with a tool that Anthropic ran: its id alone tells that."""
        call = {"toolCallId": "srvtoolu_1", "toolName": hosted.name}
        told = {
            "ai.response.text": hosted.text,
            "ai.response.toolCalls": [call | {"input": json.dumps(hosted.arguments)}],
        }
        return self._span(made, "ai.generateText.doGenerate", told)
