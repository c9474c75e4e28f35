"""Sends requests through a LangChain chat model, in the format of Chat Completions.

The client of Chat Completions asks, and this sender answers it with the words of the chat model.
So the cache, the budget, the pace and the redaction are those of every other provider. A model
without `bind_tools` reads about the tools in its instructions, and calls them in JSON.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import httpx2

from tracegrade_judges.calls.answers import MAX_BYTES, AnswerFields, json_of, parsed_pairs
from tracegrade_judges.calls.sending import AnswerTooLong, ModelFailed, SentAnswer

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

IN_TEXT: Final = """

Call one tool in each reply. Reply with one JSON object and nothing else:
{"tool": NAME, "arguments": {...}}. The tools, with the JSON Schema of their arguments:
"""
"""Follows the instructions of a model that takes no tools."""
_FINISH: Final[Mapping[object, str]] = {
    "length": "length",
    "max_tokens": "length",
    "MAX_TOKENS": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "SAFETY": "content_filter",
}
_FENCE: Final = re.compile(r"^```\w*\n(.*)\n```$", re.DOTALL)


class LangChainSender:
    """Answers requests of Chat Completions with a LangChain chat model."""

    def __init__(self, model: "BaseChatModel") -> None:
        """Take the model; a class of its own `bind_tools` calls tools itself."""
        from langchain_core.language_models import BaseChatModel  # noqa: PLC0415

        self._model = model
        self._takes_tools = type(model).bind_tools is not BaseChatModel.bind_tools

    async def send(self, request: httpx2.Request, headers: frozenset[str]) -> SentAnswer:
        """Ask the model; the headers are of no use to it.

        Raises:
            AnswerTooLong: The answer has too many bytes.
            ModelFailed: The class failed, and names no status.
        """
        from langsmith.run_helpers import tracing_context  # noqa: PLC0415

        del headers
        body = json.loads(request.content)
        try:
            with tracing_context(enabled=False):  # otherwise requests may go to LangSmith, too
                message = await self._response(body)
        except TimeoutError:
            raise
        except Exception as error:  # noqa: BLE001 - the class may raise anything
            return _failed(error)
        answer = json.dumps(self._completion(message, body)).encode()
        if len(answer) > MAX_BYTES:
            raise AnswerTooLong
        return SentAnswer(200, answer)

    async def close(self) -> None:
        """Do nothing: LangChain has no way to close one."""

    async def _response(self, body: AnswerFields) -> "AIMessage":
        tools = body.get("tools") or []
        messages = messages_of(body["messages"], None if self._takes_tools else tools)
        if self._takes_tools and tools:
            found: AIMessage = await self._model.bind_tools(tools).ainvoke(messages)
            return found
        return await self._model.ainvoke(messages)

    def _completion(self, message: "AIMessage", body: AnswerFields) -> AnswerFields:
        text = str(message.text)
        calls = _calls(message)
        if not self._takes_tools and not calls:
            calls = call_in_text(text)
        answer: AnswerFields = {"role": "assistant", "content": None if calls else text}
        if calls:
            answer["tool_calls"] = calls
        facts = message.response_metadata
        finish = _FINISH.get(facts.get("finish_reason") or facts.get("stop_reason"))
        return {
            "model": body.get("model"),
            "choices": [{"index": 0, "message": answer, "finish_reason": finish}],
            "usage": _usage(message),
        }


def messages_of(
    given: Sequence[AnswerFields], tools_in_text: Sequence[AnswerFields] | None
) -> "list[BaseMessage]":
    """Return the messages of a request as LangChain has them.

    Args:
        given: As the request of Chat Completions has them.
        tools_in_text: The tools, if the model has to read about them in its instructions.
    """
    from langchain_core.messages import (  # noqa: PLC0415
        AIMessage,
        HumanMessage,
        SystemMessage,
        ToolMessage,
    )

    in_text = tools_in_text is not None
    about = IN_TEXT + json.dumps([each["function"] for each in tools_in_text or []])
    found: list[BaseMessage] = []
    for message in given:
        role, text = message["role"], message.get("content") or ""
        if role in {"system", "developer"}:
            found.append(SystemMessage(text + about if in_text else text))
            about = ""
        elif role == "assistant":
            calls = [_call_of(each) for each in message.get("tool_calls") or []]
            written = [json.dumps({"tool": c["name"], "arguments": c["args"]}) for c in calls]
            found.append(
                AIMessage("\n".join([text, *written]).strip())
                if in_text
                else AIMessage(text, tool_calls=calls)
            )
        elif role == "tool" and not in_text:
            found.append(ToolMessage(text, tool_call_id=message["tool_call_id"]))
        else:
            found.append(HumanMessage(text))
    return found


def call_in_text(text: str) -> list[AnswerFields]:
    """Return the call that a reply writes in JSON; none if it writes no such object."""
    fenced = _FENCE.match(text.strip())
    try:
        given = dict(parsed_pairs(fenced[1] if fenced else text))
        name, arguments = given["tool"], json_of(given["arguments"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return []
    return [_function(str(name), arguments)]


def _call_of(call: AnswerFields) -> Any:
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"])
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        arguments = {"unreadable": function["arguments"]}
    return {"name": function["name"], "args": arguments, "id": call["id"], "type": "tool_call"}


def _calls(message: "AIMessage") -> list[AnswerFields]:
    read = [_function(each["name"], json.dumps(each["args"])) for each in message.tool_calls]
    unread = [
        _function(each["name"] or "", each["args"] or "") for each in message.invalid_tool_calls
    ]
    return read + unread


def _function(name: str, arguments: str) -> AnswerFields:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def _usage(message: "AIMessage") -> AnswerFields | None:
    """Return the tokens as Chat Completions counts them; None if the class reports none."""
    usage = message.usage_metadata
    if usage is None:
        return None
    cached = usage.get("input_token_details", {})
    return {
        "prompt_tokens": usage["input_tokens"],
        "completion_tokens": usage["output_tokens"],
        "prompt_tokens_details": {
            "cached_tokens": cached.get("cache_read"),
            "cache_write_tokens": cached.get("cache_creation"),
        },
        "completion_tokens_details": {
            "reasoning_tokens": usage.get("output_token_details", {}).get("reasoning"),
        },
    }


def _failed(error: Exception) -> SentAnswer:
    """Return the status that a failure names; one without a connection is 503.

    Raises:
        ModelFailed: It names none, so that the request may have been worked on.
    """
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    if isinstance(status, int) and 300 <= status < 600:
        headers = getattr(response, "headers", None) or {}
        return SentAnswer(status, b"", headers.get("retry-after"))
    if isinstance(error, OSError) or "Connect" in type(error).__name__:
        return SentAnswer(503, b"")
    raise ModelFailed(type(error).__name__) from None
