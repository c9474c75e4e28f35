"""A host with a TracerProvider, a sampler, a processor and an exporter of its own, before init.

spans: 3
speed: slow
says: tracegrade: the program's TracerProvider keeps the last 128 attributes
"""

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased
from tg import t


class Counts(SpanProcessor):
    started = ended = 0

    def on_start(self, span, parent_context=None):
        Counts.started += span.instrumentation_scope.name == "host"

    def on_end(self, span):
        Counts.ended += span.instrumentation_scope.name == "host"


memory = InMemorySpanExporter()
provider = TracerProvider(
    resource=Resource.create({"service.name": "host"}), sampler=ParentBased(ALWAYS_ON)
)
provider.add_span_processor(Counts())
provider.add_span_processor(SimpleSpanProcessor(memory))
trace.set_tracer_provider(provider)
t.init()


@t.tool
def work(x):
    with tracer.start_as_current_span("inside"):
        return x


tracer = trace.get_tracer("host")
with tracer.start_as_current_span("request") as request:
    with t.agent_run("a"):
        print(work(1))
print(Counts.started, Counts.ended)
print(
    [
        span.name
        for span in memory.get_finished_spans()
        if span.instrumentation_scope.name == "host"
    ]
)
print(trace.get_tracer_provider() is provider, provider.resource.attributes["service.name"])
off = TracerProvider(sampler=ALWAYS_OFF)
with off.get_tracer("host").start_as_current_span("unsampled"), t.agent_run("b"):
    print(work(2))
print(trace.get_current_span().get_span_context().is_valid)
