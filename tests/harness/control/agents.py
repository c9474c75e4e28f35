"""Agents that a gate stops: programs of a few lines, and how a test runs them."""

import os
import sys
from pathlib import Path

from tests.waiting import PATIENCE_SECS

from tracegrade_harness.control.deadline import Deadline
from tracegrade_harness.control.gate import Event, Gate
from tracegrade_harness.control.gate_messages import AnswerPending, ToolReturned
from tracegrade_harness.sandbox.plain import Plain
from tracegrade_harness.sandbox.processes import Running
from tracegrade_harness.sandbox.program import Program

OURS = """
import tracegrade
tracegrade.init(service="shop", release="1")

@tracegrade.tool(effect="write")
def move(name, to="archive"):
    with open("calls", "a") as file:
        file.write(name + "\\n")
    if name == "b":
        raise ValueError(name)
    return "moved"

with tracegrade.agent_run("mover", task="move-files", user_input="Move them.") as run:
    run.plan([{"id": "1", "tool": "move"}, "the rest"])
    for name in "abc":
        try:
            move(to="archive", name=name)
        except ValueError:
            run.thought("b is lost")
    run.answer("Moved.")
"""

OPENINFERENCE = """
import tracegrade
from opentelemetry import trace
tracegrade.init(service="shop", release="1")
start = trace.get_tracer("openinference.instrumentation.openai_agents").start_as_current_span

def span(name, kind, **attributes):
    return start(name, attributes={"openinference.span.kind": kind, **attributes})

tokens = {"llm.token_count.prompt": 30, "llm.token_count.completion": 4, "llm.model_name": "m-1"}
with span("Agent workflow", "AGENT"):
    with span("Triage", "AGENT"):
        for city in "ab":
            with span("response", "LLM", **tokens):
                pass
            with span("weather", "TOOL", **{"tool.name": "weather"}) as tool:
                tool.set_attribute("input.value", '{"unit": "C",  "city": "%s"}' % city)
"""

LANGCHAIN = """
import tracegrade
from opentelemetry import trace
tracegrade.init(service="shop", release="1")
start = trace.get_tracer("openinference.instrumentation.langchain").start_as_current_span

# This one says what a span is as late as at its end.
with start("LangGraph") as graph:
    with start("search") as tool:
        tool.set_attribute("openinference.span.kind", "TOOL")
    graph.set_attribute("openinference.span.kind", "CHAIN")
"""


def start(gate: Gate, folder: Path, agent: str, *command: str, **environment: str) -> Running:
    """Start an agent, by Python or by a command that takes its file."""
    (folder / "agent.py").write_text(agent)
    words = [*(command or [sys.executable]), "agent.py"]
    # From Python 3.12 on, a fork beside the exporter's thread is warned of.
    quiet = {"PYTHONWARNINGS": "ignore::DeprecationWarning"}
    exports = {"OTEL_TRACES_EXPORTER": "none", **quiet, **environment}
    variables = {**os.environ, **gate.variables, **exports}
    output = folder / "stdout", folder / "stderr"
    return Plain().start(Program(words, folder, folder, variables, *output))


def soon() -> Deadline:
    """Return a deadline that only a failed test reaches."""
    return Deadline(PATIENCE_SECS)


def let_all_go(gate: Gate, running: Running) -> list[Event]:
    """Return all events of an agent that is never stopped."""
    events = []
    for event in gate.events(soon(), running):
        events.append(event)
        if isinstance(event.message, ToolReturned | AnswerPending):
            gate.go(event)
    return events
