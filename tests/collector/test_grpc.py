"""OTLP/gRPC: every answer that the protocol demands, from a real collector.

Specification: https://opentelemetry.io/docs/specs/otlp, "OTLP/gRPC".
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from google.rpc.code_pb2 import Code
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from .running import Collector, collecting, landed_ids, trace_body, trace_request, wait_until

LIMIT = 1 << 20
TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
METRICS = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    """A collector whose requests may have one megabyte."""
    with collecting(tmp_path, max_request_bytes=LIMIT) as running:
        yield running


@pytest.fixture
def export(collector: Collector) -> Iterator[Callable[..., bytes]]:
    """Sends bytes as they are to a method and returns the bytes of the answer."""
    with grpc.insecure_channel(collector.grpc) as channel:

        def send(body: bytes, method: str = TRACES, *, gzip: bool = False) -> bytes:
            compression = grpc.Compression.Gzip if gzip else grpc.Compression.NoCompression
            answer: bytes = channel.unary_unary(method)(body, timeout=10, compression=compression)
            return answer

        yield send


def details(error: grpc.RpcError) -> tuple[Status, dict[str, bytes]]:
    """Return the status and the other trailers of a failed call."""
    trailers = dict(error.trailing_metadata())
    return Status.FromString(trailers["grpc-status-details-bin"]), trailers


@pytest.mark.parametrize("gzip", [False, True])
def test_request_is_accepted(
    collector: Collector, export: Callable[..., bytes], gzip: bool
) -> None:
    """Compressed or not, the spans land and the answer is empty."""
    answer = export(trace_body(1, 2), gzip=gzip)
    collector.stop()

    assert answer == b""
    assert landed_ids(collector.lake) == [1, 2]


def test_bad_ids_cost_only_their_span(collector: Collector, export: Callable[..., bytes]) -> None:
    """The answer counts what was refused."""
    request = trace_request(1, 2)
    request.resource_spans[0].scope_spans[0].spans[0].trace_id = b""
    answer = ExportTraceServiceResponse.FromString(export(request.SerializeToString()))
    collector.stop()

    assert answer.partial_success.rejected_spans == 1
    assert landed_ids(collector.lake) == [2]


def test_bytes_that_are_no_request_are_refused_and_kept(
    collector: Collector, export: Callable[..., bytes]
) -> None:
    """The client is told that it is its own fault, so that it does not send them again."""
    with pytest.raises(grpc.RpcError) as refused:
        export(b"\xff\xff\xff")

    status, _ = details(refused.value)
    violations = BadRequest()
    (kept,) = (collector.lake / "quarantine").iterdir()
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert status.code == Code.INVALID_ARGUMENT
    assert status.details[0].Unpack(violations)
    assert kept.read_bytes() == b"\xff\xff\xff"


@pytest.mark.parametrize("gzip", [False, True])
def test_oversized_message_is_refused_for_good(export: Callable[..., bytes], gzip: bool) -> None:
    """Without RetryInfo: sending the same again would not help."""
    with pytest.raises(grpc.RpcError) as refused:
        export(bytes(LIMIT + 1), gzip=gzip)

    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "grpc-status-details-bin" not in dict(refused.value.trailing_metadata() or ())


def test_metrics_are_not_implemented(export: Callable[..., bytes]) -> None:
    """The signal that is not collected is refused as the protocol says."""
    with pytest.raises(grpc.RpcError) as refused:
        export(b"", METRICS)

    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_overload_names_the_wait_in_both_forms(tmp_path: Path) -> None:
    """The standard one, and the one that the Python exporter reads."""
    limits = {"max_in_flight_bytes": 2000, "max_request_bytes": 1000}
    with (
        collecting(tmp_path, **limits) as collector,
        collector.busy_with(700),
        collector.busy_with(700),
        grpc.insecure_channel(collector.grpc) as channel,
    ):
        wait_until(lambda: collector.post("/v1/traces", bytes(700)).status == 503)
        with pytest.raises(grpc.RpcError) as refused:
            channel.unary_unary(TRACES)(bytes(700), timeout=10)

    status, trailers = details(refused.value)
    standard, own = RetryInfo(), RetryInfo.FromString(trailers["google.rpc.retryinfo-bin"])
    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
    assert status.details[0].Unpack(standard)
    assert standard.retry_delay.seconds == own.retry_delay.seconds == 1
