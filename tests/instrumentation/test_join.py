"""`init` in a program that has a TracerProvider of its own, and `init` called twice."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracerProvider

import tracegrade


class Opens(SpanProcessor):
    """A host's processor that counts on a start for each end."""

    def __init__(self) -> None:
        self.open: set[int] = set()

    def on_start(self, span: Span, parent_context: object = None) -> None:
        """Remember the span."""
        self.open.add(span.get_span_context().span_id)

    def on_end(self, span: object) -> None:
        """Forget the span; a KeyError if it never started."""
        assert isinstance(span, object)
        self.open.remove(span.get_span_context().span_id)  # type: ignore[attr-defined]


@pytest.fixture
def host() -> tuple[TracerProvider, InMemorySpanExporter]:
    """A program with its own provider, exporter and resource."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "host"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return provider, exporter


def test_hosts_provider_keeps_its_exporter_and_gets_ours_beside(
    host: tuple[TracerProvider, InMemorySpanExporter],
) -> None:
    """Both exporters see our spans; the provider is still the host's."""
    provider, theirs = host
    opens = Opens()
    provider.add_span_processor(opens)
    ours = InMemorySpanExporter()
    tracegrade.init(exporter=ours)
    with tracegrade.agent_run("a"):
        tracegrade.tool(lambda: 1)()
    tracegrade.flush()

    assert trace.get_tracer_provider() is provider
    names = ["execute_tool <lambda>", "observation", "invoke_agent a"]
    assert [span.name for span in theirs.get_finished_spans()] == names
    assert [span.name for span in ours.get_finished_spans()] == names
    assert opens.open == set()
    assert tracegrade.failures().keys() == {"init: limit"}


def test_processor_that_a_host_adds_to_ours_sees_each_span_start() -> None:
    """Our short cut for observations is taken only where no one else watches."""
    tracegrade.init(exporter=InMemorySpanExporter())
    opens = Opens()
    provider = trace.get_tracer_provider()
    assert isinstance(provider, TracerProvider)
    provider.add_span_processor(opens)
    assert tracegrade.tool(lambda: 1)() == 1

    assert opens.open == set()
    assert tracegrade.failures() == {}


def test_what_a_hosts_provider_decides_is_said_once(
    host: tuple[TracerProvider, InMemorySpanExporter], caplog: pytest.LogCaptureFixture
) -> None:
    """The attribute limit and the resource are the host's; each has a way out."""
    exporter = InMemorySpanExporter()
    for _ in range(2):
        tracegrade.init(service="shop", release="2.0", exporter=exporter)

    limit, resource = sorted(caplog.messages, key=lambda line: "resource" in line)
    assert "the last 128 attributes" in limit
    assert "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=4096" in limit
    assert "without service.name=shop, service.version=2.0" in resource
    assert "OTEL_RESOURCE_ATTRIBUTES" in resource


def test_second_init_adds_to_the_resource_and_nothing_twice() -> None:
    """A program under `tracegrade run` may still say its service and release; not an exporter."""
    exporter = InMemorySpanExporter()
    tracegrade.init(exporter=exporter)
    tracegrade.init(service="shop", release="2.0", exporter=InMemorySpanExporter())
    tracegrade.thought("x")
    tracegrade.flush()

    (span,) = exporter.get_finished_spans()
    assert span.resource.attributes["service.version"] == "2.0"
    assert tracegrade.failures() == {"init: called again": 1}


def test_provider_of_another_kind_stays_the_programs(caplog: pytest.LogCaptureFixture) -> None:
    """Ours goes beside it, once, and it is said that it is not asked for others' spans."""

    class Theirs(NoOpTracerProvider):
        """Of a vendor's own kind."""

    theirs = Theirs()
    trace.set_tracer_provider(theirs)
    exporter = InMemorySpanExporter()
    for _ in range(2):
        tracegrade.init(exporter=exporter)
    tracegrade.thought("x")
    tracegrade.flush()

    assert [span.name for span in exporter.get_finished_spans()] == ["thought"]
    assert trace.get_tracer_provider() is theirs
    (line,) = caplog.messages
    assert "Theirs, which does not accept exporters" in line


def test_threads_that_start_tracegrade_at_once_make_one_provider() -> None:
    """Spans of any of them are sent once."""
    exporter = InMemorySpanExporter()
    with ThreadPoolExecutor(16) as pool:
        for _ in range(64):
            pool.submit(tracegrade.init, exporter=exporter)
    tracegrade.thought("x")
    tracegrade.flush()

    assert len(exporter.get_finished_spans()) == 1
    assert tracegrade.failures() == {}


def test_unknown_exporter_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A mistyped `OTEL_TRACES_EXPORTER` does not stop the program, nor pass in silence."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "carrier-pigeon")
    tracegrade.init()

    assert "no exporter 'carrier-pigeon' is installed" in caplog.text


def test_host_that_writes_no_spans_pays_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """`OTEL_SDK_DISABLED` turns us off with the SDK."""
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    exporter = InMemorySpanExporter()
    tracegrade.init(exporter=exporter)
    with tracegrade.agent_run("a") as run:
        run.thought("x")
        assert tracegrade.tool(lambda: 1)() == 1
    tracegrade.flush()

    assert exporter.get_finished_spans() == ()
    assert tracegrade.failures() == {}
