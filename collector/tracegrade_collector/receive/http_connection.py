"""One HTTP connection: uvicorn's, with the limits that it lacks.

uvicorn has no deadline for a head or a body, and no limit on a head's size, on chunks or on
requests sent ahead. It answers malformed requests with plain text, and loses the body of a request
that offers another protocol. An ASGI application is only called when the head is complete, too
late for these.
"""

import asyncio
import math
from http import HTTPStatus
from typing import Any

import httptools
from google.rpc.code_pb2 import Code
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tracegrade_collector.receive import status
from tracegrade_collector.receive.connections import Connections

KEEP_ALIVE_SECS = 75  # longer than an exporter's pause between batches (5 s)
CLOSING_SECS = 5.0  # for a client to read what was answered last
MAX_HEAD_BYTES = 64 << 10
MAX_CHUNKS = 65_536  # each costs a microsecond at any size; 64 MiB in pieces of 1 KiB
MAX_AHEAD = 1000  # requests sent before the first is answered; each takes 2 kB


class BoundedProtocol(HttpToolsProtocol):
    """One HTTP connection, with limits on the size and the duration of everything on it."""

    def __init__(self, bounds: Connections, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._bounds = bounds
        self._head_is_open = self._body_is_open = False  # begun, and not at its end
        self._head_is_repeated = self._is_broken = False
        self._heads = self._head_bytes = self._chunks = 0
        self._refusal: tuple[HTTPStatus, str] | None = None
        self.deadline = math.inf

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Register the connection, and give its first head a deadline."""
        super().connection_made(transport)
        self.deadline = self.loop.time() + self._bounds.max_head_secs
        self._bounds.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Unregister the connection."""
        self._bounds.closed(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Feed the parser, and refuse a head that gets too large."""
        if self._is_broken:
            return
        heads = self._heads
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError:
            self.send_400_response("this is not an HTTP/1.1 request")
        except httptools.HttpParserUpgrade as offer:
            self._decline_upgrade()
            self.data_received(data[offer.args[0] :])
            return
        if self._head_is_open and self._heads == heads and not self._is_broken:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the head is too large")

    def on_message_begin(self) -> None:
        """Give the head of the next request a deadline."""
        if self._head_is_repeated:
            return
        self._head_is_open = True
        self._heads += 1
        self._head_bytes = 0
        self.deadline = self.loop.time() + self._bounds.max_head_secs
        super().on_message_begin()

    def _decline_upgrade(self) -> None:
        """Go on in HTTP/1.1, with the body of the request that came with the offer.

        Java's client offers HTTP/2 like this. The parser takes what follows for the new protocol,
        and the body would be lost; so another one gets the head again, without the offer.
        """
        body_headers = (b"content-length", b"transfer-encoding")
        lines = [name + b": " + value for name, value in self.headers if name in body_headers]
        self.parser = httptools.HttpRequestParser(self)
        self._head_is_repeated = True
        self.parser.feed_data(b"\r\n".join([b"POST / HTTP/1.1", *lines, b"", b""]))

    def on_url(self, url: bytes) -> None:
        """Keep the URL, unless the head is being repeated after a declined upgrade."""
        if not self._head_is_repeated:
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; trailers after a body are ignored."""
        if self._head_is_open and not self._head_is_repeated:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Check the head, give the body a deadline, and start the application."""
        if self._head_is_repeated:
            self._head_is_repeated = False
            return
        if sum(len(name) + len(value) for name, value in self.headers) > MAX_HEAD_BYTES:
            self._fail(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the head is too large")
        if len(self.pipeline) >= MAX_AHEAD:
            self._fail(HTTPStatus.BAD_REQUEST, "too many requests at once on one connection")
        self._head_is_open, self._body_is_open = False, True
        self._chunks = 0
        self.deadline = self.loop.time() + self._bounds.max_body_secs
        self._bounds.working(self)
        super().on_headers_complete()

    def on_chunk_header(self) -> None:
        """Count a chunk, and refuse a body with too many."""
        self._chunks += 1
        if self._chunks > MAX_CHUNKS:
            self._fail(HTTPStatus.BAD_REQUEST, f"the body has more than {MAX_CHUNKS} chunks")

    def on_message_complete(self) -> None:
        """Remove the deadline: the answer may take any time."""
        if self.parser.should_upgrade():
            return  # the body is still to come
        self._body_is_open = False
        self.deadline = math.inf
        super().on_message_complete()
        if self.cycle.response_complete:
            self._rest()

    def on_response_complete(self) -> None:
        """Mark the connection as idle if its request is complete."""
        super().on_response_complete()
        if not self._body_is_open and not self.pipeline:
            self._rest()

    def _rest(self) -> None:
        if not self._head_is_open:
            self.deadline = self.loop.time() + KEEP_ALIVE_SECS
        self._bounds.resting(self)

    def pause_writing(self) -> None:
        """Give a client that does not read its answers a deadline, too."""
        self.deadline = self.loop.time() + self._bounds.max_body_secs
        super().pause_writing()

    def resume_writing(self) -> None:
        """Remove the deadline: the client reads again."""
        self.deadline = math.inf
        super().resume_writing()

    def expire(self) -> None:
        """End a connection that took too long."""
        if self.transport.is_closing():
            self.transport.abort()
        elif not self._body_is_open or self.cycle.response_complete:
            self._close()
        else:
            text = f"the body did not arrive within {self._bounds.max_body_secs:g} s"
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, text)

    def _fail(self, code: HTTPStatus, text: str) -> None:
        """End parsing, which makes uvicorn call `send_400_response`."""
        self._refusal = code, text
        raise ValueError(text)

    def send_400_response(self, msg: str) -> None:
        """Answer a request that is malformed or over a limit, and read no further."""
        self._is_broken = True
        if self._answers_under_way():
            self.cycle.keep_alive = (
                False  # earlier responses come first; then the connection is closed
            )
        else:
            self._refuse(*(self._refusal or (HTTPStatus.BAD_REQUEST, msg)))

    def _answers_under_way(self) -> bool:
        cycle = self.cycle
        return cycle is not None and not cycle.response_complete and not cycle.more_body

    def _answer_has_started(self) -> bool:
        cycle = self.cycle
        return cycle is not None and cycle.response_started and not cycle.response_complete

    def _refuse(self, code: HTTPStatus, text: str) -> None:
        """Answer without the application, for which the client has disconnected."""
        self._bounds.refused(code.name.lower())
        if not self._answer_has_started():
            self.transport.write(_answer(code, text, dict(self.headers or ())))
        self._close()

    def _close(self) -> None:
        self.deadline = self.loop.time() + CLOSING_SECS
        self.transport.close()


def _answer(code: HTTPStatus, text: str, headers: dict[bytes, bytes]) -> bytes:
    """Return a whole HTTP response with a `Status`, after which the connection is closed."""
    is_overload = code is HTTPStatus.SERVICE_UNAVAILABLE
    error = status.error_status(
        Code.UNAVAILABLE if is_overload else Code.INVALID_ARGUMENT,
        text,
        1 if is_overload else None,
    )
    encoding = status.error_encoding(headers.get(b"content-type", b"").decode("latin-1"))
    body = status.encode(error, encoding)
    head = [
        f"HTTP/1.1 {code.value} {code.phrase}",
        f"content-type: {status.CONTENT_TYPES[encoding]}",
        f"content-length: {len(body)}",
        "connection: close",
        *(["retry-after: 1"] if is_overload else []),
    ]
    return "\r\n".join([*head, "", ""]).encode() + body
