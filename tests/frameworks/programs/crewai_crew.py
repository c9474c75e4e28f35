"""The scenarios on CrewAI: a crew of one agent does a task for each question."""

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from crewai import LLM, Agent, Crew, Task
from crewai.events import crewai_event_bus
from crewai.telemetry.tracing import telemetry_session
from crewai.tools import tool
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from scenario import (
    AGENT,
    API_KEY,
    HELPER,
    HELPER_KNOWS,
    INSTRUMENTATION,
    PROMPT,
    TOOLS,
    begin,
    instrument,
    model_url,
    question,
)


def own_tool(function: Callable[..., str]) -> Any:
    """Return a tool that runs once the listeners have handled all earlier events.

    Listeners run in threads of their own, which end with a process that dies.
    """

    @functools.wraps(function)
    def run(**arguments: Any) -> str:
        crewai_event_bus.flush()
        return function(**arguments)

    return tool(run)


def agent(scenario: dict[str, Any], name: str, helpers: list[Any]) -> Agent:
    """Return an agent of the scenario."""
    model = LLM(
        model="openai/fake-model",
        base_url=model_url(scenario, name),
        api_key=API_KEY,
        stream=scenario.get("stream", False),
    )
    return Agent(
        role=name,
        goal=HELPER_KNOWS,
        backstory=PROMPT,
        llm=model,
        tools=[*map(own_tool, TOOLS), *helpers],
        max_iter=scenario.get("max_steps", 6),
    )


def answer_of(asked: Agent, text: str) -> str:
    """Return what a crew of one agent answers."""
    task = Task(description=text, expected_output="An answer.", agent=asked)
    return Crew(agents=[asked], tasks=[task]).kickoff().raw


def with_helper(scenario: dict[str, Any]) -> Agent:
    """Return the agent that is asked, with its helper as a tool if it has one."""
    if HELPER not in scenario["scripts"]:
        return agent(scenario, AGENT, [])
    helper = agent(scenario, HELPER, [])

    @tool(HELPER)
    def ask(task: str) -> str:
        """Ask the helper, who knows the weather."""
        return answer_of(helper, task)

    return agent(scenario, AGENT, [ask])


def own_spans() -> Any:
    """Return CrewAI's own tracing as a context that exports to where all others do."""
    return telemetry_session(
        scenario["name"],
        "travel",
        resource=trace.get_tracer_provider().resource,
        processors=[SimpleSpanProcessor(OTLPSpanExporter())],
    )


scenario = begin()
if INSTRUMENTATION == "openinference":
    instrument("openinference.instrumentation.crewai", "CrewAIInstrumentor")
    instrument("openinference.instrumentation.openai", "OpenAIInstrumentor")
elif INSTRUMENTATION == "events":  # OpenInference's, which listens to CrewAI's events
    instrument(
        "openinference.instrumentation.crewai", "CrewAIInstrumentor", use_event_listener=True
    )
elif INSTRUMENTATION == "traceloop":
    instrument("opentelemetry.instrumentation.crewai", "CrewAIInstrumentor")
    instrument("opentelemetry.instrumentation.openai", "OpenAIInstrumentor")

asked = with_helper(scenario)
for ask in scenario["asks"]:
    with own_spans() if INSTRUMENTATION == "own" else nullcontext():
        print(answer_of(asked, question(ask)))
