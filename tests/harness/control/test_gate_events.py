"""What agents say at the gate: real processes, with our spans and with those of others."""

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.harness.control.agents import LANGCHAIN, OPENINFERENCE, OURS, let_all_go, start

from tracegrade_harness.control.gate import Event, Gate
from tracegrade_harness.control.gate_messages import ProcessLeft

VARYING = ("ask", "pid", "python", "trace_id", "span_id", "start_ns", "attributes")


def told(events: list[Event]) -> list[tuple[str, dict[str, Any]]]:
    """Return (type, fields) of all messages, without what differs from run to run."""
    messages = [event.message for event in events]
    assert messages.pop() == ProcessLeft(None)
    dumped = [message.model_dump() for message in messages if not isinstance(message, ProcessLeft)]
    return [
        (each.pop("type"), {key: value for key, value in each.items() if key not in VARYING})
        for each in dumped
    ]


def run(folder: Path, agent: str, *command: str) -> list[Event]:
    """Return the events of an agent that is never stopped, and ends well."""
    with Gate(folder) as gate, start(gate, folder, agent, *command) as running:
        events = let_all_go(gate, running)
        code = running.wait()
    assert (code, (folder / "stderr").read_text()) == (0, "")
    return events


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    """The events of an agent with our spans."""
    return run(tmp_path_factory.mktemp("ours"), OURS)


def tool(n: int, name: str, arguments: str | None, **more: object) -> tuple[str, dict[str, Any]]:
    """Return the message about a call."""
    call = {"n": n, "name": name, "ok": True, "arguments": arguments, "effect": None}
    return ("tool", {**call, "in_flight": 0, **more})


def root(name: str) -> tuple[str, dict[str, Any]]:
    """Return the message about a run's start."""
    return ("run", {"parent_id": None, "name": name, "attributes_cut": False})


def test_an_agent_with_our_spans_tells_its_plan_its_calls_and_its_answer(
    ours: list[Event],
) -> None:
    """Calls are counted from 1; arguments are canonical; a failed call is a boundary too."""
    assert told(ours) == [
        ("hello", {"protocol": 1}),
        root("invoke_agent mover"),
        ("plan", {"steps": 2, "plan": '[{"id":"1","tool":"move"},{"text":"the rest"}]'}),
        tool(1, "move", '{"name":"a","to":"archive"}', effect="write"),
        tool(2, "move", '{"name":"b","to":"archive"}', effect="write", ok=False),
        tool(3, "move", '{"name":"c","to":"archive"}', effect="write"),
        ("answer", {"in_flight": 0}),
        ("run_end", {"ok": True, "error": None}),
    ]


def test_a_run_tells_enough_to_write_its_root_span(ours: list[Event]) -> None:
    """Task, agent and user input, ids and start time."""
    _, started, *_ = ours

    message = started.message
    assert not isinstance(message, ProcessLeft)
    fields = message.model_dump()
    assert fields["attributes"]["tracegrade.task.id"] == "move-files"
    assert fields["attributes"]["gen_ai.agent.name"] == "mover"
    assert "Move them." in fields["attributes"]["gen_ai.input.messages"]
    assert fields["start_ns"] > 0


def test_spans_of_openinference_give_the_same_boundaries(tmp_path: Path) -> None:
    """An agent in an agent is not a second run; the root's end is the answer."""
    events = run(tmp_path, OPENINFERENCE)

    tokens = {"input_tokens": 30, "output_tokens": 4}
    parts = dict.fromkeys(("cache_read_tokens", "cache_write_tokens", "reasoning_tokens"))
    usage = ("usage", {"model": "m-1", **tokens, **parts, "ok": True})
    assert told(events) == [
        ("hello", {"protocol": 1}),
        root("Agent workflow"),
        usage,
        tool(1, "weather", '{"city":"a","unit":"C"}'),
        usage,
        tool(2, "weather", '{"city":"b","unit":"C"}'),
        ("answer", {"in_flight": 0}),
        ("run_end", {"ok": True, "error": None}),
    ]


def test_a_kind_that_is_written_late_is_enough(tmp_path: Path) -> None:
    """Then the agent announces the run at its first boundary."""
    events = run(tmp_path, LANGCHAIN)

    assert told(events) == [
        ("hello", {"protocol": 1}),
        root("LangGraph"),
        tool(1, "search", None),
        ("answer", {"in_flight": 0}),
        ("run_end", {"ok": True, "error": None}),
    ]


def test_an_agent_without_us_comes_to_the_gate_by_the_command(tmp_path: Path) -> None:
    """`tracegrade run` starts what `init` would."""
    agent = LANGCHAIN.replace("import tracegrade\n", "").replace("tracegrade.init", "dict")
    command = str(Path(sys.executable).with_name("tracegrade"))
    with Gate(tmp_path) as gate:
        words = [command, "run", "--instrumentors", "none", "--", sys.executable]
        with start(gate, tmp_path, agent, *words) as running:
            events = let_all_go(gate, running)

    assert [kind for kind, _ in told(events)] == ["hello", "run", "tool", "answer", "run_end"]


NESTED = """
import tracegrade
from opentelemetry import trace
tracegrade.init(service="shop", release="1")
start = trace.get_tracer("some.framework").start_as_current_span
chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}
used = {"gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 4,
        "gen_ai.usage.cache_read.input_tokens": 20, "gen_ai.usage.reasoning_tokens": 3}
with tracegrade.agent_run("a"):
    with start("framework", attributes={**chat, **used}):
        with start("client", attributes={**chat, **used}):
            pass
    with start("framework without tokens", attributes=chat):
        with start("client", attributes={**chat, **used}):
            pass
"""


def test_an_answer_that_two_spans_tell_of_is_told_once(tmp_path: Path) -> None:
    """A framework's span surrounds its client's; the inner one counts, with its cached tokens."""
    tokens = {"input_tokens": 30, "output_tokens": 4, "cache_read_tokens": 20}
    usage = {**tokens, "cache_write_tokens": None, "reasoning_tokens": 3}

    events = [each for each in told(run(tmp_path, NESTED)) if each[0] == "usage"]

    assert events == [("usage", {"model": "m-1", **usage, "ok": True})] * 2


PARALLEL = """
import threading, tracegrade
tracegrade.init(service="shop", release="1")
both = threading.Barrier(2)
tools = [tracegrade.tool(both.wait, name=name) for name in ("left", "right")]
with tracegrade.agent_run("a"):
    threads = [threading.Thread(target=tool) for tool in tools]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
"""


def test_calls_in_flight_are_counted(tmp_path: Path) -> None:
    """Of two calls at once, the first to return leaves the other one open."""
    events = run(tmp_path, PARALLEL)

    calls = [(each["n"], each["in_flight"]) for kind, each in told(events) if kind == "tool"]
    assert calls == [(1, 1), (2, 0)]
    assert {each["name"] for kind, each in told(events) if kind == "tool"} == {"left", "right"}


FRAMEWORK_AROUND_OURS = """
import tracegrade
from opentelemetry import trace
tracegrade.init(service="shop", release="1")
start = trace.get_tracer("framework").start_as_current_span
search = tracegrade.tool(lambda: 1, name="search")
kind = "openinference.span.kind"
with start("agent", attributes={kind: "AGENT"}):
    with start("search", attributes={kind: "TOOL"}):
        search()
    with start("ask_expert", attributes={kind: "TOOL"}):
        with start("expert", attributes={kind: "AGENT"}):
            search()
"""


def test_two_spans_of_one_call_are_one_boundary(tmp_path: Path) -> None:
    """But the calls of an agent that is a tool are calls of their own."""
    events = run(tmp_path, FRAMEWORK_AROUND_OURS)

    calls = [(each["name"], each["in_flight"]) for kind, each in told(events) if kind == "tool"]
    assert calls == [("search", 0), ("search", 1), ("ask_expert", 0)]


FORKING = """
import os, tracegrade
tracegrade.init(service="shop", release="1")
tool = tracegrade.tool(lambda: 1, name="t")
with tracegrade.agent_run("a"):
    tool()
    child = os.fork()
    if not child:
        tool()
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_a_forked_child_has_a_connection_and_calls_of_its_own(tmp_path: Path) -> None:
    """It is part of its parent's run, so it tells of none."""
    events = run(tmp_path, FORKING)

    second = [event.message for event in events if event.peer == 2]
    kinds = [message.type for message in second if not isinstance(message, ProcessLeft)]
    assert kinds == ["hello", "tool"]


@pytest.mark.parametrize("argument", ["'x' * 3_000_000", "'\\udc80' * 20_000", "'\\x01' * 99_999"])
def test_whatever_a_call_is_given_fits_into_a_message(tmp_path: Path, argument: str) -> None:
    """A long text is replaced by its beginning and its digest."""
    agent = f"""
import tracegrade
tracegrade.init(service="shop", release="1")
with tracegrade.agent_run("a", user_input={argument}) as run:
    run.plan([{argument}])
    tracegrade.tool(lambda x: x, name="t")({argument})
"""
    events = run(tmp_path, agent)

    (call,) = [each for kind, each in told(events) if kind == "tool"]
    assert "sha256:" in call["arguments"]
    assert [kind for kind, _ in told(events)][1:4] == ["run", "plan", "tool"]
