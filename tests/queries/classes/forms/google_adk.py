"""Google's Agent Development Kit, schema 1: requests and responses of Gemini's API as JSON."""

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

    def _span(self, place: Place, name: str, told: Row) -> Row:
        return with_attributes(place, told, name=name, scope="gcp.vertex.agent")

    def agent_span(self, run: AgentRun) -> Row:
        """Return an `invoke_agent`, which tells neither question nor answer."""
        told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": run.name}
        return self._span(run, f"invoke_agent {run.name}", told)

    def model_span(self, made: ModelCall) -> Row:
        """Return a `call_llm`; without what was said its content is off."""
        messages = [*made.heard]
        instructions = [each.text for each in messages if each.role == "system"]
        config: Row = {"system_instruction": "\n".join(instructions)} if instructions else {}
        if made.offered:
            declared = [{"name": each} for each in made.offered]
            config["tools"] = [{"function_declarations": declared}]
        contents = [_content(each) for each in messages if each.role != "system"]
        used: Row = {}
        if tokens := made.tokens:
            used = {
                "prompt_token_count": tokens.input,
                "candidates_token_count": tokens.output - tokens.reasoning,
                "thoughts_token_count": tokens.reasoning,
                "cached_content_token_count": tokens.cache_read,
                "total_token_count": tokens.input + tokens.output,
            }
        if made.said is None:
            return self._without_content(made)
        told: Row = {
            "gen_ai.system": "gcp.vertex.agent",
            "gen_ai.request.model": "m",
            "gcp.vertex.agent.llm_request": {"model": "m", "config": config, "contents": contents},
            "gcp.vertex.agent.llm_response": {
                "content": _content(made.said),
                "usage_metadata": used,
            },
            "gen_ai.response.finish_reasons": [made.stopped] if made.stopped else None,
            "gen_ai.usage.input_tokens": made.tokens and made.tokens.input,
            "gen_ai.usage.output_tokens": used.get("candidates_token_count"),
        }
        return self._span(made, "call_llm", told)

    def _without_content(self, made: ModelCall) -> Row:
        """Return the span below `call_llm`, which has no other content left."""
        told = {
            "gen_ai.operation.name": "generate_content",
            "gen_ai.request.model": "m",
            "gen_ai.usage.input_tokens": made.tokens and made.tokens.input,
            "gen_ai.usage.output_tokens": made.tokens and made.tokens.output,
        }
        return self._span(made, "generate_content m", told)

    def tool_span(self, ran: ToolRun) -> Row:
        """Return an `execute_tool`."""
        told = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": ran.call.name,
            "gen_ai.tool.call.id": ran.call.id or None,
            "gcp.vertex.agent.llm_request": {},
            "gcp.vertex.agent.llm_response": {},
            "gcp.vertex.agent.tool_call_args": ran.call.given(),
            "gcp.vertex.agent.tool_response": {} if ran.result is None else {"result": ran.result},
        }
        name = f"execute_tool {ran.call.name}"
        return self._span(ran, name, told)

    def paused_span(self, ran: ToolRun) -> Row:
        """Return a tool that a user has to confirm first: what it says is in its result."""
        waits = "This tool call requires confirmation, please approve or reject."
        row = self.tool_span(ran)
        for each in row["attributes"]:
            if each["key"] == "gcp.vertex.agent.tool_response":
                each["value"] = {"stringValue": json.dumps({"error": waits})}
        return row

    def plain(self, result: str | None) -> str | None:
        """Return what stands in the object that ADK makes of a text."""
        return result and json.loads(result)["result"]

    def hosted_span(self, made: ModelCall, hosted: Hosted) -> Row:
        """Return a `call_llm` in which Gemini ran code."""
        parts = [
            {"executable_code": {"language": "PYTHON", **hosted.arguments}},
            {"code_execution_result": {"outcome": "OUTCOME_OK", "output": hosted.result}},
            {"text": hosted.text},
        ]
        told = {
            "gen_ai.system": "gcp.vertex.agent",
            "gcp.vertex.agent.llm_request": {"model": "m", "contents": []},
            "gcp.vertex.agent.llm_response": {"content": {"role": "model", "parts": parts}},
        }
        return self._span(made, "call_llm", told)
