"""Upstreams on tape: recorded in live runs, or answered from the tape."""

import base64
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from tracegrade_harness.proxy.messages import CallNames, ProxiedReply, ProxiedRequest
from tracegrade_harness.proxy.model_answers import ModelAnswer, answer_in
from tracegrade_harness.proxy.upstream import UpstreamHandler
from tracegrade_harness.tape.entries import TapeKey, key_of, redacted
from tracegrade_harness.tape.player import TapeMiss, TapePlayer, TapeRecorder

RECORDED_HEADERS: Final = frozenset(
    {
        "cache-control",
        "content-encoding",
        "content-type",
        "etag",
        "link",
        "location",
        "retry-after",
    }
)
"""Headers of replies that a tape records; others are about one connection, or may be secrets."""
_PLAIN: Final = CallNames([])


def recorded(upstream: UpstreamHandler, channel: str, recorder: TapeRecorder) -> UpstreamHandler:
    """Return an upstream whose replies are recorded."""

    def ask(request: ProxiedRequest) -> ProxiedReply:
        reply = upstream(request)
        recorder.add(request_key(channel, request), _as_json(reply))
        return reply

    return ask


def taped(
    channel: str,
    player: TapePlayer,
    instead: UpstreamHandler | None = None,
    on_played: Callable[[ModelAnswer], None] | None = None,
) -> UpstreamHandler:
    """Return an upstream that gives the replies of a tape.

    Args:
        channel: The upstream's channel.
        player: The tape.
        instead: The upstream that answers if the tape has no reply; without it, that is an error.
        on_played: Called with the usage of each reply that is a model's answer.
    """

    def ask(request: ProxiedRequest) -> ProxiedReply:
        key = request_key(channel, request)
        if instead is not None and not player.has(key):
            return instead(request)
        try:
            reply = reply_from_json(player.take(key))
            answer = None if on_played is None else answer_in(request, reply)
            if on_played is not None and answer is not None:
                on_played(answer)
            return reply
        except TapeMiss as miss:
            body = json.dumps({"error": str(miss)}).encode()
            headers = (("content-type", "application/json"),)
            return ProxiedReply(HTTPStatus.NOT_IMPLEMENTED, headers, (body,))

    return ask


def request_key(channel: str, request: ProxiedRequest) -> TapeKey:
    """Return the key of a request on a tape."""
    call = _PLAIN.call(request)
    return key_of(channel, call.tool, json.loads(call.arguments or "{}"))


def _as_json(reply: ProxiedReply) -> dict[str, Any]:
    headers = {
        name.lower(): value for name, value in reply.headers if name.lower() in RECORDED_HEADERS
    }
    return {"status": reply.status, "headers": headers, "chunks": _chunks_as_json(reply)}


def _chunks_as_json(reply: ProxiedReply) -> list[Any]:
    """Return the chunks; only one if a secret that may cross chunks was removed."""
    try:
        text = reply.body.decode()
    except UnicodeDecodeError:
        return [_chunk_as_json(chunk) for chunk in reply.chunks]
    clean = redacted(text)
    return [clean] if clean != text else [_chunk_as_json(chunk) for chunk in reply.chunks]


def _chunk_as_json(chunk: bytes) -> Any:
    try:
        return chunk.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(chunk).decode()}


def reply_from_json(reply: dict[str, Any]) -> ProxiedReply:
    """Return a reply from a tape's JSON.

    Raises:
        ValueError: It holds invalid base64.
    """
    chunks = tuple(
        each.encode() if isinstance(each, str) else base64.b64decode(each["base64"])
        for each in reply["chunks"]
    )
    return ProxiedReply(reply["status"], tuple(reply["headers"].items()), chunks)
