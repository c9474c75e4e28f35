"""How much the collector acknowledges durably while it lands, generator on the same cores.

Prints one table: start time, spans acknowledged per second with their latency, and how soon the
rest of the log has landed. Takes about 20 seconds.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
from deltalake import DeltaTable
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

COMMAND = [str(Path(sys.executable).with_name("tracegrade")), "collect"]
CONNECTIONS = 8
BODIES = 64
SECS = 2.0


class Load(NamedTuple):
    """One kind of traffic."""

    name: str
    spans_per_request: int


class Result(NamedTuple):
    """What the clients saw: acknowledged requests, how long each took (seconds), and all of it."""

    latencies: list[float]
    secs: float


LOADS = [Load("large requests", 512), Load("small requests", 10)]


def agent_spans(count: int, first_id: int) -> bytes:
    """Return a request of tool calls as agents make them, about 760 bytes each."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.add(key="service.name").value.string_value = "bench"
    spans = group.scope_spans.add().spans
    for number in range(first_id, first_id + count):
        span = spans.add(
            trace_id=(number // 20 + 1).to_bytes(16), span_id=(number + 1).to_bytes(8)
        )
        span.name, span.kind = "execute_tool search_orders", Span.SPAN_KIND_INTERNAL
        span.start_time_unix_nano, span.end_time_unix_nano = number, number + 1_000_000
        for key, text in {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search_orders",
            "gen_ai.tool.call.id": f"call_{number:024d}",
            "gen_ai.tool.call.arguments": json.dumps({"customer": f"c-{number}", "limit": 10}),
            "gen_ai.tool.call.result": json.dumps([{"order": number, "text": "x" * 300}]),
            "tracegrade.step.kind": "tool_call",
        }.items():
            span.attributes.add(key=key).value.string_value = text
    return request.SerializeToString()


async def send(port: int, messages: list[bytes], until: float) -> list[float]:
    """Send requests on one connection until then; return how long each took to be answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    latencies: list[float] = []
    while (started := time.perf_counter()) < until:
        writer.write(messages[len(latencies) % len(messages)])
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            msg = f"refused: {head.decode()}"
            raise SystemExit(msg)
        latencies.append(time.perf_counter() - started)
    writer.close()
    return latencies


async def drive(port: int, load: Load) -> Result:
    """Send one kind of traffic on all connections for a while."""
    bodies = [
        agent_spans(load.spans_per_request, n * load.spans_per_request) for n in range(BODIES)
    ]
    messages = [message(body) for body in bodies]
    started = time.perf_counter()
    sending = (send(port, messages[n::CONNECTIONS], started + SECS) for n in range(CONNECTIONS))
    latencies = [each for some in await asyncio.gather(*sending) for each in some]
    return Result(sorted(latencies), time.perf_counter() - started)


def message(body: bytes) -> bytes:
    """Return a whole HTTP request."""
    head = f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Content-Type: application/x-protobuf\r\n\r\n" + body


def landed_rows(lake: Path) -> int:
    """Return how many spans have landed."""
    return sum(
        pq.read_metadata(uri.removeprefix("file://")).num_rows
        for uri in DeltaTable(str(lake / "raw_spans")).file_uris()
    )


def measure(load: Load) -> None:
    """Run one collector under one kind of traffic; print a line."""
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder)
        started = time.perf_counter()
        process = subprocess.Popen(
            [*COMMAND, f"--lake={lake}", "--http=127.0.0.1:0", "--grpc=off"],
            stdout=subprocess.PIPE,
            text=True,
        )
        with process, process.stdout or sys.stdin as printed:
            port = int(printed.readline().rpartition(":")[2])
            start_secs = time.perf_counter() - started
            result = asyncio.run(drive(port, load))
            stopped = time.perf_counter()
            process.terminate()
            process.wait()
        report(load, result, start_secs, time.perf_counter() - stopped, landed_rows(lake))


def report(load: Load, result: Result, start_secs: float, drain_secs: float, landed: int) -> None:
    """Print the numbers of one run."""
    requests = len(result.latencies)
    acknowledged = requests * load.spans_per_request
    middle, slow = (result.latencies[int(requests * share)] * 1e3 for share in (0.5, 0.99))
    numbers = [
        f"{load.name:<14} ({load.spans_per_request} spans)",
        f"ready {start_secs:.2f} s",
        f"{requests / result.secs:,.0f} requests/s",
        f"{acknowledged / result.secs:,.0f} spans/s acknowledged",
        f"p50 {middle:.1f} ms, p99 {slow:.1f} ms",
        f"landed {landed:,} of {acknowledged:,} within {drain_secs:.1f} s of the end",
    ]
    print("; ".join(numbers))


if __name__ == "__main__":
    print(f"{os.cpu_count()} cores, shared with the generator's {CONNECTIONS} connections")
    for each in LOADS:
        measure(each)
