"""OpenInference: messages in indexed keys, as its instrumentation of LangChain writes them."""

import json
from collections.abc import Iterable, Mapping
from typing import ClassVar

from tests.queries.classes.forms.attributes import (
    anthropic_hosted,
    as_text,
    raised,
    with_attributes,
)
from tests.queries.classes.story import (
    LEFT_OUT,
    AgentRun,
    Form,
    Hosted,
    Message,
    ModelCall,
    ToolRun,
)
from tests.queries.traces import Row

FAILED = "The keys of a message do not tell whether a reply is an error."


def keys_of(direction: str, messages: Iterable[Message]) -> Row:
    """Return messages as indexed keys."""
    told: Row = {}
    for position, message in enumerate(messages):
        prefix = f"llm.{direction}_messages.{position}.message."
        told[prefix + "role"] = message.role
        if message.text:
            told[prefix + "content"] = message.text
        if message.replies_to:
            told[prefix + "tool_call_id"] = message.replies_to.id
        for place, call in enumerate(message.calls):
            stem = f"{prefix}tool_calls.{place}.tool_call."
            told[stem + "id"] = call.id
            told[stem + "function.name"] = call.name
            if call.arguments is not LEFT_OUT:
                told[stem + "function.arguments"] = as_text(call.arguments)
    return told


class OpenInference(Form):
    """As LangChain's runs are written."""

    dialect = "openinference"
    lacks: ClassVar[Mapping[str, str]] = {"failed replies": FAILED}
    scope = "openinference.instrumentation.langchain"

    def agent_span(self, run: AgentRun) -> Row:
        """Return the span of a graph."""
        output = (
            {"messages": [{"type": "ai", "data": {"content": run.answer}}]} if run.answer else None
        )
        attributes = {
            "openinference.span.kind": "AGENT",
            "input.value": {"messages": [["user", run.heard]]} if run.heard else None,
            "output.value": output,
            "metadata": {"ls_integration": "langchain_create_agent", "lc_agent_name": run.name},
        }
        return with_attributes(run, attributes, scope=self.scope, name=run.name)

    def model_span(self, made: ModelCall) -> Row:
        """Return the span of a model."""
        attributes: Row = {
            "openinference.span.kind": "LLM",
            "llm.model_name": "m",
            "llm.finish_reason": made.stopped or None,
            **keys_of("input", made.heard),
            **keys_of("output", [made.said] if made.said else []),
        }
        for place, name in enumerate(made.offered):
            definition = {"type": "function", "function": {"name": name}}
            attributes[f"llm.tools.{place}.tool.json_schema"] = json.dumps(definition)
        if tokens := made.tokens:
            attributes |= {
                "llm.token_count.prompt": tokens.input,
                "llm.token_count.completion": tokens.output,
                "llm.token_count.prompt_details.cache_read": tokens.cache_read,
                "llm.token_count.prompt_details.cache_write": tokens.cache_write,
                "llm.token_count.completion_details.reasoning": tokens.reasoning,
            }
        return with_attributes(made, attributes, scope=self.scope, name="ChatOpenAI")

    def tool_span(self, ran: ToolRun) -> Row:
        """Return the span of a tool, whose output is LangChain's message."""
        output = {
            "type": "tool",
            "data": {"content": ran.result, "tool_call_id": ran.call.id or None},
        }
        attributes = {
            "openinference.span.kind": "TOOL",
            "tool.name": ran.call.name,
            "input.value": ran.call.given(),
            "output.value": None if ran.result is None else output,
        }
        return with_attributes(ran, attributes, scope=self.scope, name=ran.call.name)

    def paused_span(self, ran: ToolRun) -> Row:
        """Return a tool that LangGraph interrupted."""
        return raised(self.tool_span(ran), "langgraph.errors.GraphInterrupt")

    def hosted_span(self, made: ModelCall, hosted: Hosted) -> Row:
        """Return a model's span whose whole output is Anthropic's."""
        content = anthropic_hosted(hosted.name, hosted.arguments, hosted.result, hosted.text)
        attributes = {
            "openinference.span.kind": "LLM",
            "output.value": {"type": "message", "role": "assistant", "content": content},
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": hosted.text,
        }
        return with_attributes(made, attributes, scope=self.scope, name="Claude")
