"""A reverse proxy: an agent gets its address instead of a service's.

    with HttpProxy(LiveUpstream(url, {}), CallNames(["GET /orders/{id}"]), run) as proxy:
        proxy.url

`CallsOfRequests` decides whether a request is a tool call. The proxy reads the whole reply, asks
the gate, and then sends the reply to the agent in the chunks in which it arrived.
"""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Final, Self

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from tracegrade_harness.parts.servers.http_server import HttpServer
from tracegrade_harness.proxy.messages import (
    CallsOfRequests,
    ProxiedReply,
    ProxiedRequest,
)
from tracegrade_harness.proxy.upstream import UpstreamFailed, UpstreamHandler
from tracegrade_harness.telemetry.observed_run import ObservedRun, RunClosed

MAX_REQUEST_BYTES: Final = 64 << 20
MAX_AT_ONCE: Final = 16
"""Most requests in progress; others wait."""
SETTLE_SECS: Final = 10.0
"""Seconds that requests in progress may continue after their agent has ended."""


class HttpProxy:
    """A `with` block in which a service can be reached."""

    def __init__(
        self,
        upstream: UpstreamHandler,
        kind: CallsOfRequests,
        run: ObservedRun | None,
        seen: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare.

        Args:
            upstream: The source of the replies.
            kind: Translates requests into tool calls.
            run: The agent's run, if the gate must let each request pass.
            seen: Called for each request and each reply.
        """
        self._seen = seen
        self._upstream = upstream
        self._kind = kind
        self._run = run
        self._pool = ThreadPoolExecutor(MAX_AT_ONCE, thread_name_prefix="http-proxy")
        self._changed = threading.Condition()
        self._in_flight = 0
        self._notes: list[str] = []

    def __enter__(self) -> Self:
        self._server = HttpServer(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """The address of the service for the agent."""
        address = self._server.address
        return f"http://{address.host}:{address.port}"

    def notes(self) -> list[str]:
        """Return the notes about the proxy for readers of the trial."""
        return [*self._notes]

    def close(self) -> None:
        """Take no more requests, after those in progress have returned. Idempotent."""
        with self._changed:
            if not self._changed.wait_for(lambda: not self._in_flight, SETTLE_SECS):
                fact = f"http: a request continued {SETTLE_SECS:g} s after its agent ended"
                self._notes.append(fact)
        self._server.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, as an ASGI app."""
        if scope["type"] != "http":
            return
        try:
            request = await _read(Request(scope, receive))
        except ClientDisconnect:
            return
        if request is None:
            refusal = Response(status_code=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            await refusal(scope, receive, send)
            return
        loop = asyncio.get_running_loop()
        reply = await loop.run_in_executor(self._pool, self._reply, request)
        await _response(reply)(scope, receive, send)

    def _reply(self, request: ProxiedRequest) -> ProxiedReply:
        """Return the reply to the agent, as soon as it may pass."""
        self._seen()
        with self._changed:
            self._in_flight += 1
        try:
            return self._let_through(request)
        except RunClosed:
            return _failure(HTTPStatus.SERVICE_UNAVAILABLE, "the run is over")
        finally:
            self._seen()
            with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()

    def _let_through(self, request: ProxiedRequest) -> ProxiedReply:
        if self._run is None:
            return self._upstream_reply(request)
        calls = self._kind.calls(request)
        for _ in calls:
            self._run.begin()
        reply = self._upstream_reply(request)
        for call, answer in zip(calls, self._kind.answers(request, reply), strict=True):
            self._run.returned(call, answer)
        return reply

    def _upstream_reply(self, request: ProxiedRequest) -> ProxiedReply:
        try:
            return self._upstream(request)
        except UpstreamFailed as error:
            self._notes.append(f"http: {error}")
            return _failure(HTTPStatus.BAD_GATEWAY, str(error))


def _failure(status: HTTPStatus, reason: str) -> ProxiedReply:
    body = json.dumps({"error": f"tracegrade: {reason}"}).encode()
    return ProxiedReply(status, (("content-type", "application/json"),), (body,))


async def _read(request: Request) -> ProxiedRequest | None:
    """Return a request with its whole body; None if that is too large."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_REQUEST_BYTES:
            return None
    headers = tuple((name, value) for name, value in request.headers.items())
    path, _, query = request.scope["raw_path"].decode("latin-1").partition("?")
    query = query or request.scope["query_string"].decode("latin-1")
    return ProxiedRequest(request.method, path, query, headers, bytes(body))


def _response(reply: ProxiedReply) -> Response:
    async def chunks() -> AsyncIterator[bytes]:
        for chunk in reply.chunks:
            yield chunk

    response = StreamingResponse(chunks(), reply.status)
    headers = [(name.lower(), value) for name, value in reply.headers]
    own = [(name, value) for name, value in headers if name not in {"date", "server"}]
    response.raw_headers = [(name.encode(), value.encode("latin-1")) for name, value in own]
    return response
