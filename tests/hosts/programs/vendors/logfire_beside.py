"""logfire configured first: its spans, its context, its own exporter in memory.

spans: 5
says: tracegrade: the program's TracerProvider is .*
speed: slow
"""

import logfire
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tg import t

memory = InMemorySpanExporter()
logfire.configure(
    send_to_logfire=False, console=False, additional_span_processors=[SimpleSpanProcessor(memory)]
)
t.init()


@t.tool
def work(x):
    logfire.info("working on {x}", x=x)
    return x


with logfire.span("request"):
    with t.agent_run("a"):
        print(work(1))
work(2)
names = [
    span.name
    for span in memory.get_finished_spans()
    if span.instrumentation_scope.name == "logfire"
]
print(sorted({*names}))
