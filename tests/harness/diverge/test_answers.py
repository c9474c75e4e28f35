"""Answers of tapes are compared as JSON if they are JSON, and distinguished by class."""

from typing import Any

import pytest

from tracegrade_harness.diverge.answers import answer_on
from tracegrade_harness.diverge.comparison import ServiceAnswer
from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.tape.entries import TapeEntry, key_of

SHA256 = "a8100ae6aa1940d0b663bb31cd466142ebbdbd5187131b92d93818987832eb89"
"""Of the byte 255."""


def entry(channel: str, reply: Any) -> TapeEntry:
    """Return a call of a tape with this reply."""
    return TapeEntry(key_of(channel, "GET /", {}), reply)


def http(*chunks: Any, status: int = 200) -> dict[str, Any]:
    """Return a reply over HTTP as a tape has it."""
    return {"status": status, "headers": {}, "chunks": [*chunks]}


def said(text: str, **more: Any) -> dict[str, Any]:
    """Return a tool's result as a tape has it."""
    return {"result": {"content": [{"type": "text", "text": text}], **more}}


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (http('{"a":', "1}"), ServiceAnswer(False, "HTTP 200", {"a": 1})),
        (http("no", status=599), ServiceAnswer(True, "HTTP 599", "no")),
        (http({"base64": "/w=="}), ServiceAnswer(False, "HTTP 200", f"1 bytes, SHA-256 {SHA256}")),
        (http("[" * 100_000), ServiceAnswer(False, "HTTP 200", "[" * 100_000)),
    ],
    ids=["chunks", "error", "bytes", "nested deeply"],
)
def test_a_body_is_its_json(reply: Any, answer: ServiceAnswer) -> None:
    """Else its text; of bytes, which may hold a secret, only what tells them from others."""
    assert answer_on(entry("http:x", reply)) == answer


@pytest.mark.parametrize(
    ("reply", "failed", "outcome", "content"),
    [
        (said('{"a": 1}'), False, "MCP result", {"a": 1}),
        (said("17"), False, "MCP result", "17"),
        (said("no such item", isError=True), True, "MCP isError", "no such item"),
    ],
)
def test_a_tools_text_is_its_json(reply: Any, failed: bool, outcome: str, content: Any) -> None:
    """Where it is an object or a list."""
    found = answer_on(entry("mcp:x", reply))

    assert (found.failed, found.outcome) == (failed, outcome)
    assert found.content["content"][0]["text"] == content


def test_an_error_of_a_protocol_has_its_code() -> None:
    """The code distinguishes errors."""
    found = answer_on(entry("mcp:x", {"error": {"code": -32602, "message": "unknown tool"}}))

    assert (found.failed, found.outcome) == (True, "MCP error -32602")


@pytest.mark.parametrize("channel", ["http:x", "mcp:x"])
@pytest.mark.parametrize("reply", [None, [], 7, "text", ["result"]])
def test_a_malformed_reply_is_told(channel: str, reply: Any) -> None:
    """With the call that it is of."""
    with pytest.raises(SuiteUnusable, match="the reply to 'GET /' is malformed"):
        answer_on(entry(channel, reply))


@pytest.mark.parametrize("reply", [{}, {**http("a"), "status": "200"}, http(7), http({})])
def test_a_reply_over_http_is_whole(reply: Any) -> None:
    """Status, headers and chunks."""
    with pytest.raises(SuiteUnusable, match="is malformed"):
        answer_on(entry("http:x", reply))
