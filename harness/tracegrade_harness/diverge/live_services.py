"""Repeats a recorded call at its live service; the answer becomes an entry as on tapes."""

import json
import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from itertools import count
from typing import Any, Final
from urllib.parse import urlencode

from tracegrade_harness.diverge.answers import answer_on
from tracegrade_harness.diverge.comparison import ServiceAnswer
from tracegrade_harness.mcp.http import recorded_mcp
from tracegrade_harness.mcp.messages import CALL, McpUnreadable
from tracegrade_harness.proxy.messages import ProxiedReply, ProxiedRequest
from tracegrade_harness.proxy.tape import recorded, request_key
from tracegrade_harness.proxy.upstream import UpstreamFailed, UpstreamHandler
from tracegrade_harness.tape.entries import TapeKey, redacted
from tracegrade_harness.tape.player import TapeRecorder

NO_REPLY: Final = "no reply"
"""The outcome of a call without an answer."""
PATHS: Final = ("/", "", "/mcp")
"""Paths below an MCP server's URL to try if the tape names none; the first that answers counts."""
_JSON: Final = (("content-type", "application/json"),)
_MCP: Final = (*_JSON, ("accept", "application/json, text/event-stream"))
CLIENT: Final = {"name": "tracegrade", "version": "1"}
"""The client that MCP servers see."""
_VERSION: Final = re.compile(r"[0-9-]+", re.ASCII)

Ask = Callable[[TapeKey], ServiceAnswer]
"""Asks a service once; a failure to answer also counts as an answer."""


class NotAskable(Exception):
    """The tape does not have enough of a call to repeat it; the text says why."""


def http_service(live: UpstreamHandler) -> Ask:
    """Return a function that asks an HTTP service; it raises `NotAskable`."""

    def ask(key: TapeKey) -> ServiceAnswer:
        recorder = TapeRecorder()
        request = request_of(key)
        return _answer(recorder, lambda: recorded(live, key.channel, recorder)(request))

    return ask


def request_of(key: TapeKey) -> ProxiedRequest:
    """Return the request of a call on a tape, without its headers.

    Raises:
        NotAskable: The tape does not have the whole request.
    """
    method, _, path = key.name.partition(" ")
    given = json.loads(key.arguments)
    query = given.get("query", {}) if isinstance(given, dict) else None
    if not isinstance(query, dict):
        msg = "the tape does not have the whole request"
        raise NotAskable(msg)
    body = given.get("body")
    if isinstance(body, str) or (isinstance(body, dict) and body.keys() == {"bytes", "sha256"}):
        msg = "its body is not JSON, and the tape does not record its content type"
        raise NotAskable(msg)
    content = json.dumps(body).encode() if "body" in given else b""
    encoded = urlencode(query, doseq=True)
    request = ProxiedRequest(method, path, encoded, _JSON if content else (), content)
    if request_key(key.channel, request) != key:
        msg = "the tape does not have the whole request"
        raise NotAskable(msg)
    return request


class McpHttpSession:
    """A session with an MCP server over streamable HTTP; opened again on the server's request."""

    def __init__(self, live: UpstreamHandler, protocol: str, target: str | None = None) -> None:
        """Prepare.

        Args:
            live: The server.
            protocol: The version of MCP that the client offers.
            target: Path and query of the server's endpoint; None if the tape does not name it.
        """
        self._targets = PATHS if target is None else (target,)
        self._live = live
        self._protocol = protocol
        self._ids = count(1)
        self._target = self._targets[0]
        self._session: Mapping[str, str] = {}
        self._begun: ServiceAnswer | None = None

    def __call__(self, key: TapeKey) -> ServiceAnswer:
        """Return the server's answer to a call."""
        if key.name == "initialize":
            return self._begin(key.channel)
        if self._begun is None:
            self._begun = self._begin(key.channel)
        if self._begun.failed:
            return self._begun
        arguments = json.loads(key.arguments)
        if key.name.startswith(f"{CALL} "):
            name = key.name.removeprefix(f"{CALL} ")
            return self._ask(key.channel, CALL, {"name": name, "arguments": arguments})
        return self._ask(key.channel, key.name, arguments)

    def _begin(self, channel: str) -> ServiceAnswer:
        offered = {"protocolVersion": self._protocol, "capabilities": {}, "clientInfo": CLIENT}
        self._session = {}
        for target in [self._target] if self._begun else self._targets:
            self._target = target
            begun = self._ask(channel, "initialize", offered)
            if not begun.failed or begun.outcome == NO_REPLY:
                break
        self._begun = begun
        if not begun.failed:
            self._session = {**self._session, **_version(begun)}
            _answer(TapeRecorder(), lambda: self._post({"method": "notifications/initialized"}))
        return begun

    def _ask(self, channel: str, method: str, params: Any) -> ServiceAnswer:
        recorder = TapeRecorder()
        message = {"id": next(self._ids), "method": method, "params": params}
        return _answer(recorder, lambda: self._post(message, channel, recorder))

    def _post(
        self, message: Mapping[str, Any], channel: str = "", recorder: TapeRecorder | None = None
    ) -> ProxiedReply:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        headers = (*_MCP, *self._session.items())
        path, _, query = self._target.partition("?")
        request = ProxiedRequest("POST", path, query, headers, body)
        server = self._live if recorder is None else recorded_mcp(self._live, channel, recorder)
        reply = server(request)
        for name, value in reply.headers:
            if name.lower() == "mcp-session-id":
                self._session = {**self._session, "mcp-session-id": value}
        return reply


def _answer(recorder: TapeRecorder, ask: Callable[[], ProxiedReply]) -> ServiceAnswer:
    """Return the answer that was recorded during a call."""
    try:
        reply = ask()
    except UpstreamFailed as error:
        return ServiceAnswer(failed=True, outcome=NO_REPLY, content=redacted(str(error)))
    except (McpUnreadable, RecursionError):
        return ServiceAnswer(failed=True, outcome="unreadable", content="nested too deeply")
    entries = recorder.entries()
    if entries:
        return answer_on(entries[0])
    refused = reply.status >= HTTPStatus.MULTIPLE_CHOICES
    outcome = f"HTTP {reply.status}" if refused else "no answer"
    return ServiceAnswer(failed=True, outcome=outcome, content=None)


def _version(begun: ServiceAnswer) -> dict[str, str]:
    """Return the header with the version of MCP that a server has chosen."""
    result = begun.content if isinstance(begun.content, dict) else {}
    version = str(result.get("protocolVersion"))
    return {"mcp-protocol-version": version} if _VERSION.fullmatch(version) else {}
