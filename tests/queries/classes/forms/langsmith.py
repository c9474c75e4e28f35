"""LangSmith's export: LangChain's runs, with the inputs and outputs of each as JSON."""

from collections.abc import Mapping
from typing import ClassVar

from tests.queries.classes.forms.attributes import (
    anthropic_hosted,
    openai_call,
    raised,
    with_attributes,
)
from tests.queries.classes.story import (
    LEFT_OUT,
    AgentRun,
    Call,
    Form,
    Hosted,
    Message,
    ModelCall,
    Place,
    Tokens,
    ToolRun,
)
from tests.queries.traces import Row

TYPES = {"user": "human", "assistant": "ai", "system": "system", "tool": "tool"}


def _call(call: Call) -> Row:
    told = {} if call.arguments is LEFT_OUT else {"args": call.arguments}
    return {"name": call.name, "id": call.id, "type": "tool_call", **told}


def _message(message: Message) -> Row:
    """Return a message as LangChain keeps it: what it could not parse as OpenAI's."""
    kwargs: Row = {"content": message.text, "type": TYPES[message.role]}
    if message.replies_to:
        status = "error" if message.failed else "success"
        kwargs |= {"tool_call_id": message.replies_to.id, "status": status}
    if message.calls and all(isinstance(each.arguments, str) for each in message.calls):
        kwargs["additional_kwargs"] = {"tool_calls": [*map(openai_call, message.calls)]}
        kwargs["invalid_tool_calls"] = [*map(_call, message.calls)]
    elif message.calls:
        kwargs["tool_calls"] = [*map(_call, message.calls)]
    return {"lc": 1, "type": "constructor", "id": ["langchain"], "kwargs": kwargs}


class LangSmith(Form):
    """LangGraph's agents with LANGSMITH_OTEL_ENABLED."""

    dialect = "langsmith"
    lacks: ClassVar[Mapping[str, str]] = {}

    def agent_span(self, run: AgentRun) -> Row:
        """Return the chain of a graph."""
        answered = {"messages": [{"content": run.answer, "type": "ai"}]}
        attributes = {
            "langsmith.span.kind": "chain",
            "langsmith.trace.name": run.name,
            "langsmith.metadata.lc_agent_name": run.name,
            "langsmith.metadata.ls_integration": "langchain_create_agent",
            "gen_ai.operation.name": "chain",
            "gen_ai.prompt": {"messages": [["user", run.heard]]} if run.heard else None,
            "gen_ai.completion": answered if run.answer else None,
        }
        return with_attributes(run, attributes, scope="langsmith", name=run.name)

    def model_span(self, made: ModelCall) -> Row:
        """Return the run of a chat model."""
        message = _message(made.said) if made.said else None
        generated = {"generations": [[{"message": message}]]} if made.said else None
        messages = [_message(each) for each in made.heard]
        definitions = [{"type": "function", "function": {"name": each}} for each in made.offered]
        return self._llm(
            made,
            {
                "gen_ai.prompt": {"messages": [messages]} if messages else None,
                "gen_ai.completion": generated,
                "gen_ai.tool.definitions": definitions or None,
                "gen_ai.response.finish_reasons": [made.stopped] if made.stopped else None,
                **self._usage(made.tokens),
            },
        )

    def _usage(self, tokens: Tokens | None) -> Row:
        if tokens is None:
            return {}
        usage = {
            "input_tokens": tokens.input,
            "output_tokens": tokens.output,
            "total_tokens": tokens.input + tokens.output,
            "input_token_details": {
                "cache_read": tokens.cache_read, "cache_creation": tokens.cache_write
            },
            "output_token_details": {"reasoning": tokens.reasoning},
        }  # fmt: skip
        return {
            "langsmith.metadata.usage_metadata": usage,
            "gen_ai.usage.input_tokens": tokens.input,
            "gen_ai.usage.output_tokens": tokens.output,
            "gen_ai.usage.total_tokens": tokens.input + tokens.output,
        }

    def _llm(self, place: Place, told: Row) -> Row:
        attributes = {
            "langsmith.span.kind": "llm",
            "langsmith.trace.name": "ChatOpenAI",
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            **told,
        }
        return with_attributes(place, attributes, scope="langsmith", name="ChatOpenAI")

    def tool_span(self, ran: ToolRun) -> Row:
        """Return the run of a tool, whose output is LangChain's message."""
        output = {
            "content": ran.result,
            "type": "tool",
            "tool_call_id": ran.call.id,
            "status": "success",
        }
        attributes = {
            "langsmith.span.kind": "tool",
            "langsmith.trace.name": ran.call.name,
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": ran.call.name,
            "gen_ai.tool.call.id": ran.call.id or None,
            "gen_ai.prompt": ran.call.given(),
            "gen_ai.completion": {} if ran.result is None else {"output": output},
        }
        return with_attributes(ran, attributes, scope="langsmith", name=ran.call.name)

    def paused_span(self, ran: ToolRun) -> Row:
        """Return a tool that LangGraph interrupted: of an error its repr is kept."""
        text = (
            "GraphInterrupt((Interrupt(value='ok?', id='5f'),))Traceback (most recent call last):"
        )
        row = raised(self.tool_span(ran), "Exception", text)
        return row | {"status": {"code": 2}}

    def hosted_span(self, made: ModelCall, hosted: Hosted) -> Row:
        """Return a chat model whose content is Anthropic's blocks."""
        content = anthropic_hosted(hosted.name, hosted.arguments, hosted.result, hosted.text)
        message = {"lc": 1, "type": "constructor", "kwargs": {"content": content, "type": "ai"}}
        generated = {"generations": [[{"message": message}]]}
        return self._llm(made, {"gen_ai.completion": generated})
