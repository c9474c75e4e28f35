"""How many tokens an answer took is read from replies, as the common interfaces say it."""

import json
from typing import Any

import pytest

from tracegrade_harness.proxy.messages import ProxiedReply, ProxiedRequest
from tracegrade_harness.proxy.model_answers import ModelAnswer, answer_in
from tracegrade_queries.costs.answer_cost import TokenCounts

CHAT = {
    "model": "gpt-x-2026",
    "usage": {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 15},
    },
}
RESPONSE = {
    "model": "gpt-x-2026",
    "usage": {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 15},
    },
}
OPENAI = ModelAnswer("gpt-x-2026", TokenCounts(100, 20, 60, 0, 15))
MESSAGE = {
    "type": "message",
    "model": "claude-x",
    "usage": {
        "input_tokens": 10,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 30,
        "output_tokens": 20,
    },
}
ANTHROPIC = ModelAnswer("claude-x", TokenCounts(100, 20, 60, 30, 0))


def asked(path: str = "/v1/x", method: str = "POST", body: Any = None) -> ProxiedRequest:
    """Return a request for an answer."""
    return ProxiedRequest(method, path, "", (), json.dumps(body or {"model": "asked"}).encode())


def plain(body: Any, status: int = 200) -> ProxiedReply:
    """Return a reply that is one JSON document."""
    text = json.dumps(body).encode()
    return ProxiedReply(status, (("content-type", "application/json"),), (text,))


def streamed(*events: Any) -> ProxiedReply:
    """Return a reply that is a stream of events, which ends as OpenAI's do."""
    lines = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    headers = (("content-type", "text/event-stream; charset=utf-8"),)
    return ProxiedReply(200, headers, (*lines, b"data: [DONE]\n\n"))


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (plain(CHAT), OPENAI),
        (plain(RESPONSE), OPENAI),
        (plain(MESSAGE), ANTHROPIC),
        (
            streamed(
                {"model": "gpt-x-2026", "choices": [{"delta": {"content": "a"}}], "usage": None},
                {**CHAT, "choices": []},
            ),
            OPENAI,
        ),
        (
            streamed(
                {"type": "response.created", "response": {"model": "gpt-x-2026", "usage": None}},
                {"type": "response.completed", "response": RESPONSE},
            ),
            OPENAI,
        ),
        (
            streamed(
                {
                    "type": "message_start",
                    "message": {**MESSAGE, "usage": {**MESSAGE["usage"], "output_tokens": 1}},  # type: ignore[dict-item]
                },
                {"type": "content_block_delta", "delta": {"text": "a"}},
                {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 20}},
            ),
            ANTHROPIC,
        ),
        (
            plain({"model": "embed", "usage": {"prompt_tokens": 8, "total_tokens": 8}}),
            ModelAnswer("embed", TokenCounts(8, 0)),
        ),
    ],
    ids=["chat", "response", "message", "chats", "responses", "messages", "embeddings"],
)
def test_tokens_are_those_that_the_answer_says(reply: ProxiedReply, expected: ModelAnswer) -> None:
    """Cached tokens belong to the input, reasoning to the output, for every API."""
    assert answer_in(asked(), reply) == expected


@pytest.mark.parametrize(
    "reply",
    [
        plain({"choices": []}),
        plain({"usage": {"prompt_tokens": -1, "completion_tokens": 2}}),
        plain({"usage": {"prompt_tokens": True, "completion_tokens": 2}}),
        plain({"usage": {"prompt_tokens": 1 << 60, "completion_tokens": 2}}),
        plain({"usage": [1]}),
        plain([1]),
        ProxiedReply(200, (), (b"\xff no JSON",)),
        ProxiedReply(200, (), (b"[" * 100_000,)),
        streamed({"choices": [{"delta": {}}]}),
    ],
)
def test_an_answer_that_does_not_say_its_tokens_is_one_all_the_same(reply: ProxiedReply) -> None:
    """It is of the model that was asked, and never counted as nothing."""
    assert answer_in(asked(), reply) == ModelAnswer("asked", None)


@pytest.mark.parametrize(
    ("request_", "reply"),
    [
        (asked(), plain({"error": "slow down"}, 429)),
        (asked(method="GET"), plain({"data": []})),
        (asked("/v1/messages/count_tokens"), plain({"input_tokens": 5})),
    ],
)
def test_what_is_no_answer_took_nothing(request_: ProxiedRequest, reply: ProxiedReply) -> None:
    """Refusals, lists of models, and counting beforehand."""
    assert answer_in(request_, reply) is None
