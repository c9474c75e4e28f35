"""The three ways in which a request reaches a collector, with one form for what it answers."""

import gzip
import http.client
import json
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

import grpc
from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from tests.waiting import PATIENCE_SECS

from tracegrade_collector.encoding.otlp_json import write_json

from .running import JSON, PROTOBUF, Answer, Collector

ACCEPTED, BAD_DATA, TOO_LARGE, UNAVAILABLE, UNKNOWN_SIGNAL = (
    "accepted",
    "bad data",
    "too large",
    "unavailable",
    "unknown signal",
)
VERDICTS = {200: ACCEPTED, 400: BAD_DATA, 413: TOO_LARGE, 503: UNAVAILABLE, 404: UNKNOWN_SIGNAL}
GRPC_VERDICTS = {
    grpc.StatusCode.INVALID_ARGUMENT: BAD_DATA,
    grpc.StatusCode.RESOURCE_EXHAUSTED: TOO_LARGE,
    grpc.StatusCode.UNAVAILABLE: UNAVAILABLE,
    grpc.StatusCode.UNIMPLEMENTED: UNKNOWN_SIGNAL,
}
SERVICES = {
    "traces": "opentelemetry.proto.collector.trace.v1.TraceService",
    "logs": "opentelemetry.proto.collector.logs.v1.LogsService",
    "metrics": "opentelemetry.proto.collector.metrics.v1.MetricsService",
    "profiles": "opentelemetry.proto.collector.profiles.v1development.ProfilesService",
}
PATHS = {"traces": "/v1/traces", "logs": "/v1/logs", "metrics": "/v1/metrics"} | {
    "profiles": "/v1development/profiles"
}
RESPONSES: dict[str, Any] = {
    "traces": ExportTraceServiceResponse,
    "logs": ExportLogsServiceResponse,
    "metrics": ExportMetricsServiceResponse,
}


class Outcome(NamedTuple):
    """A client's result."""

    verdict: str
    body: bytes = b""
    response: Any = None
    """The export response of an accepted request."""

    error: Status | None = None
    """The error in the encoding of the request; None if none was sent."""

    waits: tuple[int, ...] = ()
    """Seconds to wait, once for each form in which they were named."""

    @property
    def describes_bad_data(self) -> bool:
        """Whether the error says what is bad."""
        found = BadRequest()
        details = self.error.details if self.error else []
        return any(each.Unpack(found) for each in details) and bool(found.field_violations)


class Transport(Protocol):
    """One way in."""

    def encode(self, request: Message) -> bytes:
        """Return a request as this transport's clients write it."""

    def send(self, body: bytes, signal: str = "traces", *, compressed: bool = False) -> Outcome:
        """Return what came of these bytes."""


class Http:
    """OTLP/HTTP in one of its encodings."""

    def __init__(self, collector: Collector, headers: Mapping[str, str]) -> None:
        self._collector = collector
        self._headers = headers

    def encode(self, request: Message) -> bytes:
        """Return a request as this transport's clients write it."""
        if self._headers is JSON:
            return json.dumps(write_json(request)).encode()
        return request.SerializeToString()

    def send(self, body: bytes, signal: str = "traces", *, compressed: bool = False) -> Outcome:
        """Return what came of these bytes."""
        headers = dict(self._headers)
        if compressed:
            body, headers["Content-Encoding"] = gzip.compress(body, 1), "gzip"
        answer = self._collector.post(PATHS[signal], body, headers)
        assert answer.headers["content-type"] == self._headers["Content-Type"]
        return self._outcome(answer, signal)

    def _outcome(self, answer: Answer, signal: str) -> Outcome:
        verdict = VERDICTS[answer.status]
        if verdict != ACCEPTED:
            retry_after = answer.headers.get("retry-after")
            waits = (int(retry_after),) if retry_after else ()
            return Outcome(
                verdict, answer.body, None, answer.error, waits + _retry_info(answer.error)
            )
        response = RESPONSES[signal]()
        if self._headers is JSON:
            json_format.Parse(answer.body, response)
        else:
            response.ParseFromString(answer.body)
        return Outcome(verdict, answer.body, response)


class Grpc:
    """OTLP/gRPC, on one connection."""

    def __init__(self, collector: Collector) -> None:
        self.channel = grpc.insecure_channel(collector.grpc)

    def encode(self, request: Message) -> bytes:
        """Return a request as this transport's clients write it."""
        return request.SerializeToString()

    def send(self, body: bytes, signal: str = "traces", *, compressed: bool = False) -> Outcome:
        """Return what came of these bytes."""
        call = self.channel.unary_unary(f"/{SERVICES[signal]}/Export")
        compression = grpc.Compression.Gzip if compressed else grpc.Compression.NoCompression
        try:
            answer: bytes = call(body, timeout=PATIENCE_SECS, compression=compression)
        except grpc.RpcError as error:
            return _grpc_refusal(error)
        return Outcome(ACCEPTED, answer, RESPONSES[signal].FromString(answer))


def _grpc_refusal(error: Any) -> Outcome:
    trailers = dict(error.trailing_metadata() or ())
    details = trailers.get("grpc-status-details-bin")
    status = Status.FromString(details) if details else None
    own = trailers.get("google.rpc.retryinfo-bin")
    waits = (RetryInfo.FromString(own).retry_delay.seconds,) if own else ()
    standard = _retry_info(status) if status else ()
    return Outcome(GRPC_VERDICTS[error.code()], b"", None, status, waits + standard)


def _retry_info(status: Status) -> tuple[int, ...]:
    found = RetryInfo()
    return tuple(found.retry_delay.seconds for each in status.details if each.Unpack(found))


def transports(collector: Collector) -> dict[str, Transport]:
    """Return all of them by name."""
    return {
        "http-protobuf": Http(collector, PROTOBUF),
        "http-json": Http(collector, JSON),
        "grpc": Grpc(collector),
    }


def raw(port: int, sent: bytes) -> bytes:
    """Return all that comes back for these bytes on a new connection, until it is closed.

    Raises:
        TimeoutError: It is not.
    """
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECS) as connection:
        with suppress(ConnectionError):  # closed while more was on its way
            connection.sendall(sent)
        return b"".join(_received(connection))


def _received(connection: socket.socket) -> Iterator[bytes]:
    """Yield what comes until the other side closes the connection, or resets it."""
    with suppress(ConnectionError):
        while piece := connection.recv(1 << 16):
            yield piece


def head(*lines: str, path: str = "/v1/traces", method: str = "POST") -> bytes:
    """Return the head of an HTTP request in protobuf with further lines."""
    first = [f"{method} {path} HTTP/1.1", "Host: x", "Content-Type: application/x-protobuf"]
    return "\r\n".join([*first, *lines, "", ""]).encode()


def answers(received: bytes) -> list[int]:
    """Return the status codes in the bytes of a connection."""
    return [int(code) for code in re.findall(rb"HTTP/1\.1 (\d{3}) ", received)]


def connect(collector: Collector) -> http.client.HTTPConnection:
    """Return a connection that is kept open."""
    return http.client.HTTPConnection("127.0.0.1", collector.port, timeout=PATIENCE_SECS)
