"""A host that sets its own TracerProvider after init, and adds a processor to the one in force.

spans: 3
speed: slow
says: Overriding of current TracerProvider is not allowed
"""

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from tg import t

t.init()
own = TracerProvider()
trace.set_tracer_provider(own)


@t.tool
def work(x):
    return x


with own.get_tracer("host").start_as_current_span("request") as span, t.agent_run("a"):
    print(work(1))
    print(span.is_recording())
own.shutdown()
