"""What every program has in common: one question, one tool, and where the spans go.

A program is run as `python on_<framework>.py INSTRUMENTATION VARIANT…`, with MODEL_SERVER and the
usual OTEL_… variables. Each variant runs in a process of its own, forked once the framework is
imported, which takes far longer than the agent.
"""

import os
import sys

from opentelemetry import trace
from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

QUESTION = "What is the weather in Paris?"
SYSTEM_PROMPT = "You tell the weather."
API_KEY = "not-a-key"  # the fake model asks for none, its clients do
INSTRUMENTATION, *VARIANTS = sys.argv[1:]


def get_weather(city: str) -> str:
    """Tell the weather of a city.

    Args:
        city: Which one.
    """
    if os.environ["VARIANT"] == "toolerror":
        msg = "weather backend down"
        raise ValueError(msg)
    return f"22C in {city}"


def model_url() -> str:
    """Return the address of the model that this variant talks to."""
    tool = "nope_tool" if os.environ["VARIANT"] == "halluc" else "get_weather"
    return f"{os.environ['MODEL_SERVER']}/{tool}/v1"


def export() -> TracerProvider:
    """Go on as each variant, exporting over OTLP; all is sent when the variant ends."""
    _fork()
    resource = Resource.create(
        {"service.name": f"{os.environ['PROGRAM']}_{os.environ['VARIANT']}"}
    )
    tracers, loggers = TracerProvider(resource=resource), LoggerProvider(resource=resource)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    trace.set_tracer_provider(tracers)
    set_logger_provider(loggers)
    return tracers


def _fork() -> None:
    """Return once in a new process for each variant; the first one ends with the last of them."""
    failed = False
    for variant in VARIANTS:
        child = os.fork()
        if child == 0:
            os.environ["VARIANT"] = variant
            return
        failed |= os.waitpid(child, 0)[1] != 0
    sys.exit(failed)
