"""Reads what Anthropic's Messages API answers: texts and calls of tools, and its tokens."""

import json
from typing import Any, Final

from tracegrade_collector.redact.redaction import Redactor
from tracegrade_judges.calls.answers import (
    UNREADABLE,
    AnswerFields,
    CompletionRequest,
    JudgeAnswer,
    Pairs,
    clean_json,
    clean_text,
)
from tracegrade_queries.costs.usage import token_counts

_STOPS: Final = frozenset({"end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal"})


def read_message(
    body: bytes, request: CompletionRequest, redactor: Redactor
) -> JudgeAnswer | None:
    """Return the answer in a response's body; None if it holds none that can be read.

    Arguments of a call are an object here. The client would take the last of two equal keys, so an
    answer with such a call is unreadable.

    Args:
        body: As received.
        request: The request that it answers.
        redactor: The lake's redactor.
    """
    try:
        response = dict(json.loads(body, object_pairs_hook=Pairs))
        given = [dict(block) for block in response["content"]]
        known = [block for block in given if block.get("type") in {"text", "tool_use"}]
        content = [
            _block(block, f"{request.number}_{i}", redactor) for i, block in enumerate(known)
        ]
    except UNREADABLE:
        return None
    usage = response.get("usage")
    counts = token_counts(dict(usage)) if isinstance(usage, Pairs) else None
    tokens = counts or request.most
    answer = {
        "id": "kept",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": _stop(response.get("stop_reason"), content),
        "stop_sequence": None,
        "usage": {"input_tokens": tokens.input, "output_tokens": tokens.output},
    }
    return JudgeAnswer(json.dumps(answer), counts)


def _block(block: AnswerFields, number: str, redactor: Redactor) -> AnswerFields:
    if block["type"] == "text":
        return {"type": "text", "text": clean_text(block["text"], redactor)}
    cleaned = clean_json(_text(block["input"]), redactor)
    return {
        "type": "tool_use",
        "id": f"call_{number}",  # unique within the conversation, as the API demands
        "name": str(block["name"]),
        "input": json.loads(cleaned),
    }


def _text(value: Any) -> str:
    """Return a parsed value as JSON.

    Raises:
        ValueError: A key occurs twice, or the value is not an object.
    """
    if not isinstance(value, Pairs):
        msg = "arguments are an object"
        raise ValueError(msg)
    return json.dumps(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, Pairs):
        found = {key: _plain(each) for key, each in value}
        if len(found) != len(value):
            msg = "equal keys"
            raise ValueError(msg)
        return found
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _stop(given: object, content: list[AnswerFields]) -> str:
    if given in _STOPS:
        return str(given)
    return "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn"
