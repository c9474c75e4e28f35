"""What is a call of a tool among MCP's messages, and what an answer to one."""

import json

import pytest

from tracegrade_harness.mcp.messages import (
    CallAnswered,
    McpUnreadable,
    answers_of,
    calls_of,
)
from tracegrade_harness.telemetry.observed_run import ObservedAnswer


def request(**message: object) -> bytes:
    """Return a message as it stands on a line."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def called(message: bytes) -> list[tuple[str, str, str | None]]:
    """Return id, tool and arguments of the calls in a message."""
    return [(each.id, each.call.tool, each.call.arguments) for each in calls_of(message)]


def answered(result: object) -> ObservedAnswer:
    """Return what an answer with this result says."""
    (found,) = answers_of(request(id=1, result=result))
    return found.answer


def test_a_call_has_a_name_and_arguments() -> None:
    """None are none, not unknown."""
    params = {"name": "buy", "arguments": {"item": "tea"}}

    assert called(request(id=7, method="tools/call", params=params)) == [
        ("7", "buy", '{"item": "tea"}')
    ]
    assert called(request(id="7", method="tools/call", params={"name": "look"})) == [
        ('"7"', "look", "{}")
    ]


def test_a_batch_has_several_calls() -> None:
    """As older versions of the protocol allow."""
    call = {"id": 1, "method": "tools/call", "params": {"name": "look"}}
    batch = json.dumps([call, {**call, "id": 2}, {"id": 3, "method": "ping"}, "?"]).encode()

    assert [each[0] for each in called(batch)] == ["1", "2"]


def test_a_method_is_known_in_any_spelling_of_json() -> None:
    """An escaped slash is a slash."""
    text = rb'{"id": 1, "method": "tools\/call", "params": {"name": "look"}}'

    assert called(text) == [("1", "look", "{}")]


@pytest.mark.parametrize(
    "text",
    [b"", b"\n", b"hello\n", b"{\n", b"[1, null]\n", b'"tools/call"\n', b"\xff\xfe\n"],
)
def test_what_is_no_message_is_no_call(text: bytes) -> None:
    """It is let pass, as are notifications and other methods."""
    assert calls_of(text) == []
    assert answers_of(text) == []
    assert calls_of(request(method="tools/call", params={"name": "notified"})) == []
    assert calls_of(request(id=1, method="resources/read", params={"name": "look"})) == []


@pytest.mark.parametrize("params", [None, 3, [], {}, {"name": 3}, {"name": None}])
def test_a_call_without_a_name_is_a_call(params: object) -> None:
    """A server may carry it out all the same."""
    assert called(request(id=1, method="tools/call", params=params)) == [("1", "unnamed", "{}")]


def test_a_message_that_cannot_be_read_may_not_pass() -> None:
    """It could be a call to those who can read it."""
    deep = b'{"id": 1, "params": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"

    with pytest.raises(McpUnreadable, match="nested too deeply"):
        calls_of(deep)


def test_a_servers_own_requests_are_no_answers() -> None:
    """It may ask its client for a model's answer, under any id."""
    assert answers_of(request(id=1, method="sampling/createMessage", params={})) == []


def test_an_answer_is_its_structured_content_or_its_text() -> None:
    """Else all of it."""
    text = {"type": "text", "text": "one"}
    image = {"type": "image", "data": "AA==", "mimeType": "image/png"}

    assert answered({"content": [text], "structuredContent": {"n": 1}}) == ObservedAnswer(
        True, '{"n": 1}'
    )
    assert answered({"content": [text, text]}) == ObservedAnswer(True, "one\none")
    assert answered({"content": [image]}).text == json.dumps({"content": [image]})
    assert answered({"content": [text], "isError": True}) == ObservedAnswer(False, "one")


def test_an_error_is_an_answer_that_failed() -> None:
    """Its message is what came back."""
    assert answers_of(request(id=1, error={"code": -32000, "message": "no"})) == [
        CallAnswered("1", ObservedAnswer(False, "no"))
    ]
    assert answers_of(request(id=1, error="odd")) == [
        CallAnswered("1", ObservedAnswer(False, '"odd"'))
    ]


def test_texts_hold_nothing_that_utf_8_has_not() -> None:
    """Half of a surrogate pair is written as a question mark."""
    params = b'{"name": "\\ud800", "arguments": {"\\udfff": 1}}'
    text = b'{"id": 1, "method": "tools/call", "params": ' + params + b"}"

    assert called(text) == [("1", "?", '{"?": 1}')]
