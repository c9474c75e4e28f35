"""Reads what an endpoint answers: the one message in it, without secrets, and its tokens.

What is used is what is kept, so that a judgement from the cache reads the very same.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeGuard

from tracegrade_collector.redact.redaction import Redactor
from tracegrade_queries.costs.answer_cost import TokenCounts

MAX_BYTES: Final = 1_000_000
"""No answer of a few hundred tokens is longer."""

MAX_COUNT: Final = 2**40
"""A greater number of tokens is none."""

Json = dict[str, Any]


class JudgeAnswer(NamedTuple):
    """An answer of a model, as it is used and kept."""

    text: str
    """A response of Chat Completions, in JSON."""
    counts: TokenCounts | None
    """None if the endpoint does not count."""


def read_response(
    body: bytes, model: str, most: TokenCounts, redactor: Redactor
) -> JudgeAnswer | None:
    """Return the answer in a response's body; None if it holds none that can be read.

    Args:
        body: As received.
        model: As it was asked for.
        most: The tokens that it can have taken, which an answer says that does not count them.
        redactor: Of the lake.
    """
    try:
        response = json.loads(body)
        choice = response["choices"][0]
        message = _message(choice["message"], redactor)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    counts = _counts(response.get("usage"))
    said = counts or most
    kept = {
        "id": "kept",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {"index": 0, "message": message, "finish_reason": _finish(choice, message)},
        ],
        "usage": {
            "prompt_tokens": said.input,
            "completion_tokens": said.output,
            "total_tokens": said.input + said.output,
        },
    }
    return JudgeAnswer(json.dumps(kept), counts)


def _message(message: Json, redactor: Redactor) -> Json:
    calls = message.get("tool_calls") or []
    kept: Json = {"role": "assistant", "content": _clean(message.get("content"), redactor)}
    if message.get("refusal"):
        kept["refusal"] = _clean(message["refusal"], redactor)
    if calls:
        kept["tool_calls"] = [_call(i, call["function"], redactor) for i, call in enumerate(calls)]
    return kept


def _call(number: int, function: Json, redactor: Redactor) -> Json:
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {
        "id": f"call_{number}",  # of the endpoint's own nothing is needed
        "type": "function",
        "function": {"name": str(function["name"]), "arguments": _clean_json(text, redactor)},
    }


def _clean(text: object, redactor: Redactor) -> str | None:
    return None if text is None else redactor.redact_text(str(text))


def _clean_json(text: str, redactor: Redactor) -> str:
    """Return JSON whose texts have no secrets; what is no JSON is cleaned as a whole.

    A key that stands twice is kept twice: it is not for the reader to choose one.
    """
    try:
        pairs = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return redactor.redact_text(text)
    texts = list(_texts(pairs))
    clean = iter(redactor.redact_texts(texts))
    return _dumped(pairs, clean)


class _Pairs(list[tuple[str, Any]]):
    """The entries of an object, equal keys included."""


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, _Pairs):
        return [text for _, each in value for text in _texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return []


def _dumped(value: Any, clean: Any) -> str:
    if isinstance(value, str):
        return json.dumps(next(clean))
    if isinstance(value, _Pairs):
        return "{" + ", ".join(f"{json.dumps(k)}: {_dumped(v, clean)}" for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_dumped(each, clean) for each in value) + "]"
    return json.dumps(value)


def _finish(choice: Json, message: Json) -> str:
    given = choice.get("finish_reason")
    if given in {"stop", "length", "tool_calls", "content_filter"}:
        return str(given)
    return "tool_calls" if "tool_calls" in message else "stop"


def _counts(usage: object) -> TokenCounts | None:
    if not isinstance(usage, Mapping):
        return None
    read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not (_is_count(read) and _is_count(written)):
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
    return count if _is_count(count) else 0


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT
