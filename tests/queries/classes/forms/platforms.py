"""Langfuse's SDK: of each observation its type, one input and one output."""

from collections.abc import Mapping
from typing import ClassVar

from tests.queries.classes.forms.attributes import (
    anthropic_hosted,
    openai_message,
    with_attributes,
)
from tests.queries.classes.story import AgentRun, Form, Hosted, ModelCall, ToolRun
from tests.queries.traces import Row

TYPE = "langfuse.observation.type"
INPUT = "langfuse.observation.input"
OUTPUT = "langfuse.observation.output"


class Langfuse(Form):
    """Functions that are observed, and its client of OpenAI."""

    dialect = "platforms"
    lacks: ClassVar[Mapping[str, str]] = {}

    def agent_span(self, run: AgentRun) -> Row:
        """Return a function that is observed as an agent."""
        given = {"args": [run.heard], "kwargs": {}} if run.heard else None
        attributes = {TYPE: "agent", INPUT: given, OUTPUT: run.answer}
        return with_attributes(run, attributes, scope="langfuse-sdk", name=run.name)

    def model_span(self, made: ModelCall) -> Row:
        """Return a generation of OpenAI's client."""
        messages = [openai_message(each) for each in made.heard]
        tools = [{"type": "function", "function": {"name": each}} for each in made.offered]
        usage = None
        if tokens := made.tokens:
            usage = {
                "input": tokens.fresh,
                "input_cached_tokens": tokens.cache_read,
                "input_cache_creation": tokens.cache_write,
                "output": tokens.output - tokens.reasoning,
                "output_reasoning_tokens": tokens.reasoning,
                "total": tokens.input + tokens.output,
            }
        attributes = {
            TYPE: "generation",
            INPUT: {"messages": messages} | ({"tools": tools} if tools else {}),
            OUTPUT: openai_message(made.said) if made.said else None,
            "langfuse.observation.model.name": "m",
            "langfuse.observation.usage_details": usage,
        }
        return with_attributes(
            made,
            attributes | ({} if messages else {INPUT: None}),
            scope="langfuse-sdk",
            name="OpenAI-generation",
        )

    def tool_span(self, ran: ToolRun) -> Row:
        """Return a function that is observed as a tool."""
        given = {"args": [], "kwargs": ran.call.given()}
        attributes = {TYPE: "tool", INPUT: given, OUTPUT: ran.result}
        return with_attributes(ran, attributes, scope="langfuse-sdk", name=ran.call.name)

    def paused_span(self, ran: ToolRun) -> Row:
        """Return a tool that LangGraph interrupted, which Langfuse does not record as an error."""
        row = self.tool_span(ran)
        told = {
            "langfuse.observation.level": "DEFAULT",
            "langfuse.observation.status_message": "(Interrupt(value='ok?', id='5f'),)",
        }
        row["attributes"] += [
            {"key": key, "value": {"stringValue": value}} for key, value in told.items()
        ]
        return row

    def hosted_span(self, made: ModelCall, hosted: Hosted) -> Row:
        """Return a generation of Anthropic's client."""
        content = anthropic_hosted(hosted.name, hosted.arguments, hosted.result, hosted.text)
        attributes = {TYPE: "generation", OUTPUT: {"role": "assistant", "content": content}}
        return with_attributes(made, attributes, scope="langfuse-sdk", name="Anthropic-generation")
