"""A sender of OTLP/HTTP protobuf that loses nothing silently: it retries, or says what failed.

Statuses are retried as the specification says (429, 502, 503, 504), and so is a lost connection;
all others, redirects included, are a failure. A partial success is one too.
"""

import gzip
import time
from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import NamedTuple, Self
from urllib.parse import SplitResult, urlsplit

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from tracegrade_collector.encoding.otlp import Request, Signal
from tracegrade_collector.errors import BadEndpoint, EndpointFailed

NO_ANSWER = 0  # stands where a status would
RETRYABLE = frozenset({NO_ANSWER, 429, 502, 503, 504})
WAITS_SECS = (0.5, 1.0, 2.0, 4.0, 8.0)
MAX_WAIT_SECS = 30.0  # of what the server may ask for
TIMEOUT_SECS = 30.0


class _Answer(NamedTuple):
    status: int
    body: bytes
    wait_secs: float | None
    """What the server asks for."""

    failure: str


class OtlpHttp:
    """One OTLP/HTTP endpoint, over one connection."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        """Take the base URL, as in OTEL_EXPORTER_OTLP_ENDPOINT; `/v1/traces` is added to it.

        Raises:
            BadEndpoint: It is no http(s) URL.
        """
        self._url = _checked(url)
        kind = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
        self._connection = kind(self._url.netloc.rpartition("@")[2], timeout=TIMEOUT_SECS)
        self._headers = {
            "Content-Type": "application/x-protobuf",
            "Content-Encoding": "gzip",
            **headers,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def send(self, signal: Signal, request: Request) -> None:
        """Send one request, and return when the endpoint has taken all of it.

        Raises:
            EndpointFailed: It has not.
        """
        path = f"{self._url.path.rstrip('/')}/v1/{signal}"
        body = gzip.compress(request.SerializeToString(), mtime=0)
        for wait_secs in (*WAITS_SECS, 0.0):
            answer = self._post(path, body)
            if answer.status == HTTPStatus.OK:
                _check_all_taken(signal, answer.body)
                return
            if answer.status not in RETRYABLE:
                break
            time.sleep(min(answer.wait_secs or wait_secs, MAX_WAIT_SECS))
        msg = f"{self._url.geturl()} did not take the {signal}: {answer.failure}"
        raise EndpointFailed(msg)

    def _post(self, path: str, body: bytes) -> _Answer:
        try:
            self._connection.request("POST", path, body, self._headers)
            response = self._connection.getresponse()
            answer = response.read()
        except (OSError, HTTPException) as error:
            self._connection.close()  # the next request opens it again
            return _Answer(NO_ANSWER, b"", None, str(error) or type(error).__name__)
        wait_secs = _seconds(response.headers.get("Retry-After", ""))
        return _Answer(response.status, answer, wait_secs, f"status {response.status}")


def _checked(url: str) -> SplitResult:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        msg = f"--endpoint must be like http://localhost:4318, got {url!r}"
        raise BadEndpoint(msg)
    return parts


def _check_all_taken(signal: Signal, body: bytes) -> None:
    answer = (
        ExportTraceServiceResponse() if signal is Signal.TRACES else ExportLogsServiceResponse()
    )
    try:
        answer.ParseFromString(body)
    except DecodeError as error:
        msg = f"the endpoint answered 200 to the {signal}, but with no OTLP response: {error}"
        raise EndpointFailed(msg) from error
    if answer.HasField("partial_success") and (rejected := _rejected(answer)):
        msg = f"the endpoint rejected {rejected} of the {signal}: "
        raise EndpointFailed(msg + answer.partial_success.error_message)


def _rejected(answer: ExportTraceServiceResponse | ExportLogsServiceResponse) -> int:
    if isinstance(answer, ExportTraceServiceResponse):
        return answer.partial_success.rejected_spans
    return answer.partial_success.rejected_log_records


def _seconds(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdigit() else None
