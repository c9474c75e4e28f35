"""OTLP/HTTP: reads one request, hands it to the intake, and says what became of it.

Specification: https://opentelemetry.io/docs/specs/otlp, "OTLP/HTTP". Every error is a
`google.rpc.Status` in the encoding of the request. Nothing is ever redirected: exporters take a
3xx for success, and the data would be lost.
"""

import asyncio
import contextlib
from dataclasses import dataclass, field
from http import HTTPStatus

from google.rpc.code_pb2 import Code
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from tracegrade_collector import status
from tracegrade_collector.errors import MalformedRequest, Unavailable
from tracegrade_collector.inflate import WINDOWS, TooLarge
from tracegrade_collector.intake import Intake, Room
from tracegrade_collector.otlp import Encoding, Signal

MEDIA_TYPES = {"application/x-protobuf": Encoding.PROTOBUF, "application/json": Encoding.JSON}
CONTENT_TYPES = {encoding: media_type for media_type, encoding in MEDIA_TYPES.items()}
LINGER_SECS = 2.0


@dataclass(frozen=True)
class HttpFailure(Exception):
    """An answer that is an error."""

    http: HTTPStatus
    code: int
    text: str
    headers: dict[str, str] = field(default_factory=dict)
    retry_after_secs: int | None = None


def http_app(intake: Intake, max_request_bytes: int) -> ASGIApp:
    """Return the ASGI application: two signals, health, readiness and counters."""

    async def health(request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readiness(request: Request) -> Response:
        try:
            intake.check_ready()
        except Unavailable as error:
            return PlainTextResponse(f"{error}\n", HTTPStatus.SERVICE_UNAVAILABLE)
        return PlainTextResponse("ready\n")

    async def metrics(request: Request) -> Response:
        return PlainTextResponse(intake.counters.prometheus_text())

    routes = [
        Route(f"/v1/{signal}", OtlpEndpoint(intake, signal, max_request_bytes))
        for signal in Signal
    ]
    routes += [Route("/healthz", health), Route("/readyz", readiness), Route("/metrics", metrics)]
    return Router(routes, redirect_slashes=False, default=not_found)


async def not_found(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 404 to a path that is none of ours; metrics and profiles are refused this way too."""
    text = "no such path; traces go to /v1/traces, logs to /v1/logs"
    failure = HttpFailure(HTTPStatus.NOT_FOUND, Code.NOT_FOUND, text)
    await _error(failure, _encoding_for_error(Request(scope)))(scope, receive, send)


class OtlpEndpoint:
    """The endpoint of one signal, for all methods."""

    def __init__(self, intake: Intake, signal: Signal, max_request_bytes: int) -> None:
        self._intake = intake
        self._signal = signal
        self._max_request_bytes = max_request_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            response = await self._export(request)
        except HttpFailure as failure:
            response = _error(failure, _encoding_for_error(request))
        except ClientDisconnect:
            return
        if response.headers.get("connection") == "close":
            await _send_and_linger(response, receive, send)
        else:
            await response(scope, receive, send)

    async def _export(self, request: Request) -> Response:
        """Return the answer to an accepted request.

        Raises:
            HttpFailure: It is refused.
            ClientDisconnect: Nobody waits for the answer.
        """
        encoding = _checked_encoding(request)
        coding = _checked_coding(request)
        try:
            with self._intake.room() as room:
                body = await self._body(request, room)
                if coding:
                    body = await self._intake.inflate(body, coding, self._max_request_bytes)
                    room.hold(len(body))
                rejections = await self._intake.accept(body, self._signal, encoding)
        except MalformedRequest as error:
            raise _bad_request(str(error)) from error
        except TooLarge as error:
            raise self._too_large() from error
        except Unavailable as error:
            raise _unavailable(error) from error
        content = status.encode(status.export_response(self._signal, rejections), encoding)
        return Response(content, media_type=CONTENT_TYPES[encoding])

    async def _body(self, request: Request, room: Room) -> bytes:
        """Return the body as it came.

        Raises:
            TooLarge: It is larger than allowed; not more than that was read.
            Overloaded: There is no room for it now.
        """
        declared = request.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > self._max_request_bytes:
            raise TooLarge
        chunks = []
        async for chunk in request.stream():
            room.hold(len(chunk))
            if room.held_bytes > self._max_request_bytes:
                raise TooLarge
            chunks.append(chunk)
        return b"".join(chunks)

    def _too_large(self) -> HttpFailure:
        text = f"the request is larger than {self._max_request_bytes} bytes; send smaller batches"
        code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        return HttpFailure(code, Code.INVALID_ARGUMENT, text, {"Connection": "close"})


def _checked_encoding(request: Request) -> Encoding:
    """Return the encoding of an export request.

    Raises:
        HttpFailure: The method or the content type is not one of the protocol's.
    """
    if request.method != "POST":
        text = f"{request.method} is not allowed here; send requests with POST"
        headers = {"Allow": "POST"}
        raise HttpFailure(HTTPStatus.METHOD_NOT_ALLOWED, Code.UNIMPLEMENTED, text, headers)
    given = request.headers.get("content-type", "")
    encoding = MEDIA_TYPES.get(_media_type(given))
    if encoding is None:
        text = f"content type {given!r} is not supported; use {' or '.join(MEDIA_TYPES)}"
        raise HttpFailure(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, Code.INVALID_ARGUMENT, text)
    return encoding


def _checked_coding(request: Request) -> str | None:
    """Return how the body is compressed, None if it is not.

    Raises:
        HttpFailure: In a way that is not supported.
    """
    given = request.headers.get("content-encoding", "identity").strip().lower()
    if given in ("", "identity", "none"):
        return None
    if given not in WINDOWS:
        text = f"content encoding {given!r} is not supported; use {' or '.join(WINDOWS)}, or none"
        raise HttpFailure(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, Code.INVALID_ARGUMENT, text)
    return given


def _media_type(content_type: str) -> str:
    """Return a content type without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def _bad_request(text: str) -> HttpFailure:
    return HttpFailure(HTTPStatus.BAD_REQUEST, Code.INVALID_ARGUMENT, text)


def _unavailable(error: Unavailable) -> HttpFailure:
    secs = error.retry_after_secs
    headers = {"Retry-After": str(secs)}
    code = HTTPStatus.SERVICE_UNAVAILABLE
    return HttpFailure(code, Code.UNAVAILABLE, str(error), headers, secs)


def _encoding_for_error(request: Request) -> Encoding:
    """Return the request's encoding; JSON, which people read, where it has none that we know."""
    return MEDIA_TYPES.get(_media_type(request.headers.get("content-type", "")), Encoding.JSON)


def _error(failure: HttpFailure, encoding: Encoding) -> Response:
    body = status.error_status(failure.code, failure.text, failure.retry_after_secs)
    return Response(
        status.encode(body, encoding),
        failure.http,
        failure.headers,
        media_type=CONTENT_TYPES[encoding],
    )


async def _send_and_linger(response: Response, receive: Receive, send: Send) -> None:
    """Answer at once, then read on for a moment before the connection is closed.

    Closing while the client still sends would reset the connection, and it would retry instead of
    reading why its request was refused.
    """
    start = {"type": "http.response.start", "status": response.status_code}
    await send({**start, "headers": response.raw_headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": True})
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECS):
            while (await receive()).get("more_body"):
                pass
    await send({"type": "http.response.body", "body": b""})
