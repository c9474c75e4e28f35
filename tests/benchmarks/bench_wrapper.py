"""What one wrapped tool call costs, beside one bare SDK span that serializes the same content.

Run by hand or by `make bench`. All variants export OTLP over HTTP through a BatchSpanProcessor to
the same sink in another process. A round is CALLS calls and the flush of their spans, so encoding
and sending count; rounds of all variants are interleaved, and the table shows medians of rounds.

A second process points the exporter at a closed port and times the calls alone: nobody waits for a
collector that is down, so a call must not cost more than beside one that is up.
"""

import json
import logging
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

import tracegrade
from tracegrade.sending.otlp import HttpExporter

CALLS = 500  # two spans each: less than the batch processor's queue of 2048
ROUNDS = 60
ORDERS = [{"id": f"o-{n}", "state": "open", "total": 19.5 * n} for n in range(5)]

BARE = "bare span"


class Variant(NamedTuple):
    """One way to call the tool."""

    call: Callable[[str, int], object]
    flush: Callable[[], object]


def search_orders(customer: str, limit: int) -> list[dict[str, object]]:
    """Return the first orders of a customer."""
    return ORDERS[:limit] if customer else []


def variants() -> dict[str, Variant]:
    """Return what is compared; each has its own TracerProvider, all export as OTEL_* says."""
    tracegrade.init(service="bench", release="1")
    return {
        BARE: bare_span(OTLPSpanExporter()),
        "bare span, our encoding": bare_span(HttpExporter()),
        "wrapped call": Variant(tracegrade.tool(effect="read")(search_orders), tracegrade.flush),
    }


def bare_span(exporter: SpanExporter) -> Variant:
    """Return the tool in one span of the bare SDK that serializes arguments and result."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("bare")

    def call(customer: str, limit: int) -> object:
        with tracer.start_as_current_span("execute_tool search_orders") as span:
            arguments = json.dumps({"customer": customer, "limit": limit})
            span.set_attribute("gen_ai.tool.call.arguments", arguments)
            result = search_orders(customer, limit)
            span.set_attribute("gen_ai.tool.call.result", json.dumps(result))
            return result

    return Variant(call, provider.force_flush)


def measure(flush: bool) -> dict[str, float]:
    """Return microseconds per call of each variant, the median of interleaved rounds."""
    compared = variants()
    times: dict[str, list[float]] = {name: [] for name in compared}
    with tracegrade.agent_run("bench", task="t-1", trial=1):
        for _ in range(ROUNDS):
            for name, variant in compared.items():
                times[name].append(time_round(variant, flush))
    return {name: statistics.median(rounds) for name, rounds in times.items()}


def time_round(variant: Variant, flush: bool) -> float:
    """Return microseconds per call of one round; `flush` counts the sending of its spans."""
    start = time.perf_counter()
    for _ in range(CALLS):
        variant.call("c-7", 5)
    if flush:
        variant.flush()
    return (time.perf_counter() - start) / CALLS * 1e6


class Sink(BaseHTTPRequestHandler):
    """Takes everything and answers 200."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Read the request and answer with an empty export response."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def child(mode: str, port: int) -> dict[str, float]:
    """Measure in a fresh process whose exporter points at `port`."""
    env = {
        **os.environ,
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
    }
    command = [sys.executable, __file__, mode]
    result = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return measured


def main() -> None:
    """Print the tables."""
    server = subprocess.Popen(
        [sys.executable, __file__, "sink"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    port = int(server.stdout.readline())
    try:
        exported = child("export", port)
        up = child("calls", port)
    finally:
        server.terminate()
        server.wait()
    down = child("calls", closed_port())
    report(
        "calls and their export, us per call (a wrapped call is to cost at most 2.5x)", exported
    )
    report("calls alone, collector up, us per call", up)
    report("calls alone, collector down, us per call", down)


def report(title: str, measured: dict[str, float]) -> None:
    """Print one table with each variant's ratio to the bare span."""
    print(f"\n{title}")
    for name, cost in measured.items():
        print(f"  {name:<32}{cost:8.1f}  {cost / measured[BARE]:5.2f}x")


def closed_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def serve() -> None:
    """Serve the sink, after printing its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    if mode == "sink":
        serve()
    elif mode:
        logging.disable()  # what the SDK says about the port that is closed on purpose
        print(json.dumps(measure(flush=mode == "export")))
    else:
        main()
