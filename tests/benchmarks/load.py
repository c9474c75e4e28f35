"""OTLP traffic for the benchmarks: agent spans of about 760 bytes, none of them sent twice.

A body is built once; its ids lie in rows of fixed places, so that each request gets new ones by a
few array writes. The generator shares the machine with what it measures and must cost little.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

CONNECTIONS = 8
SPANS_PER_TRACE = 20
TRACE_MARK, SPAN_MARK, CALL_MARK = b"trace-id", b"\xffspan-id", b"call-id-"
"""Eight bytes each, found in the body and overwritten by a number."""


Bytes = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


class Load(NamedTuple):
    """One kind of traffic."""

    name: str
    spans_per_request: int
    secs: float
    spans_per_sec: float = float("inf")
    """All connections together; without a limit each sends as soon as it is answered."""


class Result(NamedTuple):
    """What the clients saw."""

    latencies: list[float]
    """Seconds until each request was acknowledged, sorted."""

    refused: int
    """Requests that were answered by anything but 200; they are sent again."""

    secs: float
    load: Load

    @property
    def requests_per_sec(self) -> float:
        """Acknowledged."""
        return len(self.latencies) / self.secs

    @property
    def acknowledged(self) -> int:
        """Spans."""
        return len(self.latencies) * self.load.spans_per_request

    @property
    def spans_per_sec(self) -> float:
        """Acknowledged."""
        return self.acknowledged / self.secs

    def latency_ms(self, share: float) -> float:
        """Return the latency that this share of the requests did not exceed."""
        return self.latencies[int((len(self.latencies) - 1) * share)] * 1e3


class Body:
    """A request whose ids are set anew for each sending."""

    def __init__(self, spans: int, path: str, port: int, headers: Mapping[str, str]) -> None:
        body = agent_spans(spans)
        lines = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
        lines += [f"{name}: {text}" for name, text in headers.items()]
        lines += ["Content-Type: application/x-protobuf", f"Content-Length: {len(body)}"]
        head = "\r\n".join(lines).encode() + b"\r\n\r\n"
        self._spans = spans
        self._message = np.frombuffer(bytearray(head + body), np.uint8)
        whole = self._message.tobytes()
        self._places = {mark: _places(whole, mark) for mark in (TRACE_MARK, SPAN_MARK, CALL_MARK)}

    def numbered(self, first: int) -> memoryview:
        """Return the whole HTTP request, its spans numbered from `first`."""
        numbers = np.arange(first, first + self._spans, dtype=">u8") + 1
        values = {TRACE_MARK: numbers // SPANS_PER_TRACE + 1, SPAN_MARK: numbers}
        for mark, places in self._places.items():
            value = values.get(mark, numbers)
            if mark == CALL_MARK:  # text must stay text
                value = 0x6161616161616161 + (value & 0x0F0F0F0F0F0F0F0F)
            self._message[places] = value.astype(">u8").view(np.uint8).reshape(-1, 8)
        return self._message.data


def _places(whole: bytes, mark: bytes) -> Bytes:
    """Return the index of each byte of each mark: one row per mark."""
    starts, start = [], whole.find(mark)
    while start >= 0:
        starts.append(start)
        start = whole.find(mark, start + len(mark))
    return np.array(starts)[:, None] + np.arange(len(mark))[None, :]


def agent_spans(count: int) -> bytes:
    """Return a request of tool calls as agents make them, about 760 bytes each."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.add(key="service.name").value.string_value = "bench"
    spans = group.scope_spans.add().spans
    now = time.time_ns()
    for number in range(count):
        span = spans.add(trace_id=TRACE_MARK + bytes(8), span_id=SPAN_MARK)
        span.name, span.kind = "execute_tool search_orders", Span.SPAN_KIND_INTERNAL
        span.start_time_unix_nano, span.end_time_unix_nano = now + number, now + number + 1_000_000
        texts = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search_orders",
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": f"call_{CALL_MARK.decode()}",
            "gen_ai.tool.call.arguments": json.dumps({"customer": f"c-{number}", "limit": 10}),
            "gen_ai.tool.call.result": json.dumps([{"order": number, "text": "x" * 300}]),
            "tracegrade.step.kind": "tool_call",
            "tracegrade.tool.effect": "read",
        }
        for key, text in texts.items():
            span.attributes.add(key=key).value.string_value = text
        span.attributes.add(key="tracegrade.step.index").value.int_value = number
        span.attributes.add(key="tracegrade.tool.cost").value.double_value = 0.5
    return request.SerializeToString()


def drive(
    port: int,
    load: Load,
    *,
    path: str = "/v1/traces",
    headers: Mapping[str, str] | None = None,
) -> Result:
    """Send one kind of traffic on all connections, and return what came of it."""
    return asyncio.run(_drive(port, load, path, headers or {}))


async def _drive(port: int, load: Load, path: str, headers: Mapping[str, str]) -> Result:
    bodies = [Body(load.spans_per_request, path, port, headers) for _ in range(CONNECTIONS)]
    base = time.time_ns() & 0x0000_FFFF_FFFF_0000  # ids of one run differ from those of the last
    started = time.perf_counter()
    sending = [
        _send(
            port,
            body,
            load,
            started,
            range(
                base + n * load.spans_per_request, 1 << 62, CONNECTIONS * load.spans_per_request
            ),
        )
        for n, body in enumerate(bodies)
    ]
    found = await asyncio.gather(*sending)
    secs = time.perf_counter() - started
    latencies = sorted(latency for latencies, _ in found for latency in latencies)
    return Result(latencies, sum(refused for _, refused in found), secs, load)


async def _send(
    port: int, body: Body, load: Load, started: float, firsts: range
) -> tuple[list[float], int]:
    """Send on one connection; return how long each acknowledged request took, and the refused."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    pause = CONNECTIONS * load.spans_per_request / load.spans_per_sec
    latencies: list[float] = []
    refused = 0
    for number, first in enumerate(firsts):
        due = started + number * pause
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        sent = time.perf_counter()
        if sent >= started + load.secs:
            break
        message = body.numbered(first)
        while not await _is_accepted(reader, writer, message):
            refused += 1
            await asyncio.sleep(0.2)
        latencies.append(time.perf_counter() - sent)
    writer.close()
    return latencies, refused


async def _is_accepted(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, message: memoryview
) -> bool:
    writer.write(message)
    await writer.drain()
    head = await reader.readuntil(b"\r\n\r\n")
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length or 0))
    status = int(head.split(maxsplit=2)[1])
    if status not in (200, 429, 503):
        msg = f"the server answered {head.decode()}"
        raise SystemExit(msg)
    return status == 200
