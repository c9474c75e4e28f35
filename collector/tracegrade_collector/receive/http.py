"""OTLP/HTTP: reads one request, hands it to the intake, and returns the result.

Specification: https://opentelemetry.io/docs/specs/otlp, "OTLP/HTTP". Every error is a
`google.rpc.Status` in the encoding of the request. There are no redirects: exporters take a 3xx
for success, and the data would be lost. Failures of the collector are 503 and never 500, because
exporters do not retry after a 500.
"""

import asyncio
import contextlib
import gzip
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from google.rpc.code_pb2 import Code
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.edge.counters import Counters
from tracegrade_collector.encoding.otlp import Encoding
from tracegrade_collector.errors import (
    CollectorError,
    Forbidden,
    MalformedRequest,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from tracegrade_collector.receive import status
from tracegrade_collector.receive.accept_request import ByteReservation
from tracegrade_collector.receive.exports import Export
from tracegrade_collector.receive.inflate import CODINGS
from tracegrade_collector.receive.tenant_limits import RateExceeded
from tracegrade_collector.receive.tenant_router import TenantRouter

LINGER_SECS = 2.0
UNREAD_BYTES = 64 << 10  # of an unwanted body: reading more costs more than a new connection
GZIP_FROM_BYTES = 1400  # below it an answer is one packet anyway
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
CORS_SECS = 7200  # how long a browser may remember; more than this none does

logger = logging.getLogger(__name__)

Page = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class HttpFailure(Exception):
    """An answer that is an error."""

    http: HTTPStatus
    code: int
    text: str
    headers: dict[str, str] = field(default_factory=dict)
    retry_after_secs: int | None = None


def http_app(router: TenantRouter, config: CollectorConfig) -> ASGIApp:
    """Return the ASGI application: the signals, health, readiness and counters."""

    async def health(request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readiness(request: Request) -> Response:
        try:
            router.check_ready()
        except Unavailable as error:
            return PlainTextResponse(f"{error}\n", HTTPStatus.SERVICE_UNAVAILABLE)
        return PlainTextResponse("ready\n")

    async def metrics(request: Request) -> Response:
        text = router.metrics(request.headers.getlist("authorization"))
        return Response(text, media_type=METRICS_TYPE)

    endpoints = {
        f"/v1/{name}": OtlpEndpoint(router, export, config)
        for name, export in router.exports.items()
    }
    pages = {"/healthz": health, "/readyz": readiness, "/metrics": metrics}
    return HttpApp(endpoints, pages, config, router.counters)


class HttpApp:
    """Routes a path exactly as it is written, and turns failures into answers."""

    def __init__(
        self,
        endpoints: dict[str, "OtlpEndpoint"],
        pages: Mapping[str, Page],
        config: CollectorConfig,
        counters: Counters,
    ) -> None:
        self._endpoints = endpoints
        self._pages = pages
        self._max_requests = config.max_concurrent_requests
        self._origins = frozenset(config.cors_origins.split())
        self._counters = counters
        self._requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        self._requests += 1
        try:
            response = await self._answer(request)
        except ClientDisconnect:
            return
        finally:
            self._requests -= 1
        _finish(response, request, self._origins)
        if response.headers.get("connection") == "close":
            await _send_and_linger(response, receive, send)
        else:
            await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        try:
            return await self._route(request)
        except ClientDisconnect:
            raise
        except HttpFailure as failure:
            self._counters.add("refused_requests", reason=failure.http.name.lower())
            return _error(failure, request)
        except CollectorError as error:
            return _error(_failure(error), request)
        except Exception:
            logger.exception("a request to %r failed", request.url.path[:80])
            text = "the collector failed on this request and did not store it"
            return _error(_failure(Unavailable(text)), request)

    async def _route(self, request: Request) -> Response:
        path = request.scope["raw_path"].decode("latin-1")
        page = self._pages.get(path)
        if page:
            _check_method(request, "GET", "HEAD")
            return await page(request)
        endpoint = self._endpoints.get(path)
        if endpoint is None:
            text = "no such path; traces go to /v1/traces, logs to /v1/logs"
            raise HttpFailure(HTTPStatus.NOT_FOUND, Code.NOT_FOUND, text)
        if self._is_preflight(request):
            return _preflight(request)
        _check_method(request, "POST")
        if self._requests > self._max_requests:
            self._counters.add("refused_requests", reason=TooManyRequests.__name__)
            msg = f"{self._max_requests} requests are under way; send again later"
            raise TooManyRequests(msg)
        started = time.perf_counter()
        answer = await endpoint.export(request)
        self._counters.observe(
            "request_duration_seconds", time.perf_counter() - started, protocol="http"
        )
        return answer

    def _is_preflight(self, request: Request) -> bool:
        return request.method == "OPTIONS" and request.headers.get("origin") in self._origins


class OtlpEndpoint:
    """The endpoint of one signal."""

    def __init__(self, router: TenantRouter, export: Export, config: CollectorConfig) -> None:
        self._router = router
        self._export = export
        self._max_request_bytes = config.max_request_bytes

    async def export(self, request: Request) -> Response:
        """Return the answer to an accepted request.

        Raises:
            HttpFailure: It has no length, or its content type or encoding is not supported.
            CollectorError: Its content is refused, or it cannot be accepted now.
            ClientDisconnect: The client no longer waits for the answer.
        """
        intake = self._router.route(
            request.headers.getlist("authorization"),
            request.headers.getlist("x-scope-orgid"),
            request.scope.get("state", {}).get("certificate_name"),
        )
        _check_length(request)
        encoding = _checked_encoding(request)
        coding = _checked_coding(request)
        with intake.reserve() as reservation:
            body = await self._body(request, reservation)
            if coding:
                body = await intake.inflate(body, coding, self._max_request_bytes)
                reservation.hold(len(body))
            client = request.client.host if request.client else "an unknown client"
            answer = await self._export(intake, body, encoding, client)
        content = status.encode(answer, encoding)
        return Response(content, media_type=status.CONTENT_TYPES[encoding])

    async def _body(self, request: Request, reservation: ByteReservation) -> bytes:
        """Return the body as it came.

        Raises:
            TooLarge: It is larger than allowed; not more than that was read.
            Overloaded: There is no room for it now.
        """
        if _declared_bytes(request) > self._max_request_bytes:
            raise self._too_large()
        chunks = []
        async for chunk in request.stream():
            reservation.hold(len(chunk))
            if reservation.used_bytes > self._max_request_bytes:
                raise self._too_large()
            chunks.append(chunk)
        return b"".join(chunks)

    def _too_large(self) -> TooLarge:
        msg = f"the request is larger than {self._max_request_bytes} bytes; send smaller batches"
        return TooLarge(msg)


class TooManyRequests(Unavailable):
    """As many requests are under way as may be."""


def _check_method(request: Request, *allowed: str) -> None:
    if request.method not in allowed:
        text = f"{request.method[:20]} is not allowed here; use {' or '.join(allowed)}"
        headers = {"Allow": ", ".join(allowed)}
        raise HttpFailure(HTTPStatus.METHOD_NOT_ALLOWED, Code.UNIMPLEMENTED, text, headers)


def _check_length(request: Request) -> None:
    """Refuse a request without an end of its body: HTTP takes it for an empty one.

    Raises:
        HttpFailure: It has no header for that. A body that follows would be lost.
    """
    if not {"content-length", "transfer-encoding"} & set(request.headers):
        text = "the request has no Content-Length, so its body cannot be read; send one, even 0"
        headers = {"Connection": "close"}
        raise HttpFailure(HTTPStatus.LENGTH_REQUIRED, Code.INVALID_ARGUMENT, text, headers)


def _checked_encoding(request: Request) -> Encoding:
    """Return the encoding of an export request.

    Raises:
        HttpFailure: The content type is not one of the protocol's.
    """
    given = request.headers.get("content-type", "")
    encoding = status.encoding_of(given)
    if encoding is None:
        text = (
            f"content type {given[:80]!r} is not supported; use {' or '.join(status.MEDIA_TYPES)}"
        )
        raise HttpFailure(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, Code.INVALID_ARGUMENT, text)
    return encoding


def _checked_coding(request: Request) -> str | None:
    """Return how the body is compressed, None if it is not.

    Raises:
        HttpFailure: In a way that is not supported.
    """
    given = ",".join(request.headers.getlist("content-encoding")).strip().lower()
    if given in ("", "identity", "none"):
        return None
    if given not in CODINGS:
        text = (
            f"content encoding {given[:80]!r} is not supported; use {', '.join(CODINGS)} or none"
        )
        raise HttpFailure(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, Code.INVALID_ARGUMENT, text)
    return given


def _declared_bytes(request: Request) -> int:
    """Return the size that the request states; 0 if it has no body or states none."""
    declared = request.headers.get("content-length", "")
    return int(declared) if declared.isdecimal() else 0


def _failure(error: CollectorError) -> HttpFailure:
    """Return the HTTP form of a refusal."""
    match error:
        case MalformedRequest():
            return HttpFailure(HTTPStatus.BAD_REQUEST, Code.INVALID_ARGUMENT, str(error))
        case TooLarge():
            code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            return HttpFailure(code, Code.INVALID_ARGUMENT, str(error), {"Connection": "close"})
        case Unauthenticated():
            headers = {"WWW-Authenticate": "Bearer"}
            return HttpFailure(HTTPStatus.UNAUTHORIZED, Code.UNAUTHENTICATED, str(error), headers)
        case Forbidden():
            return HttpFailure(HTTPStatus.FORBIDDEN, Code.PERMISSION_DENIED, str(error))
    secs = error.retry_after_secs if isinstance(error, Unavailable) else 1
    headers = {"Retry-After": str(secs)}
    too_fast = isinstance(error, RateExceeded)
    code = HTTPStatus.TOO_MANY_REQUESTS if too_fast else HTTPStatus.SERVICE_UNAVAILABLE
    return HttpFailure(code, Code.UNAVAILABLE, str(error), headers, secs)


def _error(failure: HttpFailure, request: Request) -> Response:
    encoding = status.error_encoding(request.headers.get("content-type", ""))
    body = status.error_status(failure.code, failure.text, failure.retry_after_secs)
    return Response(
        status.encode(body, encoding),
        failure.http,
        failure.headers,
        media_type=status.CONTENT_TYPES[encoding],
    )


def _preflight(request: Request) -> Response:
    """Return the headers for a page of an allowed origin in a browser."""
    headers = {
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": "authorization, content-encoding, content-type",
        "Access-Control-Max-Age": str(CORS_SECS),
    }
    return Response(status_code=HTTPStatus.NO_CONTENT, headers=headers)


def _finish(response: Response, request: Request, origins: frozenset[str]) -> None:
    """Add the headers that all answers share."""
    if origins:
        response.headers["Vary"] = "Origin"
        if (origin := request.headers.get("origin")) in origins and origin:
            response.headers["Access-Control-Allow-Origin"] = origin
    content = bytes(response.body)
    if len(content) >= GZIP_FROM_BYTES and _takes_gzip(request):
        response.body = gzip.compress(content, 1)
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Content-Length"] = str(len(response.body))
    if response.status_code >= HTTPStatus.BAD_REQUEST and _has_large_body(request):
        response.headers["Connection"] = "close"


def _takes_gzip(request: Request) -> bool:
    offered = request.headers.get("accept-encoding", "").lower().replace(" ", "").split(",")
    return "gzip" in offered or any(
        each.startswith("gzip;q=") and each[7:].strip("0.") for each in offered
    )


def _has_large_body(request: Request) -> bool:
    """Return whether more follows than is worth reading, or may."""
    return (
        _declared_bytes(request) > UNREAD_BYTES
        or "transfer-encoding" in request.headers
        or "expect" in request.headers
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
