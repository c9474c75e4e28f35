"""Stock OpenTelemetry programs, which know nothing of us, lose nothing."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.collector.running import Collector, collecting, landed
from tests.waiting import PATIENCE_SECS

PROGRAM = """
from importlib import import_module
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.exporter.otlp.proto.{protocol}.trace_exporter import OTLPSpanExporter

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter({arguments})))
tracer = provider.get_tracer("stock")
for number in range({count}):
    with tracer.start_as_current_span(f"span {{number}}") as span:
        span.set_attribute("number", number)
provider.shutdown()
"""
COUNT = 1300  # more than two batches


def run_stock_program(protocol: str, arguments: str) -> None:
    """Run a program of its own that sends its spans and ends."""
    program = PROGRAM.format(protocol=protocol, arguments=arguments, count=COUNT)
    subprocess.run([sys.executable, "-c", program], check=True, timeout=PATIENCE_SECS)


def arguments_for(protocol: str, collector: Collector, compression: str) -> str:
    """Return how the program makes its exporter."""
    module = "opentelemetry.exporter.otlp.proto.http" if protocol == "http" else "grpc"
    chosen = f"import_module('{module}').Compression.{compression}"
    if protocol == "http":
        return f"endpoint='{collector.url}/v1/traces', timeout=240, compression={chosen}"
    return f"endpoint='{collector.grpc}', timeout=240, insecure=True, compression={chosen}"


@pytest.mark.parametrize(
    ("protocol", "compression"),
    [
        ("http", "NoCompression"),
        ("http", "Gzip"),
        ("http", "Deflate"),
        ("grpc", "NoCompression"),
        ("grpc", "Gzip"),
    ],
)
def test_stock_program_counts_what_it_sent(
    tmp_path: Path, protocol: str, compression: str
) -> None:
    """Each span has exactly one row, with its name, attribute and times."""
    with collecting(tmp_path) as collector:
        run_stock_program(protocol, arguments_for(protocol, collector, compression))
        exit_code = collector.stop()

    rows = landed(tmp_path).to_pylist()
    assert exit_code == 0
    assert sorted(int(dict(row["attributes"])["number"]) for row in rows) == list(range(COUNT))
    assert not any(row["resent"] for row in rows)
    assert all(row["end_ns"] >= row["start_ns"] > 0 for row in rows)
