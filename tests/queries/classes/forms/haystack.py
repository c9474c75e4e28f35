"""Haystack 3: an agent's model calls and tools as spans of their own, messages as its JSON."""

from collections.abc import Mapping
from typing import ClassVar

from tests.queries.classes.forms.attributes import openai_usage, raised, with_attributes
from tests.queries.classes.story import AgentRun, Call, Form, Message, ModelCall, ToolRun
from tests.queries.traces import Row

PARSED = (
    "A call is kept with its arguments as an object; what is none is logged, and no call is kept."
)
NO_NAME = "An agent has no name unless a pipeline gives it one."
UNTOLD = "Without content a span tells that a model was called, and nothing else."
TEXTS_ALONE = "A message of a user holds texts and images alone."
NO_HOSTED = "Its messages have no blocks for tools that a provider runs."


def _call(call: Call) -> Row:
    return {"tool_name": call.name, "arguments": call.given(), "id": call.id, "extra": None}


def _message(message: Message, meta: Row) -> Row:
    texts = [{"text": message.text}] if message.text else []
    content: list[Row] = [*texts, *({"tool_call": _call(each)} for each in message.calls)]
    if message.replies_to:
        result = {
            "result": message.text, "origin": _call(message.replies_to), "error": message.failed
        }  # fmt: skip
        content = [{"tool_call_result": result}]
    return {"role": message.role, "meta": meta, "name": None, "content": content}


class Haystack(Form):
    """An agent with its own tracer."""

    dialect = "haystack"
    lacks: ClassVar[Mapping[str, str]] = {
        "texts as arguments": PARSED,
        "names of agents": NO_NAME,
        "reasons to stop": UNTOLD,
        "requests of users": TEXTS_ALONE,
        "tools of providers": NO_HOSTED,
    }

    def agent_span(self, run: AgentRun) -> Row:
        """Return `haystack.agent.run`."""
        given = {"messages": [_message(Message("user", run.heard), {})]} if run.heard else None
        given_back = {"messages": [_message(Message("assistant", run.answer or ""), {})]}
        attributes = {
            "haystack.agent.max_steps": 100,
            "haystack.agent.input": given,
            "haystack.agent.output": given_back if run.answer else None,
        }
        return with_attributes(run, attributes, scope="haystack", name="haystack.agent.run")

    def model_span(self, made: ModelCall) -> Row:
        """Return `haystack.agent.step.llm`."""
        meta: Row = {"model": "m", "finish_reason": made.stopped or "stop"}
        if made.tokens:
            meta["usage"] = openai_usage(made.tokens)
        messages = [_message(each, {}) for each in made.heard]
        tools = [
            {"type": "haystack.tools.tool.Tool", "data": {"name": each}} for each in made.offered
        ]
        attributes = {
            "haystack.agent.step.llm.input": {"messages": messages, "tools": tools},
            "haystack.agent.step.llm.output": {"replies": [_message(made.said, meta)]}
            if made.said
            else None,
        }
        if not messages and not tools:
            del attributes["haystack.agent.step.llm.input"]
        return with_attributes(made, attributes, scope="haystack", name="haystack.agent.step.llm")

    def tool_span(self, ran: ToolRun) -> Row:
        """Return `haystack.agent.step.tool`."""
        attributes = {
            "haystack.tool.name": ran.call.name,
            "haystack.agent.step.tool.input": ran.call.given(),
            "haystack.agent.step.tool.output": ran.result,
        }
        return with_attributes(ran, attributes, scope="haystack", name="haystack.agent.step.tool")

    def paused_span(self, ran: ToolRun) -> Row:
        """Return a tool that a breakpoint stopped."""
        return raised(self.tool_span(ran), "haystack.core.errors.BreakpointException")
