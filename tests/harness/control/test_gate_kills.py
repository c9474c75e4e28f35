"""Kills at the gate: no further call begins, and no span from before is lost."""

import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from tests.harness.control.agents import OURS, soon, start
from tests.instrumentation.conftest import Received, collector

from tracegrade_harness.control.gate import Event, Gate
from tracegrade_harness.control.gate_messages import (
    AnswerPending,
    Hello,
    ProcessLeft,
    RunStarted,
    ToolReturned,
)

__all__ = ["collector"]

KILLS = int(os.environ.get("GATE_KILLS", "25"))
CALLS = 6
FLUSH_SECS = 60

FORKING_AGENT = """
import os, sys, threading, tracegrade
tracegrade.init(service="shop", release="1")

@tracegrade.tool(effect="write")
def count(number):
    with open(f"calls-{os.getpid()}", "a") as file:
        file.write(f"{number}\\n")

def work():
    for number in range(CALLS):
        count(number)

def agent():
    with tracegrade.agent_run("counter") as run:
        threads = [threading.Thread(target=work) for _ in range(THREADS)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        run.answer("done")
    os._exit(0)

for _ in range(KILLS):  # forked, since a fresh Python takes longer than all its calls
    child = os.fork() or agent()
    os.waitpid(child, 0)
"""


class Kill:
    """What was seen of one killed process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.trace_id = ""
        self.returned = 0
        self.in_flight = 0


def kill_children(gate: Gate, event: Event, kills: dict[int, Kill]) -> None:
    """Kill each forked child at a boundary of its own, in turn from first to answer."""
    match event.message:
        case Hello(pid=pid):
            kills[event.peer] = Kill(pid)
        case RunStarted(trace_id=trace_id):
            kills[event.peer].trace_id = trace_id
        case ToolReturned(n=n, in_flight=in_flight) if n == 1 + event.peer % CALLS:
            kill = kills[event.peer]
            kill.returned, kill.in_flight = n, in_flight
            flushed = gate.flush(event, FLUSH_SECS)
            assert flushed is not None
            assert (flushed.complete, flushed.lost) == (True, 0)
            os.kill(kill.pid, signal.SIGKILL)
        case ToolReturned() | AnswerPending():
            gate.go(event)


def killed(folder: Path, collector: Received, threads: int, kills: int) -> list[Kill]:
    """Return the kills of as many agents."""
    constants = f"KILLS, THREADS, CALLS = {kills}, {threads}, {CALLS}\n"
    exports = {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    seen: dict[int, Kill] = {}
    with (
        Gate(folder) as gate,
        start(gate, folder, constants + FORKING_AGENT, **exports) as running,
    ):
        for event in gate.events(soon(), running):
            kill_children(gate, event, seen)
        assert running.wait(0) == 0
    assert (folder / "stderr").read_text() == ""
    return [kill for kill in seen.values() if kill.returned]


def calls_begun(folder: Path, kill: Kill) -> int:
    """Return how many calls a process has begun."""
    return len((folder / f"calls-{kill.pid}").read_text().splitlines())


def test_no_call_begins_once_the_gate_was_asked(tmp_path: Path, collector: Received) -> None:
    """The tool has run as often as it returned; every span of it and of what was seen came."""
    kills = killed(tmp_path, collector, threads=1, kills=KILLS)

    assert len(kills) == KILLS
    assert [calls_begun(tmp_path, kill) for kill in kills] == [kill.returned for kill in kills]
    spans = Counter((span.trace_id.hex(), span.name) for span in collector.spans())
    for name in ("execute_tool count", "observation"):
        assert [spans[kill.trace_id, name] for kill in kills] == [kill.returned for kill in kills]
    assert {name for _, name in spans} == {"execute_tool count", "observation"}


def test_other_threads_begin_no_call_while_the_gate_is_asked(
    tmp_path: Path, collector: Received
) -> None:
    """No more calls were begun than had returned or were in flight."""
    kills = killed(tmp_path, collector, threads=4, kills=10)

    assert len(kills) == 10
    for kill in kills:
        begun = calls_begun(tmp_path, kill)
        assert kill.returned <= begun <= kill.returned + kill.in_flight, kill.__dict__


def test_a_sandbox_kills_at_the_answer(tmp_path: Path, collector: Received) -> None:
    """All spans have come but the answer and the run itself."""
    exports = {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    with Gate(tmp_path) as gate, start(gate, tmp_path, OURS, **exports) as running:
        for event in gate.events(soon(), running):
            if isinstance(event.message, AnswerPending):
                gate.flush(event, FLUSH_SECS)
                running.kill()
                break
            if isinstance(event.message, ToolReturned):
                gate.go(event)
        code = running.wait()

    assert code == -signal.SIGKILL
    names = Counter(span.name for span in collector.spans())
    expected = {"plan mover": 1, "execute_tool move": 3, "observation": 3, "thought": 1}
    assert names == expected


def test_a_flush_beside_a_collector_that_is_down_says_what_is_lost(tmp_path: Path) -> None:
    """The agent waits on; it can be let go or killed."""
    exports = {
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
    }
    with Gate(tmp_path) as gate, start(gate, tmp_path, OURS, **exports) as running:
        for event in gate.events(soon(), running):
            if isinstance(event.message, AnswerPending):
                flushed = gate.flush(event, FLUSH_SECS)
                gate.go(event)
            elif isinstance(event.message, ToolReturned):
                gate.go(event)
        code = running.wait()

    assert flushed is not None
    assert not flushed.complete or flushed.lost
    assert code == 0


@pytest.mark.parametrize("asked", ["tool", "answer"])
def test_an_agent_whose_gate_is_lost_ends(tmp_path: Path, asked: str) -> None:
    """With exit code 75 and one line, and without another call."""
    with Gate(tmp_path) as gate, start(gate, tmp_path, OURS) as running:
        for event in gate.events(soon(), running):
            if getattr(event.message, "type", "") == asked:
                break
            if isinstance(event.message, ToolReturned):
                gate.go(event)
        gate.close()
        code = running.wait(soon().left_secs())
        begun = (tmp_path / "calls").read_text()

    assert code == 75
    assert begun == ("a\n" if asked == "tool" else "a\nb\nc\n")
    line = f"tracegrade: gate '{gate.address}' is lost; the harness has ended\n"
    assert (tmp_path / "stderr").read_text() == line


def test_a_process_that_ends_has_left(tmp_path: Path) -> None:
    """By itself, so there is no reason."""
    with (
        Gate(tmp_path) as gate,
        start(gate, tmp_path, "import tracegrade; tracegrade.init()") as r,
    ):
        events = list(gate.events(soon(), r))

    assert [type(event.message) for event in events] == [Hello, ProcessLeft]
