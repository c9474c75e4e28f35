"""A fresh tracegrade for each test, and a collector on loopback that keeps what it is sent."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.util._once import Once

import tracegrade
from tracegrade import guard
from tracegrade.settings import Settings
from tracegrade.state import State, state


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test finds the process as before `init`; OpenTelemetry allows one provider for all."""
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", Once())
    guard._counts.clear()
    guard._noted.clear()
    yield
    if state.provider is not None:
        state.provider.shutdown()
    trace._TRACER_PROVIDER = None  # a new state's tracer would be this provider's
    vars(state).update(vars(State(settings=Settings())))


Spans = Callable[[], list[ReadableSpan]]


@pytest.fixture
def spans() -> Spans:
    """Start tracegrade, and return a function that returns the ended spans in order of start."""
    exporter = InMemorySpanExporter()
    tracegrade.init(service="shop", release="1.0", exporter=exporter)

    def ended() -> list[ReadableSpan]:
        tracegrade.flush()
        return sorted(exporter.get_finished_spans(), key=_step_index)

    return ended


def _step_index(span: ReadableSpan) -> int:
    index = (span.attributes or {}).get("tracegrade.step.index", -1)
    assert isinstance(index, int)
    return index


HttpAnswer = tuple[int, bytes, dict[str, str]]


class Received:
    """What a collector was sent."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.refused = 0
        self.url = ""
        self.answer: Callable[[ExportTraceServiceRequest], HttpAnswer] = lambda _: (200, b"", {})
        """What it says to a request; it keeps what it answers with an empty 200."""

    def spans(self) -> list[Span]:
        """Return all spans, in the order they came."""
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def resource(self) -> dict[str, str]:
        """Return the text attributes of the first request's resource."""
        attributes = self.requests[0].resource_spans[0].resource.attributes
        return {item.key: item.value.string_value for item in attributes}


@pytest.fixture
def collector() -> Iterator[Received]:
    """A real OTLP/HTTP server on loopback."""
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = ExportTraceServiceRequest.FromString(body)
            status, text, headers = received.answer(request)
            if status == 200 and not text:
                received.requests.append(request)
            else:
                received.refused += 1
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(text))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    received.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield received
    server.shutdown()
    server.server_close()
    thread.join()
