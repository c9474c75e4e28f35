"""Records each request to an HTTP service, and fails those that the suite names."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tracegrade_harness.parts.http.model import HttpFault
from tracegrade_harness.parts.http.routes import NOTHING, Request, RoutedService

MAX_BODY_BYTES: Final = 1 << 20
"""Largest body of one request."""
MAX_BYTES: Final = 64 << 20
"""Most bytes of all recorded requests. The next one is refused, and verifiers can no longer judge.
"""
MAX_DEPTH: Final = 100
"""Most levels of a document."""
_TOO_DEEP: Final = f"it has more than {MAX_DEPTH} levels"
_CALL_BYTES: Final = 500
"""Bytes that a request uses in addition to its body."""


class RecordedRequest(NamedTuple):
    """A request that a service got, and the status of its answer."""

    method: str
    path: str
    query: str
    body: str
    """The body as text; bytes that are not UTF-8 are replaced."""
    status: int | None
    """None if it was not answered."""


class Recorder:
    """An ASGI app in front of another one."""

    def __init__(self, app: ASGIApp, faults: Sequence[HttpFault]) -> None:
        self._app = app
        self._faults = {fault.at: fault for fault in faults}
        self._bytes = 0
        self.calls: list[RecordedRequest] = []
        """Requests in order of arrival."""
        self.refused = 0
        """Requests that arrived after the limit was reached."""
        self.in_flight = 0
        """Requests that have no answer yet."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; other events, such as the start, go to the app alone."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self.in_flight += 1
        try:
            await self._serve(scope, receive, send)
        finally:
            self.in_flight -= 1

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await _body(HttpRequest(scope, receive))
        except ClientDisconnect:
            return
        if body is None or self._bytes > MAX_BYTES:
            self.refused += 1
            limit = MAX_BODY_BYTES if body is None else MAX_BYTES
            reason = f"more than {limit:,} bytes are not taken"
            await JSONResponse({"error": reason}, 413)(scope, receive, send)
            return
        position = self._keep(scope, body)
        fault = self._faults.get(position + 1)
        scope = {**scope, "tracegrade.number": position + 1}
        if fault is None or fault.applied:
            quiet = fault is not None
            noting = self._noting(position, send, quiet=quiet)
            await self._app(scope, _again(body, receive), noting)
        if fault is not None:
            answer = JSONResponse({"error": "the suite lets this request fail"}, fault.status)
            await answer(scope, receive, self._noting(position, send))

    def _keep(self, scope: Scope, body: bytes) -> int:
        query, text = scope["query_string"].decode("latin-1"), body.decode(errors="replace")
        self._bytes += _CALL_BYTES + len(body)
        self.calls.append(RecordedRequest(scope["method"], scope["path"], query, text, None))
        return len(self.calls) - 1

    def _noting(self, position: int, send: Send, *, quiet: bool = False) -> Send:
        """Return a function that passes or drops an answer, and notes its status."""

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.calls[position] = self.calls[position]._replace(status=message["status"])
            if not quiet:
                await send(message)

        return noting


class RoutedApp:
    """A service that its routes describe, as an ASGI app."""

    def __init__(self, service: RoutedService) -> None:
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; its changes to the state are made in one step."""
        request = HttpRequest(scope, receive)
        content = await request.body()
        try:
            body = parsed_json(content) if content else NOTHING
        except ValueError:
            await JSONResponse({"error": "the body is not JSON"}, 400)(scope, receive, send)
            return
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        number = scope["tracegrade.number"]
        path = scope["raw_path"].decode("latin-1")
        answer = self._service.answer(Request(number, request.method, path, query, body))
        if answer.content is NOTHING:
            await Response(status_code=answer.status)(scope, receive, send)
        else:
            await JSONResponse(answer.content, answer.status)(scope, receive, send)


def parsed_json(content: bytes | str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: It is not JSON, or has a value that not every reader accepts: NaN, half a
            character, more than `MAX_DEPTH` levels.
    """
    try:
        value = json.loads(content, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    if _is_deep(value):
        raise ValueError(_TOO_DEEP)
    json.dumps(value, ensure_ascii=False).encode()
    return value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [item for holder in level for item in _items(holder)]
    return bool(level)


def _items(holder: Any) -> Iterable[Any]:
    if isinstance(holder, dict):
        return holder.values()
    return holder if isinstance(holder, list) else ()


def _refuse(constant: str) -> None:
    msg = f"{constant} is not JSON"
    raise ValueError(msg)


async def _body(request: HttpRequest) -> bytes | None:
    """Return a request's body; None if it is too large."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            return None
    return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a function that receives a body that was already read, then what follows."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
