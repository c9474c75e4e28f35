"""An agent that reports its runs through a stock exporter: `python agent.py ENDPOINT`.

It reads one run a line from its input, `RELEASE OUTCOME`, and prints a line once the spans of the
run are exported. A run that fails has a call that timed out.
"""

import sys
from functools import cache

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Status, StatusCode, Tracer

OF_TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}


@cache
def tracer(release: str) -> Tracer:
    """Return the tracer of a release."""
    provider = TracerProvider(resource=Resource({"service.version": release}))
    exporter = OTLPSpanExporter(f"{sys.argv[1]}/v1/traces")
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("support")


def run(number: int, release: str, outcome: str) -> None:
    """Make one run."""
    of_agent = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "support",
        "tracegrade.task.id": ("refund", "cancel")[number % 2],
        "tracegrade.run.mode": "production",
        "tracegrade.outcome": outcome,
    }
    with (
        tracer(release).start_as_current_span("invoke_agent support", attributes=of_agent),
        tracer(release).start_as_current_span("execute_tool look", attributes=OF_TOOL) as call,
    ):
        if outcome == "failure":
            message = f"order {1_000 + number} timed out after {30 + number} s"
            call.set_attribute("error.type", "TimeoutError")
            call.set_attribute("gen_ai.tool.call.result", message)
            call.set_status(Status(StatusCode.ERROR, message))


def main() -> None:
    """Make the runs that are asked for."""
    for number, line in enumerate(sys.stdin):
        release, outcome = line.split()
        run(number, release, outcome)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
