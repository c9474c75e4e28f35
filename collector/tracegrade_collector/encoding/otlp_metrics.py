"""Metrics, which nothing here stores: how many data points a request holds."""

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

from tracegrade_collector.encoding.otlp import Encoding
from tracegrade_collector.encoding.otlp_json import read_json
from tracegrade_collector.encoding.request_limits import RequestLimits, check_message_limits
from tracegrade_collector.errors import MalformedRequest


def count_points(body: bytes, encoding: Encoding, at_most: RequestLimits) -> int:
    """Return how many data points of any kind a request of metrics holds.

    Raises:
        TooLarge: It holds more than a request may.
        MalformedRequest: It is not a request of metrics; the message names the position.
    """
    request = ExportMetricsServiceRequest()
    check_message_limits(body, request.DESCRIPTOR, encoding, at_most)
    if encoding is Encoding.JSON:
        read_json(body, request)
    else:
        _parse(body, request)
    return sum(
        _points(metric)
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    )


def _parse(body: bytes, request: ExportMetricsServiceRequest) -> None:
    try:
        request.ParseFromString(body)
    except DecodeError as error:
        msg = f"metrics request of {len(body)} bytes is not an OTLP protobuf message: {error}"
        raise MalformedRequest(msg) from error


def _points(metric: Metric) -> int:
    kind = metric.WhichOneof("data")
    return len(getattr(metric, kind).data_points) if kind else 0
