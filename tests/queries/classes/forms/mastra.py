"""Mastra since version 1: steps of a model, with their tools below them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from tests.queries.classes.forms.attributes import openai_usage, with_attributes
from tests.queries.classes.story import LEFT_OUT, Call, Form, Hosted, Message, Tokens
from tests.queries.traces import Row

SUSPENDS = "That a tool waits is told by the output of its run, not by its span."
RESULTS = "Of what a provider ran no attribute tells the result."
NAMES_ALONE = "Of earlier calls and results a step's input tells the tools' names alone."


def _message(message: Message) -> Row:
    text = message.text
    if message.replies_to:
        text = f"[tool-result: {message.replies_to.name}]"
    if message.calls:
        text += "".join(f"[tool: {each.name}]" for each in message.calls)
    return {"role": message.role, "content": text}


def _call(call: Call) -> Row:
    args = {} if call.arguments is LEFT_OUT else {"args": call.arguments}
    return {"toolCallId": call.id, "toolName": call.name, **args}


class Mastra(Form):
    """Its exporter to OpenTelemetry."""

    dialect = "mastra"
    lacks: ClassVar[Mapping[str, str]] = {
        "replies": NAMES_ALONE, "pauses": SUSPENDS, "results of providers": RESULTS
    }  # fmt: skip

    def _span(self, number: int, parent: int | None, name: str, told: Row, **fields: float) -> Row:
        trace = int(fields.pop("trace", 1))
        return with_attributes(
            number, parent, told, name=name, scope="@mastra/otel-exporter", trace=trace, **fields
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
        """Return an `agent_run`."""
        told = {
            "gen_ai.operation.name": "invoke_agent",
            "mastra.span.type": "agent_run",
            "mastra.agent_run.input": heard,
            "mastra.agent_run.output": {"text": answer, "files": []} if answer else None,
            "gen_ai.agent.id": name,
            "gen_ai.agent.name": name,
        }
        return self._span(number, parent, f"invoke_agent {name}", told, at=at, ms=ms, trace=trace)

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
        """Return a `model_step`; without what was said its `model_generation`."""
        body: Row = {"model": "m"} | ({"usage": openai_usage(tokens)} if tokens else {})
        messages = [_message(each) for each in heard]
        output = {"text": said.text, "toolCalls": [*map(_call, said.calls)]} if said else None
        kind = "model_step" if said else "model_inference"
        told: Row = {
            "gen_ai.operation.name": "agent_step" if said else "chat",
            "mastra.span.type": kind,
            f"mastra.{kind}.input": messages or None,
            f"mastra.{kind}.output": output,
            "mastra.metadata.body": body if said else None,
            "gen_ai.response.finish_reasons": [stopped.replace("_", "-")] if stopped else None,
            "gen_ai.tool.definitions": [*offered] or None,
        }
        if tokens and not said:
            told |= {"gen_ai.usage.input_tokens": tokens.input, "gen_ai.usage.output_tokens": 1}
        return self._span(number, parent, "agent_step a", told, at=at, trace=trace)

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
        """Return a `tool_call`."""
        told = {
            "gen_ai.operation.name": "execute_tool",
            "mastra.span.type": "tool_call",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id or None,
            "gen_ai.tool.call.arguments": call.given(),
            "gen_ai.tool.call.result": result,
        }
        name = f"execute_tool {call.name}"
        return self._span(number, parent, name, told, at=at, ms=ms, trace=trace)

    def hosted(self, number: int, parent: int, *, ran: Hosted, at: float = 1) -> Row:
        """Return a step with a tool that Anthropic ran: its id alone tells that."""
        call = {"toolCallId": "srvtoolu_1", "toolName": ran.name, "args": dict(ran.arguments)}
        told = {
            "gen_ai.operation.name": "agent_step",
            "mastra.span.type": "model_step",
            "mastra.model_step.output": {"text": ran.text, "toolCalls": [call]},
        }
        return self._span(number, parent, "agent_step a", told, at=at)
