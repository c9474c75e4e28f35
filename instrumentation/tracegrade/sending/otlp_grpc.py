"""Exports spans over OTLP/gRPC: the SDK's exporter with tracegrade's encoding and results.

Imported only when an exporter is made, since grpc takes longer to import than all of tracegrade.
"""

from collections.abc import Sequence
from typing import Any, Final

from grpc import RpcError, StatusCode
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from tracegrade.sending.answers import partly
from tracegrade.sending.delivery import NO_ANSWER, Delivery, Fate, Reply, deliver
from tracegrade.sending.otlp import FITTING_BYTES, SMALLEST_BYTES, USUAL_SPAN_BYTES, build_request

_LATER: Final = frozenset(
    (
        StatusCode.CANCELLED,
        StatusCode.DEADLINE_EXCEEDED,
        StatusCode.ABORTED,
        StatusCode.OUT_OF_RANGE,
        StatusCode.UNAVAILABLE,
        StatusCode.DATA_LOSS,
    )
)
_RETRY_INFO: Final = "google.rpc.retryinfo-bin"


class GrpcExporter(OTLPSpanExporter):
    """The SDK's exporter over gRPC, with its settings and its retries."""

    def __init__(self) -> None:
        self._answer = Reply(Fate.LATER, NO_ANSWER)
        self._span_bytes = USUAL_SPAN_BYTES
        self._fitting_bytes = FITTING_BYTES
        super().__init__()

    def _initialize_channel_and_stub(self) -> None:
        super()._initialize_channel_and_stub()  # type: ignore[no-untyped-call]  # the SDK's
        self._client: Any = _Listening(self._client, self._hear)

    def _hear(self, answer: Reply) -> None:
        self._answer = answer

    def _translate_data(self, data: Sequence[ReadableSpan]) -> ExportTraceServiceRequest:
        request = build_request(data)
        self._span_bytes = max(1.0, request.ByteSize() / max(1, len(data)))
        return request

    def batch_size(self) -> int:
        """Return how many spans like those sent before fit well into one request."""
        return max(1, int(self._fitting_bytes / self._span_bytes))

    def deliver(self, spans: Sequence[ReadableSpan]) -> Delivery:
        """Send a batch, and return its result."""
        return deliver(spans, self._send)

    def _send(self, spans: Sequence[ReadableSpan]) -> Reply:
        self._answer = Reply(Fate.LATER, NO_ANSWER)
        try:
            self.export(spans)
        except _TooLarge:
            fitting = int(self._span_bytes * len(spans)) // 2
            self._fitting_bytes = max(SMALLEST_BYTES, min(self._fitting_bytes, fitting))
        return self._answer

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send one batch."""
        return super().export(spans)


class _TooLarge(Exception):
    """A request that no other try makes smaller; the SDK would try for its whole time."""


class _Listening:
    """The service's stub, with a callback for its answers."""

    def __init__(self, stub: Any, hear: Any) -> None:
        self._stub = stub
        self._hear = hear

    def Export(self, **request: Any) -> object:  # noqa: N802 - the service's name for it
        try:
            response = self._stub.Export(**request)
        except RpcError as error:
            answer = _answer_of(error)
            self._hear(answer)
            if answer.fate is Fate.TOO_LARGE:
                raise _TooLarge from error
            raise
        self._hear(partly(response.partial_success))
        return response


def _answer_of(error: Any) -> Reply:
    code, detail = error.code(), str(error.details() or "")[:200]
    reason = f"gRPC {code.name}"
    if code is StatusCode.RESOURCE_EXHAUSTED:
        has_retry_info = dict(error.trailing_metadata() or ()).get(_RETRY_INFO) is not None
        is_size = not has_retry_info and "larger" in detail
        return Reply(Fate.TOO_LARGE if is_size else Fate.LATER, reason, detail)
    if code is StatusCode.INVALID_ARGUMENT:
        return Reply(Fate.BAD, reason, detail)
    return Reply(Fate.LATER if code in _LATER else Fate.LOST, reason, detail)
