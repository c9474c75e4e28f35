"""What is seen of an agent while it runs: calls that write, and the time that it has."""

import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.harness.control.agents import soon, start
from tests.harness.parts.environments import opened
from tests.waiting import wait_until

from tracegrade_harness.control.deadline import Deadline
from tracegrade_harness.control.gate import Gate
from tracegrade_harness.parts.state import State
from tracegrade_harness.trial.watch import AgentWatch

WRITES_AT_ONCE = """
from pathlib import Path
import tracegrade
tracegrade.init(service="shop", release="1")

@tracegrade.tool
def note():
    Path("data/note").touch()

@tracegrade.tool
def look():
    pass

with tracegrade.agent_run("writer") as run:
    note()
    look()
    run.answer("Done.")
"""


def test_what_the_first_call_changed_counts_however_late_the_harness_looks(
    tmp_path: Path,
) -> None:
    """The state is compared with the template's, not with what is there when the watch begins."""
    with ExitStack() as stack:
        environment, folder = stack.enter_context(opened(tmp_path))
        before = environment.state()
        gate = stack.enter_context(Gate(tmp_path))
        running = stack.enter_context(start(gate, folder, WRITES_AT_ONCE))
        wait_until((folder / "data/note").exists)
        watch = AgentWatch(gate, running, soon(), lambda *_: None, before, environment.state)
        wrote = [moment.boundary and moment.boundary.wrote for moment in watch.moments()]

    assert wrote == [True, False, None]


@pytest.mark.slow
def test_the_harness_s_own_looking_costs_an_agent_no_time(tmp_path: Path) -> None:
    """It comes to its end although one look takes longer than it may run."""
    with ExitStack() as stack:
        environment, folder = stack.enter_context(opened(tmp_path))
        before = environment.state()
        gate = stack.enter_context(Gate(tmp_path))
        running = stack.enter_context(start(gate, folder, WRITES_AT_ONCE))
        wait_until((folder / "data/note").exists)
        deadline = Deadline(3)
        over = time.monotonic() + 3

        def look() -> State:
            if not watch.boundaries:
                wait_until(lambda: time.monotonic() > over)
            return before

        watch = AgentWatch(gate, running, deadline, lambda *_: None, before, look)
        moments = list(watch.moments())

    assert len(moments) == 3
    assert watch.root_ended
