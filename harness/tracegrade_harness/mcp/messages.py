"""Parses the MCP messages that the harness understands: tool calls and their answers.

MCP is JSON-RPC 2.0 in every version of its protocol. Other messages pass unchanged.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tracegrade_harness.telemetry.observed_run import ObservedAnswer, ObservedCall

CALL: Final = "tools/call"
_UNNAMED: Final = "unnamed"


class McpUnreadable(Exception):
    """A message that others may understand, but the harness does not; none may pass unseen."""


class CallSent(NamedTuple):
    """A client asks for a call."""

    id: str
    """Id of the request, as JSON."""
    call: ObservedCall


class CallAnswered(NamedTuple):
    """A server answers a request, perhaps a call."""

    id: str
    answer: ObservedAnswer


def calls_of(text: bytes) -> list[CallSent]:
    """Return the calls in a client's message, several if it is a batch.

    Raises:
        McpUnreadable: It is nested too deeply.
    """
    return [
        CallSent(json.dumps(message["id"]), _call(message.get("params")))
        for message in messages_of(text)
        if message.get("method") == CALL and "id" in message
    ]


def answers_of(text: bytes) -> list[CallAnswered]:
    """Return the answers in a server's message, to requests of every kind.

    Raises:
        McpUnreadable: It is nested too deeply.
    """
    return [
        CallAnswered(json.dumps(message["id"]), _answer(message))
        for message in messages_of(text)
        if "id" in message and "method" not in message
    ]


def messages_of(text: bytes) -> Iterator[dict[str, Any]]:
    """Yield the messages of a line: several for a batch, none if it is not JSON.

    Raises:
        McpUnreadable: It is nested too deeply.
    """
    try:
        found = json.loads(text.decode(errors="replace"))
    except RecursionError as error:
        msg = "a message is nested too deeply"
        raise McpUnreadable(msg) from error
    except ValueError:  # not JSON, so not a call either
        return
    for message in found if isinstance(found, list) else [found]:
        if isinstance(message, dict):
            yield message


def _call(params: Any) -> ObservedCall:
    request = params if isinstance(params, dict) else {}
    name = request.get("name")
    arguments = request.get("arguments")
    text = _json({} if arguments is None else arguments)
    return ObservedCall(_clean(name) if isinstance(name, str) else _UNNAMED, text)


def _answer(message: dict[str, Any]) -> ObservedAnswer:
    if "error" in message:
        error = message["error"]
        error_text = error.get("message") if isinstance(error, dict) else None
        return ObservedAnswer(
            ok=False, text=_clean(error_text) if isinstance(error_text, str) else _json(error)
        )
    result = message.get("result")
    failed = isinstance(result, dict) and result.get("isError") is True
    return ObservedAnswer(ok=not failed, text=_content(result))


def _content(result: Any) -> str:
    """Return the result of a call: its structured content, else its text, else its JSON."""
    if not isinstance(result, dict):
        return _json(result)
    if result.get("structuredContent") is not None:
        return _json(result["structuredContent"])
    texts = [_text(part) for part in _parts(result)]
    if texts and None not in texts:
        return _clean("\n".join(filter(None, texts)))
    return _json(result)


def _parts(result: dict[str, Any]) -> list[Any]:
    content = result.get("content")
    return content if isinstance(content, list) else []


def _text(part: Any) -> str | None:
    found = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
    return found if isinstance(found, str) else None


def _json(value: Any) -> str:
    return _clean(json.dumps(value, ensure_ascii=False))


def _clean(text: str) -> str:
    """Return a text without lone surrogates, which JSON allows and UTF-8 does not."""
    return text.encode(errors="replace").decode()
