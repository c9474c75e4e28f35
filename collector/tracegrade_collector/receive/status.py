"""The bodies of answers: `google.rpc.Status` for errors, the export response for the rest.

Specification: https://opentelemetry.io/docs/specs/otlp, "OTLP/HTTP Response" and "Failures". Both
come in the request's own encoding.
"""

from google.protobuf import json_format
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import code_pb2
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from tracegrade_collector.encoding.otlp import Encoding, Rejection, Signal

MAX_MESSAGE_CHARS = 1000  # far below the 4 MiB that the specification allows an answer
MEDIA_TYPES = {"application/x-protobuf": Encoding.PROTOBUF, "application/json": Encoding.JSON}
CONTENT_TYPES = {encoding: media_type for media_type, encoding in MEDIA_TYPES.items()}


def encoding_of(content_type: str) -> Encoding | None:
    """Return the encoding that a content type names, with any parameters; None for others."""
    return MEDIA_TYPES.get(content_type.partition(";")[0].strip().lower())


def error_encoding(content_type: str) -> Encoding:
    """Return the request's encoding; JSON, which people can read, if it has no known one."""
    return encoding_of(content_type) or Encoding.JSON


def error_status(code: int, text: str, retry_after_secs: int | None = None) -> Status:
    """Return the error with what the specification wants in its details."""
    status = Status(code=code, message=text[:MAX_MESSAGE_CHARS])
    if retry_after_secs is not None:
        status.details.add().Pack(retry_info(retry_after_secs))
    if code == code_pb2.INVALID_ARGUMENT:
        violation = BadRequest.FieldViolation(description=status.message)
        status.details.add().Pack(BadRequest(field_violations=[violation]))
    return status


def retry_info(secs: int) -> RetryInfo:
    """Return how long a client should wait."""
    return RetryInfo(retry_delay=Duration(seconds=secs))


def export_response(signal: Signal, rejections: list[Rejection], warning: str = "") -> Message:
    """Return the answer to an accepted request; it is empty if there is nothing to say."""
    response = (
        ExportTraceServiceResponse() if signal is Signal.TRACES else ExportLogsServiceResponse()
    )
    if rejections:
        count = sum(rejection.count for rejection in rejections)
        if isinstance(response, ExportTraceServiceResponse):
            response.partial_success.rejected_spans = count
        else:
            response.partial_success.rejected_log_records = count
        response.partial_success.error_message = rejection_text(rejections)
    elif warning:  # nothing is refused, as the specification has it for what clients should know
        response.partial_success.error_message = warning[:MAX_MESSAGE_CHARS]
    return response


def metrics_response(count: int) -> Message:
    """Return the answer to metrics, which rejects all data points; empty if there were none."""
    response = ExportMetricsServiceResponse()
    if count:
        response.partial_success.rejected_data_points = count
        response.partial_success.error_message = (
            f"{count}: metrics are not stored here, traces and logs are; "
            f"OTEL_METRICS_EXPORTER=none ends this"
        )
    return response


def rejection_text(rejections: list[Rejection]) -> str:
    """Return why items were refused, most common reason first."""
    return "; ".join(f"{count}: {reason}" for reason, count in rejections)[:MAX_MESSAGE_CHARS]


def encode(message: Message, encoding: Encoding) -> bytes:
    """Return a message in the encoding of the request that it answers."""
    if encoding is Encoding.PROTOBUF:
        return message.SerializeToString()
    return json_format.MessageToJson(message, indent=None).encode()
