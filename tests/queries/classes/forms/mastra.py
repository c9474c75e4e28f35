"""Mastra since version 1: steps of a model, with their tools below them."""

from collections.abc import Mapping
from typing import ClassVar

from tests.queries.classes.forms.attributes import openai_usage, with_attributes
from tests.queries.classes.story import (
    LEFT_OUT,
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

SUSPENDS = "The output of the run shows that a tool waits; the tool's span does not."
RESULTS = "No attribute holds the result of a tool that the provider ran."
NAMES_ALONE = "A step's input gives only the tools' names of earlier calls and results."


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

    def _span(self, place: Place, name: str, told: Row) -> Row:
        return with_attributes(place, told, name=name, scope="@mastra/otel-exporter")

    def agent_span(self, run: AgentRun) -> Row:
        """Return an `agent_run`."""
        told = {
            "gen_ai.operation.name": "invoke_agent",
            "mastra.span.type": "agent_run",
            "mastra.agent_run.input": run.heard,
            "mastra.agent_run.output": {"text": run.answer, "files": []} if run.answer else None,
            "gen_ai.agent.id": run.name,
            "gen_ai.agent.name": run.name,
        }
        return self._span(run, f"invoke_agent {run.name}", told)

    def model_span(self, made: ModelCall) -> Row:
        """Return a `model_step`; without what was said its `model_generation`."""
        body: Row = {"model": "m"} | ({"usage": openai_usage(made.tokens)} if made.tokens else {})
        messages = [_message(each) for each in made.heard]
        output = (
            {"text": made.said.text, "toolCalls": [*map(_call, made.said.calls)]}
            if made.said
            else None
        )
        kind = "model_step" if made.said else "model_inference"
        told: Row = {
            "gen_ai.operation.name": "agent_step" if made.said else "chat",
            "mastra.span.type": kind,
            f"mastra.{kind}.input": messages or None,
            f"mastra.{kind}.output": output,
            "mastra.metadata.body": body if made.said else None,
            "gen_ai.response.finish_reasons": [made.stopped.replace("_", "-")]
            if made.stopped
            else None,
            "gen_ai.tool.definitions": [*made.offered] or None,
        }
        if made.tokens and not made.said:
            told |= {
                "gen_ai.usage.input_tokens": made.tokens.input,
                "gen_ai.usage.output_tokens": 1,
            }
        return self._span(made, "agent_step a", told)

    def tool_span(self, ran: ToolRun) -> Row:
        """Return a `tool_call`."""
        told = {
            "gen_ai.operation.name": "execute_tool",
            "mastra.span.type": "tool_call",
            "gen_ai.tool.name": ran.call.name,
            "gen_ai.tool.call.id": ran.call.id or None,
            "gen_ai.tool.call.arguments": ran.call.given(),
            "gen_ai.tool.call.result": ran.result,
        }
        name = f"execute_tool {ran.call.name}"
        return self._span(ran, name, told)

    def hosted_span(self, made: ModelCall, hosted: Hosted) -> Row:
        """Return a step with a tool that Anthropic ran: its id alone tells that."""
        call = {
            "toolCallId": "srvtoolu_1",
            "toolName": hosted.name,
            "args": dict(hosted.arguments),
        }
        told = {
            "gen_ai.operation.name": "agent_step",
            "mastra.span.type": "model_step",
            "mastra.model_step.output": {"text": hosted.text, "toolCalls": [call]},
        }
        return self._span(made, "agent_step a", told)
