"""Agents are killed at the gate with all that they started, each in a sandbox of its own.

`SANDBOX_KILLS=500` kills so often (`make chaos`), at moments that are drawn by the same seed.
"""

import os
import random
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.harness.control.agents import soon
from tests.harness.sandbox.programs import DAEMON, HOLD, Alive
from tests.instrumentation.conftest import Received, collector
from tests.waiting import wait_until

from tracegrade_harness.control.gate import Gate
from tracegrade_harness.control.gate_messages import AnswerPending, RunStarted, ToolReturned
from tracegrade_harness.sandbox.choice import SANDBOXES, Sandbox
from tracegrade_harness.sandbox.program import Program

__all__ = ["collector"]

KILLS = int(os.environ.get("SANDBOX_KILLS", "3"))
CALLS = 6
FLUSH_SECS = 60
DEAD_WITHIN_SECS = 1.0
AGENT = (
    HOLD
    + DAEMON
    + """
import tracegrade
tracegrade.init(service="shop", release="1")

@tracegrade.tool(effect="write")
def count(number):
    with open("calls", "a") as file:
        file.write(f"{number}\\n")

daemon()
with tracegrade.agent_run("counter") as run:
    for number in range(CALLS):
        count(number)
    run.answer("done")
"""
)


class SandboxKill:
    """What was seen of one killed agent."""

    def __init__(self) -> None:
        self.trace_id = ""
        self.returned = 0
        self.took_secs = 0.0


def kill_at(sandbox: Sandbox, told: Program, gate: Gate, n: int, alive: Alive) -> SandboxKill:
    """Kill the agent once `n` calls have returned."""
    kill = SandboxKill()
    with sandbox.start(told) as running:
        for event in gate.events(soon(), running):
            match event.message:
                case RunStarted(trace_id=trace_id):
                    kill.trace_id = trace_id
                case ToolReturned(n=returned) if returned == n:
                    wait_until(alive.ready)
                    flushed = gate.flush(event, FLUSH_SECS)
                    assert flushed is not None
                    assert (flushed.complete, flushed.lost) == (True, 0)
                    started = time.monotonic()
                    running.kill()
                    assert not alive.is_anyone()
                    kill.took_secs = time.monotonic() - started
                    kill.returned = returned
                    break
                case ToolReturned() | AnswerPending():
                    gate.go(event)
    return kill


def program(folder: Path, gate: Gate, url: str) -> Program:
    """Return the agent, which sends its spans to a collector."""
    exports = {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": url}

    searched = [Path(each) for each in sys.path if os.path.isabs(each) and Path(each).exists()]
    command = [sys.executable, "-c", f"CALLS = {CALLS}\n{AGENT}"]
    variables = {**os.environ, **gate.variables, **exports}
    output = folder / "stdout", folder / "stderr"
    seen = [Path(gate.address).parent, *searched]
    return Program(command, folder, folder, variables, *output, visible=seen)


@pytest.fixture
def sandbox() -> Sandbox:
    """The safest of this machine."""
    return next(each for each in SANDBOXES if each.why_not() is None)


def test_a_kill_lets_nothing_begin_live_or_be_lost(
    sandbox: Sandbox, tmp_path: Path, temporary_place: Path, collector: Received
) -> None:
    """No call begins after it, no process survives it, and no span from before is missing."""
    draw = random.Random(7)  # noqa: S311 - no secret
    kills = []
    for number in range(KILLS):
        folder, meeting = tmp_path / f"{number}", temporary_place / f"{number}"
        folder.mkdir()
        meeting.mkdir()
        with Alive(folder) as alive, Gate(meeting) as gate:
            told = program(folder, gate, collector.url)
            kills.append(kill_at(sandbox, told, gate, draw.randint(1, CALLS), alive))
        begun = len((folder / "calls").read_text().splitlines())
        assert (begun, kills[-1].returned > 0) == (kills[-1].returned, True)

    spans = Counter((span.trace_id.hex(), span.name) for span in collector.spans())
    for name in ("execute_tool count", "observation"):
        assert [spans[kill.trace_id, name] for kill in kills] == [kill.returned for kill in kills]
    slowest = max(kill.took_secs for kill in kills)
    late = sum(kill.took_secs > DEAD_WITHIN_SECS for kill in kills)
    sys.stdout.write(
        f"{len(kills)} agents killed in '{sandbox.name}': 0 calls begun after, 0 spans lost, "
        f"{late} trees not dead within {DEAD_WITHIN_SECS:g} s, slowest {slowest:.3f} s\n"
    )
