"""ddtrace and its OpenTelemetry context: its requests stay roots; all spans end and land.

spans: 8
speed: slow
env: DD_TRACE_OTEL_ENABLED=true DD_INSTRUMENTATION_TELEMETRY_ENABLED=false DD_TRACE_AGENT_URL=http://127.0.0.1:9 DD_REMOTE_CONFIGURATION_ENABLED=false DD_TRACE_STARTUP_LOGS=false
"""

import logging

logging.disable()

from ddtrace import tracer
from tg import t

t.init()


@t.tool
def work(x):
    return x


@t.tool
def fails(x):
    raise ValueError(x)


with tracer.trace("host.request") as first:
    with t.agent_run("a"):
        print(work(1))
        try:
            fails(2)
        except ValueError as error:
            print(error)
    print(tracer.current_span() is first)
with tracer.trace("host.second") as second:
    print(second.parent_id is None, second.trace_id != first.trace_id)
print(tracer.current_span())
with t.agent_run("b"):
    print(work(3))
print(tracer.current_span())
