"""tracegrade run: a host that sets its own provider, and has its own start-up module.

spans: 3
speed: slow
says: tracegrade: .*
mode: run
"""

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tg import t

memory, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(memory))
trace.set_tracer_provider(provider)


@t.tool
def work(x):
    return x


with t.agent_run("a"), trace.get_tracer("host").start_as_current_span("inner"):
    print(work(1))
print(
    [
        span.name
        for span in memory.get_finished_spans()
        if span.instrumentation_scope.name == "host"
    ]
)
