"""opentelemetry-instrument: the host's own hook and provider, with library and tracegrade spans.

spans: 5
says: tracegrade: the program's TracerProvider keeps the last 128 attributes .*
speed: slow
needs: opentelemetry.distro
env: OTEL_TRACES_EXPORTER=otlp OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=none OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/protobuf
command: opentelemetry-instrument python program
"""

from opentelemetry import trace
from opentelemetry.baggage import get_baggage, set_baggage
from opentelemetry.context import attach, detach
from tg import t

t.init()


@t.tool
def work(x):
    return x, get_baggage("who")


tracer = trace.get_tracer("host")
token = attach(set_baggage("who", "me"))
with tracer.start_as_current_span("request") as span:
    with t.agent_run("a"):
        print(work(1))
    work(2)
    print(trace.get_current_span() is span)
detach(token)
print(
    trace.get_current_span().get_span_context().is_valid,
    type(trace.get_tracer_provider()).__name__,
)
