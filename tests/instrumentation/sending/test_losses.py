"""No span is lost without a word: those that arrive and those that are counted are all of them."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as service
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

import tracegrade
from tracegrade.guard import lost_spans
from tracegrade.sending import batches
from tracegrade.state import state

from ..conftest import HttpAnswer, Received


def spans_of(request: ExportTraceServiceRequest) -> list[str]:
    """Return the names of a request's spans."""
    return [
        span.name
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def write(count: int) -> None:
    """Write spans, and flush."""
    for number in range(count):
        tracegrade.thought(str(number))
    tracegrade.flush()


@pytest.fixture
def agent(collector: Received, monkeypatch: pytest.MonkeyPatch) -> Received:
    """A program that sends to a collector."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    tracegrade.init(service="losses")
    return collector


@tracegrade.tool
def double(number: int) -> int:
    """Return twice a number."""
    return 2 * number


class Ended(SpanProcessor):
    """Keeps the spans that ended."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        """Keep the span."""
        self.spans.append(span)


def test_a_span_that_was_sent_some_requests_ago_is_not_sent_again(agent: Received) -> None:
    """A handler that interrupts the end of a span may flush more than once in it."""
    ended = Ended()
    assert state.provider is not None
    state.provider.add_span_processor(ended)
    for number in range(3):
        write(1 + number)

    for sending in state.sending:
        sending.make_sure(ended.spans[0])
    tracegrade.flush()

    assert len(agent.requests) == 3
    assert len(agent.spans()) == len(ended.spans) == 6


def test_tight_loop_loses_nothing_beside_a_collector_that_is_up(agent: Received) -> None:
    """Twenty thousand spans in a second or two; the SDK's queue would drop a third of them."""
    with tracegrade.agent_run("a"):
        for number in range(10_000):
            double(number)
    tracegrade.flush(60)

    assert len(agent.spans()) + lost_spans() == 20_001
    assert tracegrade.failures() == {}
    assert len({span.span_id for span in agent.spans()}) == 20_001


@pytest.mark.parametrize("threads", [1, 8])
def test_spans_that_find_no_room_are_counted_one_by_one(
    collector: Received, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    """Of a full queue the oldest go, so that the end of a run, its own span, arrives."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "50")
    tracegrade.init(service="losses")
    is_open = threading.Event()

    def held(_: ExportTraceServiceRequest) -> HttpAnswer:
        is_open.wait(30)
        return 200, b"", {}

    collector.answer = held
    with tracegrade.agent_run("a"), ThreadPoolExecutor(threads) as pool:
        list(pool.map(double, range(1000)))
    is_open.set()
    tracegrade.flush(60)

    lost = tracegrade.failures()["export: queue full"]
    assert lost >= 2001 - 50 - 600  # what was being sent already, and what waited
    assert len(collector.spans()) + lost == 2001
    assert collector.spans()[-1].name == "invoke_agent a"


PARTIAL = ExportTraceServiceResponse(
    partial_success=ExportTracePartialSuccess(rejected_spans=2, error_message="too old")
).SerializeToString()
PARTIAL_JSON = b'{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too old"}}'


@pytest.mark.parametrize(
    ("answer", "reason", "lost", "said"),
    [
        ((200, PARTIAL, {}), "rejected by the collector", 2, "too old"),
        ((200, PARTIAL_JSON, {}), "rejected by the collector", 2, "too old"),
        ((200, b"<html>Log in", {}), "not answered by a collector", 3, "<html>Log in"),
        ((200, b"\n<!doctype html>", {}), "not answered by a collector", 3, "doctype"),
        ((200, b"pong", {"Content-Type": "text/html"}), "not answered by a collector", 3, "pong"),
        ((200, b"\xff\xff", {}), "not answered by a collector", 3, "by"),
        ((301, b"", {"Location": "https://x/"}), "HTTP 301", 3, "https://x/"),
        ((302, b"", {"Location": "/login"}), "HTTP 302", 3, "/login"),
        ((304, b"", {}), "HTTP 304", 3, "redirect"),
        ((307, b"", {"Location": "https://x/"}), "HTTP 307", 3, "https://x/"),
        ((400, b"", {}), "HTTP 400", 3, "Bad Request"),
        ((401, b"", {}), "HTTP 401", 3, "Unauthorized"),
        ((404, b"", {}), "HTTP 404", 3, "Not Found"),
        ((413, b"", {}), "HTTP 413", 3, "413"),
        ((500, b"", {}), "HTTP 500", 3, "Internal"),
        ((503, b"", {"Retry-After": "30"}), "HTTP 503", 3, ""),
        ((429, b"", {"Retry-After": "30"}), "HTTP 429", 3, ""),
    ],
)
def test_answer_that_takes_nothing_is_counted_by_its_reason(
    agent: Received,
    caplog: pytest.LogCaptureFixture,
    answer: HttpAnswer,
    reason: str,
    lost: int,
    said: str,
) -> None:
    """And said once, with what the collector said; the SDK counts redirects and pages as sent."""
    agent.answer = lambda _: answer
    write(3)

    assert tracegrade.failures() == {f"export: {reason}": lost}
    (line,) = caplog.messages
    assert f"the agent continues: {reason}" in line
    assert said in line


@pytest.mark.parametrize("answer", [(200, b"{}", {}), (204, b"", {}), (202, b"", {})])
def test_answer_of_success_is_no_loss(agent: Received, answer: HttpAnswer) -> None:
    """An empty response of OTLP in JSON, and an answer without one."""
    agent.answer = lambda _: answer
    write(3)

    assert tracegrade.failures() == {}


def test_warning_of_a_collector_is_said(agent: Received, caplog: pytest.LogCaptureFixture) -> None:
    """A partial success that rejects nothing, but says something."""
    agent.answer = lambda _: (200, b'{"partialSuccess": {"errorMessage": "slow down"}}', {})
    write(1)

    assert caplog.messages == ["tracegrade: the collector says: slow down"]
    assert tracegrade.failures() == {}


@pytest.mark.parametrize("status", [400, 413])
def test_batch_is_divided_where_it_is_refused(agent: Received, status: int) -> None:
    """A span that no collector reads costs itself; a batch that is too large arrives in parts."""

    def judge(request: ExportTraceServiceRequest) -> HttpAnswer:
        names = spans_of(request)
        refused = "answer" in names if status == 400 else len(names) > 20
        return (status if refused else 200), b"", {}

    agent.answer = judge
    with tracegrade.agent_run("a") as run:
        run.answer("x")
        write(100)
    tracegrade.flush()

    lost = 1 if status == 400 else 0
    assert len(agent.spans()) == 102 - lost
    assert lost_spans() == lost


def test_collector_that_reads_nothing_is_not_asked_for_each_span(agent: Received) -> None:
    """If no part was accepted after a few divisions, all are lost."""
    agent.answer = lambda _: (400, b"", {})
    write(400)

    assert agent.refused < 40
    assert tracegrade.failures() == {"export: HTTP 400": 400}


def test_spans_wait_for_a_collector_that_asks_them_to(
    agent: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While they wait they are counted; once they have arrived they are not."""
    monkeypatch.setattr(batches, "_LONGEST_WAIT_SECS", 0.2)
    agent.answer = lambda _: (503, b"", {"Retry-After": "100"})
    write(3)
    assert tracegrade.failures() == {"export: HTTP 503": 3}

    agent.answer = lambda _: (200, b"", {})
    tracegrade.thought("more")
    until(lambda: len(agent.spans()) == 4)

    assert tracegrade.failures() == {}


class Service(service.TraceServiceServicer):
    """A collector over gRPC that answers by a rule, and keeps what it takes."""

    def __init__(self) -> None:
        self.spans: list[str] = []
        self.asked = 0
        self.refuses: Callable[[list[str]], grpc.StatusCode | None] = lambda _: None
        self.detail = "no"
        self.rejects = 0

    def Export(  # noqa: N802 - the service's name for it
        self, request: ExportTraceServiceRequest, context: grpc.ServicerContext
    ) -> ExportTraceServiceResponse:
        """Answer one request."""
        self.asked += 1
        names = spans_of(request)
        if (code := self.refuses(names)) is not None:
            context.abort(code, self.detail)
        self.spans += names[self.rejects :]
        partial = ExportTracePartialSuccess(rejected_spans=self.rejects)
        return ExportTraceServiceResponse(partial_success=partial if self.rejects else None)


@pytest.fixture
def over_grpc(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A program that sends over gRPC, and only when it flushes, however slow the machine is."""
    answering = Service()
    server = grpc.server(ThreadPoolExecutor(2))
    service.add_TraceServiceServicer_to_server(answering, server)  # type: ignore[no-untyped-call]
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "600000")
    tracegrade.init(service="losses")
    yield answering
    server.stop(None)


@pytest.mark.parametrize(
    ("code", "asked"),
    [
        (grpc.StatusCode.PERMISSION_DENIED, 1),
        (grpc.StatusCode.UNIMPLEMENTED, 1),
        (grpc.StatusCode.INVALID_ARGUMENT, 5),
    ],
)
def test_refusal_over_grpc_is_counted_by_its_code(
    over_grpc: Service, caplog: pytest.LogCaptureFixture, code: grpc.StatusCode, asked: int
) -> None:
    """And said once, as the collector says it."""
    over_grpc.refuses = lambda _: code
    write(3)

    assert tracegrade.failures() == {f"export: gRPC {code.name}": 3}
    assert [line.partition("the agent continues: ")[2] for line in caplog.messages] == [
        f"gRPC {code.name}: no"
    ]
    assert over_grpc.asked == asked


def test_spans_that_are_rejected_over_grpc_are_counted(over_grpc: Service) -> None:
    """By the partial success, which the SDK does not read."""
    over_grpc.rejects = 2
    write(5)

    assert len(over_grpc.spans) == 3
    assert tracegrade.failures() == {"export: rejected by the collector": 2}


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "Received message larger than max (5 vs. 4)"),
        (grpc.StatusCode.INVALID_ARGUMENT, "no"),
    ],
)
def test_batch_is_divided_where_it_is_refused_over_grpc(
    over_grpc: Service, code: grpc.StatusCode, detail: str
) -> None:
    """Also where the SDK would send the whole again and again, as for one that is too large."""
    over_grpc.refuses = lambda names: code if len(names) > 20 else None
    over_grpc.detail = detail
    start = time.monotonic()
    write(100)

    assert len(over_grpc.spans) == 100
    assert tracegrade.failures() == {}
    assert time.monotonic() - start < 5


def until(is_so: Callable[[], bool]) -> None:
    """Wait for something, ten seconds at most."""
    end = time.monotonic() + 10
    while not is_so() and time.monotonic() < end:
        time.sleep(0.02)
    assert is_so()


class Refusing(SpanExporter):
    """An exporter of a user's own."""

    def export(self, spans: object) -> SpanExportResult:
        """Take nothing."""
        return SpanExportResult.FAILURE


def test_spans_that_an_exporter_refuses_or_that_come_too_late_are_counted() -> None:
    """Each is counted, also one that ends after the program has shut all down."""
    tracegrade.init(exporter=Refusing())
    write(3)
    assert state.provider is not None
    state.provider.shutdown()
    tracegrade.thought("late")

    assert tracegrade.failures() == {
        "export: the exporter failed": 3,
        "export: ended after the end": 1,
    }
