"""A sender of OTLP/HTTP protobuf that loses nothing silently: it retries, or reports the failure.

urllib3 retries as the specification says (429, 502, 503, 504, and a lost connection), with the
waiting times of the endpoint. All other answers, including redirects and a partial success, are
failures.
"""

import gzip
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, Self
from urllib.parse import SplitResult, urlsplit

import urllib3
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from urllib3.exceptions import HTTPError

from tracegrade_collector.edge.json_http import last_cause
from tracegrade_collector.encoding.otlp import ExportRequest, Signal
from tracegrade_collector.errors import BadEndpoint, EndpointFailed

TIMEOUT_SECS: Final = 30.0
MAX_WAIT_SECS: Final = 30
RETRIES: Final = urllib3.Retry(
    5,
    redirect=False,
    allowed_methods=["POST"],
    status_forcelist=[429, 502, 503, 504],
    backoff_factor=0.5,  # 0, 1, 2, 4 and 8 s
    backoff_max=MAX_WAIT_SECS,
    retry_after_max=MAX_WAIT_SECS,
    raise_on_status=False,
)


class OtlpHttp:
    """One OTLP/HTTP endpoint, over one connection."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        """Take the base URL, as in OTEL_EXPORTER_OTLP_ENDPOINT; `/v1/traces` is added to it.

        Raises:
            BadEndpoint: It is not an http(s) URL.
        """
        self._url = _checked(url)
        self._pool = urllib3.PoolManager(
            headers={
                "Content-Type": "application/x-protobuf",
                "Content-Encoding": "gzip",
                **headers,
            },
            timeout=TIMEOUT_SECS,
            retries=RETRIES,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.clear()

    def send(self, signal: Signal, request: ExportRequest) -> None:
        """Send one request, and return when the endpoint has taken all of it.

        Raises:
            EndpointFailed: It has not.
        """
        url = f"{self._url.geturl().rstrip('/')}/v1/{signal}"
        body = gzip.compress(request.SerializeToString(), mtime=0)
        try:
            answer = self._pool.request("POST", url, body=body, redirect=False)
        except HTTPError as error:
            raise self._failed(signal, last_cause(error)) from error
        if answer.status != HTTPStatus.OK:
            raise self._failed(signal, f"status {answer.status}")
        _check_all_taken(signal, answer.data)

    def _failed(self, signal: Signal, cause: str) -> EndpointFailed:
        return EndpointFailed(f"{self._url.geturl()} did not take the {signal}: {cause}")


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
