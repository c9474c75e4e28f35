"""Google's Agent Development Kit, schema 1: requests and responses of Gemini's API as JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from tests.queries.classes.forms.attributes import with_attributes
from tests.queries.classes.story import Call, Form, Hosted, Message, Tokens
from tests.queries.traces import Row

PARSED = "Gemini gives arguments as an object, or leaves them out."
STOPS = "Gemini stops for a call as it does for an answer."
NOT_WRITTEN = "Gemini does not count what it writes to a cache."


def _part(call: Call) -> Row:
    args = {"args": call.arguments} if isinstance(call.arguments, dict) else {}
    return {"function_call": {"id": call.id, "name": call.name, **args}}


def _content(message: Message) -> Row:
    if message.replies_to:
        given = {"error": message.text} if message.failed else {"result": message.text}
        reply = {"id": message.replies_to.id, "name": message.replies_to.name, "response": given}
        return {"role": "user", "parts": [{"function_response": reply}]}
    texts = [{"text": message.text}] if message.text else []
    role = "model" if message.role == "assistant" else "user"
    return {"role": role, "parts": [*texts, *map(_part, message.calls)]}


class GoogleADK(Form):
    """`call_llm` and `execute_tool` below `invoke_agent`."""

    dialect = "google_adk"
    lacks: ClassVar[Mapping[str, str]] = {
        "texts as arguments": PARSED,
        "reasons to stop": STOPS,
        "counts of what is written to a cache": NOT_WRITTEN,
    }

    def _span(self, number: int, parent: int | None, name: str, told: Row, **fields: float) -> Row:
        trace = int(fields.pop("trace", 1))
        return with_attributes(
            number, parent, told, name=name, scope="gcp.vertex.agent", trace=trace, **fields
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
        """Return an `invoke_agent`, which tells neither question nor answer."""
        del heard, answer
        told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
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
        """Return a `call_llm`; without what was said its content is off."""
        messages = [*heard]
        instructions = [each.text for each in messages if each.role == "system"]
        config: Row = {"system_instruction": "\n".join(instructions)} if instructions else {}
        if offered:
            declared = [{"name": each} for each in offered]
            config["tools"] = [{"function_declarations": declared}]
        contents = [_content(each) for each in messages if each.role != "system"]
        used: Row = {}
        if tokens:
            used = {
                "prompt_token_count": tokens.input,
                "candidates_token_count": tokens.output - tokens.reasoning,
                "thoughts_token_count": tokens.reasoning,
                "cached_content_token_count": tokens.cache_read,
                "total_token_count": tokens.input + tokens.output,
            }
        if said is None:
            return self._without_content(number, parent, tokens, at=at, trace=trace)
        told: Row = {
            "gen_ai.system": "gcp.vertex.agent",
            "gen_ai.request.model": "m",
            "gcp.vertex.agent.llm_request": {"model": "m", "config": config, "contents": contents},
            "gcp.vertex.agent.llm_response": {"content": _content(said), "usage_metadata": used},
            "gen_ai.response.finish_reasons": [stopped] if stopped else None,
            "gen_ai.usage.input_tokens": tokens.input if tokens else None,
            "gen_ai.usage.output_tokens": tokens.output - tokens.reasoning if tokens else None,
        }
        return self._span(number, parent, "call_llm", told, at=at, trace=trace)

    def _without_content(
        self, number: int, parent: int | None, tokens: Tokens | None, *, at: float, trace: int
    ) -> Row:
        """Return the span below `call_llm`, of which nothing else is left."""
        told = {
            "gen_ai.operation.name": "generate_content",
            "gen_ai.request.model": "m",
            "gen_ai.usage.input_tokens": tokens.input if tokens else None,
            "gen_ai.usage.output_tokens": tokens.output if tokens else None,
        }
        return self._span(number, parent, "generate_content m", told, at=at, trace=trace)

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
        """Return an `execute_tool`."""
        told = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id or None,
            "gcp.vertex.agent.llm_request": {},
            "gcp.vertex.agent.llm_response": {},
            "gcp.vertex.agent.tool_call_args": call.given(),
            "gcp.vertex.agent.tool_response": {} if result is None else {"result": result},
        }
        name = f"execute_tool {call.name}"
        return self._span(number, parent, name, told, at=at, ms=ms, trace=trace)

    def paused(self, number: int, parent: int, *, call: Call, at: float = 3) -> Row:
        """Return a tool that a user has to confirm first: what it says is in its result."""
        waits = "This tool call requires confirmation, please approve or reject."
        row = self.tool(number, parent, call=call, at=at)
        for each in row["attributes"]:
            if each["key"] == "gcp.vertex.agent.tool_response":
                each["value"] = {"stringValue": json.dumps({"error": waits})}
        return row

    def plain(self, result: str | None) -> str | None:
        """Return what stands in the object that ADK makes of a text."""
        return result and json.loads(result)["result"]

    def hosted(self, number: int, parent: int, *, ran: Hosted, at: float = 1) -> Row:
        """Return a `call_llm` in which Gemini ran code."""
        parts = [
            {"executable_code": {"language": "PYTHON", **ran.arguments}},
            {"code_execution_result": {"outcome": "OUTCOME_OK", "output": ran.result}},
            {"text": ran.text},
        ]
        told = {
            "gen_ai.system": "gcp.vertex.agent",
            "gcp.vertex.agent.llm_request": {"model": "m", "contents": []},
            "gcp.vertex.agent.llm_response": {"content": {"role": "model", "parts": parts}},
        }
        return self._span(number, parent, "call_llm", told, at=at)
