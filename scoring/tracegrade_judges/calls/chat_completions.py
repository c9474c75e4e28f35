"""Reads what an OpenAI-compatible endpoint answers: the one message in it, and its tokens."""

import json

from tracegrade_collector.redact.redaction import Redactor
from tracegrade_judges.calls.answers import (
    UNREADABLE,
    AnswerFields,
    CompletionRequest,
    JudgeAnswer,
    clean_json,
    clean_text,
)
from tracegrade_queries.costs.usage import token_counts


def read_completion(
    body: bytes, request: CompletionRequest, redactor: Redactor
) -> JudgeAnswer | None:
    """Return the answer in a response's body; None if it holds none that can be read.

    Args:
        body: The body as received.
        request: The request that it answers.
        redactor: The lake's redactor.
    """
    try:
        response = json.loads(body)
        choice = response["choices"][0]
        message = _message(choice["message"], redactor)
    except UNREADABLE:
        return None
    counts = token_counts(response.get("usage"))
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
