"""Metrics are read, and answered that no data point was taken; nothing of them is stored."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import (
    OTLPMetricExporter as GrpcExporter,
)
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import (
    OTLPMetricExporter as HttpExporter,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.sdk.metrics import Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import (
    InMemoryMetricReader,
    MetricExporter,
    MetricReader,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.metrics.view import Aggregation, ExponentialBucketHistogramAggregation
from tests.collector.running import JSON, PROTOBUF, Collector, collecting
from tests.collector.transports import ACCEPTED, BAD_DATA, TOO_LARGE, Transport

from tracegrade_collector.edge.tokens import add_token

from .bad_inputs import LIMIT

POINTS = 6
REJECTED = r'rejected_items_total\{reason="metrics are not stored",signal="metrics".*\} (\d+)'


def measure(reader: MetricReader) -> MeterProvider:
    """Return a provider that has measured six data points of four kinds."""
    provider = MeterProvider([reader], shutdown_on_exit=False)
    meter = provider.get_meter("stock")
    for kind in ("a", "b", "c"):
        meter.create_counter("calls").add(1, {"kind": kind})
    meter.create_up_down_counter("open").add(-(2**40))
    meter.create_gauge("heat").set(0.5)
    meter.create_histogram("secs").record(1.5)
    return provider


@pytest.fixture(scope="module", params=["explicit", "exponential"])
def request_of_metrics(request: pytest.FixtureRequest) -> ExportMetricsServiceRequest:
    """The request that a stock exporter makes of them, with either kind of histogram."""
    exponential: dict[type, Aggregation] = {Histogram: ExponentialBucketHistogramAggregation()}
    reader = InMemoryMetricReader(
        preferred_aggregation=exponential if request.param == "exponential" else None
    )
    measure(reader)
    data = reader.get_metrics_data()
    assert data is not None
    return encode_metrics(data)


@pytest.mark.parametrize("compressed", [False, True])
def test_no_data_point_is_taken_and_the_sender_is_told_how_many(
    transport: Transport, request_of_metrics: ExportMetricsServiceRequest, compressed: bool
) -> None:
    """Partial success, not an error, which exporters would complain of at each try."""
    outcome = transport.send(
        transport.encode(request_of_metrics), "metrics", compressed=compressed
    )

    assert outcome.verdict == ACCEPTED
    assert outcome.response.partial_success.rejected_data_points == POINTS
    assert "metrics are not stored" in outcome.response.partial_success.error_message


def test_a_request_without_data_points_is_a_success(transport: Transport) -> None:
    """Nothing is rejected of it."""
    outcome = transport.send(transport.encode(ExportMetricsServiceRequest()), "metrics")

    assert outcome.verdict == ACCEPTED
    assert not outcome.response.HasField("partial_success")


def test_limits_are_those_of_other_signals(transport: Transport, wire: Transport) -> None:
    """For bodies that are too large, and for bodies that are not a request."""
    assert transport.send(b" " * (LIMIT + 1), "metrics").verdict == TOO_LARGE
    assert wire.send(b"\xff\xff", "metrics").verdict == BAD_DATA


def test_many_empty_data_points_are_refused_before_they_are_read(tmp_path: Path) -> None:
    """Two bytes each would become hundreds; they count as values do."""
    point, gauge = b"\x0a\x00", bytearray()
    gauge += point * 2000
    metric = b"\x2a" + _length(gauge) + bytes(gauge)
    body = metric
    for tag in (b"\x12", b"\x12", b"\x0a"):
        body = tag + _length(body) + body
    with collecting(tmp_path, max_values_per_request=1000) as small:
        assert small.post("/v1/metrics", body).status == 413


def _length(content: bytes | bytearray) -> bytes:
    size, found = len(content), bytearray()
    while size > 0x7F:
        found.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*found, size])


def over_http(collector: Collector, headers: dict[str, str]) -> MetricExporter:
    """Return a stock exporter over HTTP, compressed."""
    url = f"{collector.url}/v1/metrics"
    return HttpExporter(url, headers=headers, compression=Compression.Gzip)


def over_grpc(collector: Collector, headers: dict[str, str]) -> MetricExporter:
    """Return a stock exporter over gRPC."""
    lower = {name.lower(): value for name, value in headers.items()}
    return GrpcExporter(collector.grpc, insecure=True, headers=lower)


class Guarded(NamedTuple):
    """A collector that wants tokens, and how to show them."""

    collector: Collector
    sender: dict[str, str]
    reader: dict[str, str]
    """Reads `/metrics`."""

    def counts(self) -> str:
        """Return what /metrics tells."""
        return self.collector.request("GET", "/metrics", headers=self.reader).body.decode()


@contextmanager
def guarded_in(folder: Path) -> Iterator[Guarded]:
    """Run a collector that wants tokens during the block."""
    file = folder / "tokens.toml"
    tokens = [add_token(file, tenant, None) for tenant in ("acme", None)]
    sender, reader = ({"Authorization": f"Bearer {token}"} for token in tokens)
    with collecting(folder / "lake", "--token-file", str(file)) as running:
        yield Guarded(running, sender, reader)


@pytest.mark.parametrize("exporter", [over_http, over_grpc])
def test_stock_exporters_are_content_and_told_of_once(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    exporter: Callable[[Collector, dict[str, str]], MetricExporter],
) -> None:
    """They report no failure; the collector counts each point, says so once, and stores none."""
    with guarded_in(tmp_path) as guarded:
        reader = PeriodicExportingMetricReader(exporter(guarded.collector, guarded.sender))
        provider = measure(reader)
        assert provider.force_flush()
        assert provider.force_flush()
        counted = re.search(REJECTED, guarded.counts())
        provider.shutdown()
        assert guarded.collector.stop() == 0

    lake = tmp_path / "lake"
    assert caplog.records == []
    assert counted is not None
    assert int(counted[1]) == 2 * POINTS
    assert capfd.readouterr().err.count("sends metrics, which are not stored") == 1
    assert not list(lake.rglob("*.parquet"))
    assert not list(lake.glob("tenants/acme/quarantine/*"))


def test_metrics_need_the_same_token(tmp_path: Path) -> None:
    """As traces do, in either encoding."""
    with guarded_in(tmp_path) as guarded:
        shown = [
            [
                guarded.collector.post(path, b"", headers | more).status
                for more in ({}, guarded.reader)
            ]
            for headers in (PROTOBUF, JSON)
            for path in ("/v1/metrics", "/v1/traces")
        ]

    assert shown == [[401, 401]] * 4
