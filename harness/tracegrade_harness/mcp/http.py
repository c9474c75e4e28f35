"""MCP over streamable HTTP: clients post messages, servers answer with JSON or event streams."""

import json
import string
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from tracegrade_harness.mcp.messages import (
    CallSent,
    McpUnreadable,
    answers_of,
    calls_of,
    messages_of,
)
from tracegrade_harness.mcp.tape import McpTapeSession, reply_of
from tracegrade_harness.proxy.messages import ProxiedReply, ProxiedRequest, messages_in
from tracegrade_harness.proxy.upstream import UpstreamHandler
from tracegrade_harness.tape.entries import redacted
from tracegrade_harness.tape.player import TapePlayer, TapeRecorder
from tracegrade_harness.telemetry.observed_run import ObservedAnswer, ObservedCall

_JSON: Final = (("content-type", "application/json"),)


class McpRequests:
    """Posted messages; some are tool calls."""

    def calls(self, request: ProxiedRequest) -> Sequence[ObservedCall]:
        """Return the calls in a message."""
        return [sent.call for sent in _sent(request)]

    def answers(self, request: ProxiedRequest, reply: ProxiedReply) -> Sequence[ObservedAnswer]:
        """Return the answer of each call; a call without an answer in the reply has failed."""
        found: dict[str, ObservedAnswer] = {}
        with suppress(McpUnreadable):  # then it has no answer that can be read
            for message in messages_in(reply):
                found.update(answers_of(message))
        lost = ObservedAnswer(ok=False, text=f"HTTP status {reply.status}, without an answer")
        return [found.get(sent.id, lost) for sent in _sent(request)]


def without_stream(upstream: UpstreamHandler) -> UpstreamHandler:
    """Return an upstream without the endless stream of the server's own messages."""

    def ask(request: ProxiedRequest) -> ProxiedReply:
        if request.method == "GET":
            return ProxiedReply(HTTPStatus.METHOD_NOT_ALLOWED, (("allow", "POST, DELETE"),), ())
        try:
            calls_of(request.body)
        except McpUnreadable:
            return ProxiedReply(HTTPStatus.BAD_REQUEST, (), ())
        return upstream(request)

    return ask


def recorded_mcp(
    upstream: UpstreamHandler, channel: str, recorder: TapeRecorder
) -> UpstreamHandler:
    """Return an upstream whose answers are recorded."""

    def ask(request: ProxiedRequest) -> ProxiedReply:
        reply = upstream(request)
        tape_session = McpTapeSession(channel, recorder, _path(request))
        tape_session.sent(request.body)
        for message in messages_in(reply):
            tape_session.answered(message)
        return reply

    return ask


def _path(request: ProxiedRequest) -> str:
    """Return the path of a server in the form for tapes: printable, and without secrets."""
    return quote(redacted(request.target), safe=string.punctuation)


def taped_mcp(channel: str, player: TapePlayer) -> UpstreamHandler:
    """Return an upstream that gives the answers of a tape."""

    def ask(request: ProxiedRequest) -> ProxiedReply:
        answers = [
            {"jsonrpc": "2.0", "id": message["id"], **reply_of(channel, player, message)}
            for message in messages_of(request.body)
            if "method" in message and "id" in message
        ]
        if not answers:
            return ProxiedReply(HTTPStatus.ACCEPTED, (), ())
        is_batch = request.body.lstrip().startswith(b"[")
        body = json.dumps(answers if is_batch else answers[0]).encode()
        return ProxiedReply(HTTPStatus.OK, _JSON, (body,))

    return ask


def _sent(request: ProxiedRequest) -> list[CallSent]:
    with suppress(McpUnreadable):  # the recorder refuses it, see `without_stream`
        return calls_of(request.body) if request.method == "POST" else []
    return []
