"""Under `tracegrade run`, a program's telemetry is what it would be without, and comes to us."""

import os
import sys
from pathlib import Path

from ..conftest import Received
from ..installed import HERE, RUN, instrumentor, run

ALONE = [*RUN, "--instrumentors", "none"]
HOST = """
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
import tracegrade

early = trace.get_tracer("host")

@early.start_as_current_span("decorated")
def decorated(): pass

@tracegrade.tool
def double(x): return 2 * x

found = trace.get_tracer_provider()
print(isinstance(found, trace.ProxyTracerProvider), hasattr(found, "add_span_processor"))
with early.start_as_current_span("before"): pass
theirs = InMemorySpanExporter()
provider = TracerProvider(resource=Resource({"service.name": "host"}))
provider.add_span_processor(SimpleSpanProcessor(theirs))
trace.set_tracer_provider(provider)
print(trace.get_tracer_provider() is provider)
with tracegrade.agent_run("a", task="t-1"), early.start_as_current_span("inside"):
    double(1)
    decorated()
with trace.get_tracer("late").start_as_current_span("after"): pass
provider.shutdown()
tracegrade.thought("x")
for span in theirs.get_finished_spans():
    print(span.name, dict(span.attributes), span.resource.attributes["service.name"])
print(tracegrade.failures())
"""


def test_provider_that_the_program_sets_gets_its_spans_and_we_all(collector: Received) -> None:
    """Also of tracers that it had before; ours are below its spans, and go to us alone."""
    done = run(*ALONE, "--", sys.executable, "-c", HOST, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)

    assert done.stdout.splitlines() == [
        "True False",
        "True",
        "decorated {} host",
        "inside {} host",
        "after {} host",
        "{}",
    ]
    assert done.stderr == f"tracegrade: spans to {collector.url}; instrumentors: none\n"
    spans = {span.name: span for span in collector.spans()}
    assert sorted(spans) == [
        "after",
        "before",
        "decorated",
        "execute_tool double",
        "inside",
        "invoke_agent a",
        "observation",
        "thought",
    ]
    assert spans["execute_tool double"].parent_span_id == spans["inside"].span_id
    assert spans["inside"].parent_span_id == spans["invoke_agent a"].span_id
    texts = {each.key: each.value.string_value for each in spans["inside"].attributes}
    assert texts["tracegrade.task.id"] == "t-1"


CLOSED = """
from opentelemetry import trace
class Provider(trace.TracerProvider):
    def get_tracer(self, *args, **kwargs): return trace.NoOpTracer()
trace.set_tracer_provider(Provider())
import tracegrade
tracegrade.thought("x")
"""


def test_provider_that_takes_no_processors_is_said(collector: Received) -> None:
    """As a vendor's may be; our own spans come all the same."""
    done = run(
        *ALONE, "--", sys.executable, "-c", CLOSED, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url
    )

    _, line = done.stderr.splitlines()
    assert line.startswith("tracegrade: the program's own spans do not come, since its TracerPro")
    assert [span.name for span in collector.spans()] == ["thought"]


AGAIN = """
from importlib.metadata import entry_points
(entry,) = entry_points(group="opentelemetry_instrumentor", name="acme")
instrumentor = entry.load()()
instrumentor.instrument(tracer_provider="mine")
instrumentor.instrument()
"""
ACME = """
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor
class It(BaseInstrumentor):
    def instrumentation_dependencies(self): return []
    def _instrument(self, **given): print("in", type(given.get("tracer_provider")).__name__)
    def _uninstrument(self, **_): print("out")
"""


def test_instrumentor_that_the_program_loads_itself_is_the_programs(tmp_path: Path) -> None:
    """It no longer reports to tracegrade; the second load is reported at its position."""
    instrumentor(tmp_path, "openinference-instrumentation-acme", "acme")
    (tmp_path / "openinference_instrumentation_acme.py").write_text(ACME)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    quiet = {"OTEL_TRACES_EXPORTER": "none", "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": HERE}
    done = run(*RUN, "--", sys.executable, "-c", AGAIN, PYTHONPATH=path, **quiet)

    assert done.stdout.splitlines() == ["in _OwnProvider", "out", "in str"]
    assert done.stderr.count("already instrumented") == 1
