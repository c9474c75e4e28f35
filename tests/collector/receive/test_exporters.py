"""Stock OpenTelemetry programs, which know nothing of us, lose nothing."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.collector.running import collecting, landed
from tests.slow import slow_after
from tests.waiting import PATIENCE_SECS

PROGRAM = """
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.exporter.otlp.proto.{protocol}.trace_exporter import OTLPSpanExporter
from {module} import Compression

for compression in {compressions}:
    provider = TracerProvider()
    exporter = OTLPSpanExporter({arguments}, timeout=240, compression=Compression[compression])
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("stock")
    for number in range({count}):
        with tracer.start_as_current_span(compression) as span:
            span.set_attribute("number", number)
    provider.shutdown()
"""
COUNT = 1300  # more than two batches


@pytest.mark.parametrize(
    ("protocol", "module", "compressions"),
    slow_after(
        1,
        [
            (
                "http",
                "opentelemetry.exporter.otlp.proto.http",
                ["NoCompression", "Gzip", "Deflate"],
            ),
            ("grpc", "grpc", ["NoCompression", "Gzip"]),
        ],
    ),
    ids=["http", "grpc"],
)
def test_stock_program_counts_what_it_sent(
    tmp_path: Path, protocol: str, module: str, compressions: list[str]
) -> None:
    """Each span has exactly one row, with its name, attribute and times."""
    with collecting(tmp_path) as collector:
        plain = f"endpoint='{collector.grpc}', insecure=True"
        arguments = plain if protocol == "grpc" else f"endpoint='{collector.url}/v1/traces'"
        program = PROGRAM.format(
            protocol=protocol, module=module, compressions=compressions, arguments=arguments,
            count=COUNT,
        )  # fmt: skip
        subprocess.run([sys.executable, "-c", program], check=True, timeout=PATIENCE_SECS)
        exit_code = collector.stop()

    rows = landed(tmp_path).to_pylist()
    sent = sorted((row["name"], int(dict(row["attributes"])["number"])) for row in rows)
    assert exit_code == 0
    assert sent == [(name, number) for name in sorted(compressions) for number in range(COUNT)]
    assert not any(row["resent"] for row in rows)
    assert all(row["end_ns"] >= row["start_ns"] > 0 for row in rows)
