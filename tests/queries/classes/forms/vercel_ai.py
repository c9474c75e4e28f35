"""Vercel's AI SDK, version 6: one operation a span, messages as its own JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from tests.queries.classes.forms.attributes import with_attributes
from tests.queries.classes.story import Call, Form, Hosted, Message, Tokens
from tests.queries.traces import Row

APPROVALS = "No attribute tells of an approval: that nobody answered a request does."
RESULTS = "Of what a provider ran no attribute tells the result."


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

    def _span(
        self, number: int, parent: int | None, operation: str, told: Row, **at: float
    ) -> Row:
        attributes = {"operation.name": operation, "ai.operationId": operation, **told}
        trace = int(at.pop("trace"))
        return with_attributes(
            number, parent, attributes, scope="ai", name=operation, trace=trace, **at
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
        """Return `ai.generateText`."""
        told = {
            "ai.telemetry.functionId": name,
            "ai.prompt": {"prompt": heard} if heard else None,
            "ai.response.text": answer,
        }
        return self._span(number, parent, "ai.generateText", told, at=at, ms=ms, trace=trace)

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
        """Return `ai.generateText.doGenerate`."""
        calls = [
            {"toolCallId": each.id, "toolName": each.name, "input": self._text(each)}
            for each in (said.calls if said else ())
        ]
        definitions = [json.dumps({"type": "function", "name": each}) for each in offered]
        told: Row = {
            "ai.model.id": "m",
            "ai.prompt.messages": [_message(each) for each in heard] or None,
            "ai.prompt.tools": definitions or None,
            "ai.response.finishReason": stopped.replace("_", "-") or None,
            "ai.response.text": said.text or None if said else None,
            "ai.response.toolCalls": calls or None,
        }
        if tokens:
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
        return self._span(number, parent, "ai.generateText.doGenerate", told, at=at, trace=trace)

    def _text(self, call: Call) -> object:
        """Return arguments as the provider gave them: a JSON text."""
        return call.arguments if isinstance(call.arguments, str) else json.dumps(_input(call))

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
        """Return `ai.toolCall`."""
        told = {
            "ai.toolCall.name": call.name,
            "ai.toolCall.id": call.id or None,
            "ai.toolCall.args": call.given(),
            "ai.toolCall.result": None if result is None else json.dumps(result),
        }
        return self._span(number, parent, "ai.toolCall", told, at=at, ms=ms, trace=trace)

    def hosted(self, number: int, parent: int, *, ran: Hosted, at: float = 1) -> Row:
        """Return a model call with a tool that Anthropic ran: its id alone tells that."""
        call = {"toolCallId": "srvtoolu_1", "toolName": ran.name}
        told = {
            "ai.response.text": ran.text,
            "ai.response.toolCalls": [call | {"input": json.dumps(ran.arguments)}],
        }
        return self._span(number, parent, "ai.generateText.doGenerate", told, at=at, trace=1)
