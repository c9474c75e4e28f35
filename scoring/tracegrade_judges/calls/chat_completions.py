"""Reads what an OpenAI-compatible endpoint answers: the one message in it, and its tokens."""

import json
from collections.abc import Mapping
from typing import Any

from tracegrade_collector.redact.redaction import Redactor
from tracegrade_judges.calls.answers import (
    UNREADABLE,
    AnswerFields,
    CompletionRequest,
    JudgeAnswer,
    clean_json,
    clean_text,
    is_count,
)
from tracegrade_queries.costs.answer_cost import TokenCounts


def read_completion(
    body: bytes, request: CompletionRequest, redactor: Redactor
) -> JudgeAnswer | None:
    """Return the answer in a response's body; None if it holds none that can be read.

    Args:
        body: As received.
        request: What was asked for.
        redactor: Of the lake.
    """
    try:
        response = json.loads(body)
        choice = response["choices"][0]
        message = _message(choice["message"], redactor)
    except UNREADABLE:
        return None
    counts = _counts(response.get("usage"))
    tokens = counts or request.most
    answer = {
        "id": "kept",
        "object": "chat.completion",
        "created": 0,
        "model": request.model,
        "choices": [
            {"index": 0, "message": message, "finish_reason": _finish(choice, message)},
        ],
        "usage": {
            "prompt_tokens": tokens.input,
            "completion_tokens": tokens.output,
            "total_tokens": tokens.input + tokens.output,
        },
    }
    return JudgeAnswer(json.dumps(answer), counts)


def _message(message: AnswerFields, redactor: Redactor) -> AnswerFields:
    calls = message.get("tool_calls") or []
    answer: AnswerFields = {
        "role": "assistant",
        "content": clean_text(message.get("content"), redactor),
    }
    if message.get("refusal"):
        answer["refusal"] = clean_text(message["refusal"], redactor)
    if calls:
        answer["tool_calls"] = [
            _call(i, call["function"], redactor) for i, call in enumerate(calls)
        ]
    return answer


def _call(number: int, function: AnswerFields, redactor: Redactor) -> AnswerFields:
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {
        "id": f"call_{number}",  # of the endpoint's own nothing is needed
        "type": "function",
        "function": {"name": str(function["name"]), "arguments": clean_json(text, redactor)},
    }


def _finish(choice: AnswerFields, message: AnswerFields) -> str:
    given = choice.get("finish_reason")
    if given in {"stop", "length", "tool_calls", "content_filter"}:
        return str(given)
    return "tool_calls" if "tool_calls" in message else "stop"


def _counts(usage: object) -> TokenCounts | None:
    if not isinstance(usage, Mapping):
        return None
    read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not (is_count(read) and is_count(written)):
        return None
    return TokenCounts(
        read,
        written,
        cache_read=_detail(usage, "prompt_tokens_details", "cached_tokens"),
        reasoning=_detail(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def _detail(usage: Mapping[str, Any], details: str, key: str) -> int:
    found = usage.get(details)
    count = found.get(key) if isinstance(found, Mapping) else None
    return count if is_count(count) else 0
