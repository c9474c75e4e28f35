"""Measures the cost of tests of agents: one alone, 200 together, and of loading the plugin.

    python -m tests.benchmarks.testing.measure_agent_tests

CPU seconds of sessions of pytest in processes of their own, which depend less than times on what
else the machine does. An agent's own work is two calls of tools, a few milliseconds.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.citations import ROOT
from tests.testing.agents import TASKS, refund

from tracegrade_testing import RunResult, capture, score

ROUNDS: Final = 3
"""The least of so many counts: what others do only adds to it."""

ASKED: Final[dict[str, Callable[[RunResult], object]]] = {
    "its calls": lambda run: run.calls,
    "tsa": lambda run: run.tsa,
    "tsa and success": lambda run: (run.tsa, run.success),
    "these and issues": lambda run: (run.tsa, run.success, run.issues),
    "everything": lambda run: run.engine,
}
"""What a test asks of a result; only that is scored."""

_HEAD: Final = "from tests.testing.agents import refund\n"
_SCORED: Final = """
from tracegrade_testing import capture, score

def test_{number}():
    with capture() as captured:
        refund()
    assert score(captured, task="refund-order", tasks="tasks.yaml").tsa == 1
"""
_GRADED: Final = """
def test_{number}(graded):
    with graded(task="refund-order", tasks="tasks.yaml", at_least={{"tsa": 1}}):
        refund()
"""
_PLAIN: Final = """
def test_{number}():
    refund()
"""
_IMPORT: Final = (
    "import time, pytest; began = time.perf_counter(); import tracegrade_testing.plugin; "
    "print(time.perf_counter() - began)"
)


def session_secs(template: str, tests: int) -> float:
    """Return the CPU seconds of a session of so many tests, the least of a few rounds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tasks.yaml").write_text(TASKS, "utf-8")
        bodies = (template.format(number=number) for number in range(tests))
        (folder / "test_desk.py").write_text(_HEAD + "".join(bodies), "utf-8")
        return min(_cpu_secs(folder) for _ in range(ROUNDS))


def _cpu_secs(folder: Path) -> float:
    before = os.times()
    plugins = ("-p", "no:cacheprovider", "-p", "no:tracegrade", "-p", "tracegrade_testing.plugin")
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, "test_desk.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = os.times()
    used = after.children_user + after.children_system
    return used - before.children_user - before.children_system


def further_secs(ask: Callable[[RunResult], object]) -> float:
    """Return the CPU seconds of a score after a first one, the least of a few."""
    with tempfile.TemporaryDirectory() as name:
        tasks = Path(name) / "tasks.yaml"
        tasks.write_text(TASKS, "utf-8")
        return min([_score_secs(tasks, ask) for _ in range(2 * ROUNDS)][1:])


def _score_secs(tasks: Path, ask: Callable[[RunResult], object]) -> float:
    began = time.process_time()
    with capture() as captured:
        refund()
    for run in score(captured, task="refund-order", tasks=tasks).runs:
        ask(run)
    return time.process_time() - began


def import_ms() -> float:
    """Return how long pytest loads the plugin, the least of a few rounds."""
    done = (
        subprocess.run([sys.executable, "-c", _IMPORT], check=True, capture_output=True, text=True)
        for _ in range(ROUNDS)
    )
    return min(1000 * float(each.stdout) for each in done)


def main() -> None:
    """Print a line for each figure."""
    plain_1, plain_200 = session_secs(_PLAIN, 1), session_secs(_PLAIN, 200)
    scored_1 = session_secs(_SCORED, 1)
    graded_200 = session_secs(_GRADED, 200)
    print(f"the plugin is loaded in            {import_ms():6.1f} ms")
    print(f"a session with 1 plain test        {plain_1:6.2f} s")
    print(f"the first test with `score` adds   {scored_1 - plain_1:6.2f} s, imports included")
    for asked, ask in ASKED.items():
        print(f"a further one, {asked:<20}{further_secs(ask):6.2f} s")
    print(f"a session with 200 plain tests     {plain_200:6.2f} s")
    print(f"200 tests with `graded` add        {graded_200 - plain_200:6.2f} s")


if __name__ == "__main__":
    main()
