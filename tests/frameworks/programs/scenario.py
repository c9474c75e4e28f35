"""What the programs of the scenarios have in common: the tools, and what is run.

A program is run as `python PROGRAM.py INSTRUMENTATION SCENARIO…`, with MODEL_SERVER and the usual
OTEL_… variables. Each scenario runs in a process of its own, forked once the framework is
imported. Spans are exported one by one as they end, so that those of a process that is killed
arrive.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from opentelemetry import trace
from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

AGENT = "travel_agent"
HELPER = "weather_helper"
HELPER_KNOWS = "Knows the weather."
PROMPT = "You help travellers."
API_KEY = "not-a-key"  # the fake model asks for none, its clients do
INSTRUMENTATION, *NAMES = sys.argv[1:]
PROGRAM = Path(sys.argv[0]).stem
SCENARIOS: dict[str, dict[str, Any]] = {
    scenario["name"]: scenario
    for scenario in json.loads((Path(__file__).parents[1] / "scenarios.json").read_text("utf-8"))
}
_failed: set[str] = set()


def get_weather(city: str) -> str:
    """Tell the weather of a city.

    Args:
        city: Which one.
    """
    return f"22C in {city}"


def find_train(city: str) -> str:
    """Find the next train to a city.

    Args:
        city: Where to.
    """
    if city == "Lyon" and city not in _failed:
        _failed.add(city)
        msg = "the timetable is down"
        raise ValueError(msg)
    return f"9:40 to {city}"


def read_guide(name: str) -> str:
    """Read a travel guide.

    Args:
        name: Its name.
    """
    pages = 400 if name == "thick" else 0
    return "\n".join(f"Page {page} of the guide." for page in range(1, pages + 1))


def update_plan(plan: list[dict[str, str]]) -> str:
    """Write down the plan.

    Args:
        plan: Its steps, each with a status.
    """
    return f"{len(plan)} steps"


def leave_earth(place: str) -> str:
    """Go where no traveller has been.

    Args:
        place: Where to.
    """
    os._exit(0)  # the process ends at once, even with work under way


TOOLS: list[Callable[..., str]] = [get_weather, find_train, read_guide, update_plan, leave_earth]


def begin(*processors: SpanProcessor) -> dict[str, Any]:
    """Go on with each scenario in a process of its own, and return it; spans are exported.

    Args:
        processors: What spans go through before they are exported.
    """
    scenario = fork()
    resource = Resource.create(described(scenario))
    tracers, loggers = TracerProvider(resource=resource), LoggerProvider(resource=resource)
    for each in (*processors, SimpleSpanProcessor(OTLPSpanExporter())):
        tracers.add_span_processor(each)
    loggers.add_log_record_processor(SimpleLogRecordProcessor(OTLPLogExporter()))
    trace.set_tracer_provider(tracers)
    set_logger_provider(loggers)
    return scenario


def described(scenario: dict[str, Any]) -> dict[str, str]:
    """Return the attributes of the resource, which identify the run."""
    return {"service.name": f"{PROGRAM}_{INSTRUMENTATION}", "scenario": scenario["name"]}


def model_url(scenario: dict[str, Any], agent: str = AGENT, form: str = "calls") -> str:
    """Return the address of the model that an agent of the scenario talks to."""
    run = f"{PROGRAM}_{INSTRUMENTATION}"
    return f"{os.environ['MODEL_SERVER']}/{run}/{scenario['name']}/{agent}/{form}/v1"


def question(asked: str | list[str]) -> str:
    """Return what the user asks as one text, for frameworks that take no other."""
    return asked if isinstance(asked, str) else "\n".join(asked)


def instrument(module: str, name: str, **options: Any) -> None:
    """Turn an instrumentation on, by its module and class."""
    getattr(__import__(module, fromlist=[name]), name)().instrument(**options)


def fork() -> dict[str, Any]:
    """Return once in a new process for each scenario; the first one ends with the last of them."""
    failed = False
    for name in NAMES:
        child = os.fork()
        if child == 0:
            return SCENARIOS[name]
        failed |= os.waitpid(child, 0)[1] != 0
    sys.exit(failed)
