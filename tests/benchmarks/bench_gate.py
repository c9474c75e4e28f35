"""What a boundary at the gate costs an agent: processor time and waiting, per wrapped tool call.

Run by hand or by `make bench`. Two fresh processes make the same calls, without an exporter: one
stands at a gate that lets it go at once, one has none. The difference is the gate's. Rounds of
both are interleaved, and the table shows medians of rounds. Processor time is the agent's alone.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import tracegrade
from tracegrade_harness.control.deadline import Deadline
from tracegrade_harness.control.gate import Gate
from tracegrade_harness.control.gate_messages import AnswerPending, ToolReturned

CALLS: Final = 500
ROUNDS: Final = 20
MAX_CPU_US: Final = 150


def agent() -> None:
    """Make a round of calls for each line on stdin, and print what each call took."""
    tracegrade.init(service="bench", release="1")
    call = tracegrade.tool(effect="read")(search_orders)
    with tracegrade.agent_run("bench", task="t-1", trial=1):
        for _ in sys.stdin:
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(CALLS):
                call("c-7", 5)
            took = time.perf_counter() - wall, time.process_time() - cpu
            print(json.dumps([each / CALLS * 1e6 for each in took]), flush=True)


def search_orders(customer: str, limit: int) -> list[dict[str, object]]:
    """Return the first orders of a customer."""
    return [{"id": f"o-{n}", "state": "open", "of": customer} for n in range(limit)]


def start(variables: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start an agent."""
    environment = {**os.environ, "OTEL_TRACES_EXPORTER": "none", **variables}
    return subprocess.Popen(
        [sys.executable, __file__, "agent"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def time_round(process: subprocess.Popen[str]) -> tuple[float, float]:
    """Return microseconds per call of one round: on the clock, and of processor time."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    wall, cpu = json.loads(process.stdout.readline())
    return wall, cpu


def let_all_go(gate: Gate, stop: threading.Event) -> None:
    """Answer at once, until asked to stop."""
    while not stop.is_set():
        for event in gate.events(Deadline(0.2)):
            if isinstance(event.message, ToolReturned | AnswerPending):
                gate.go(event)


def measure() -> dict[str, tuple[float, float]]:
    """Return the medians of both agents."""
    rounds: dict[str, list[tuple[float, float]]] = {"no gate": [], "gate": []}
    stop = threading.Event()
    with tempfile.TemporaryDirectory() as folder, Gate(Path(folder)) as gate:
        answering = threading.Thread(target=let_all_go, args=(gate, stop))
        answering.start()
        with start({}) as free, start(gate.variables) as held:
            for process in (free, held):
                time_round(process)  # to warm up
            for _ in range(ROUNDS):
                rounds["no gate"].append(time_round(free))
                rounds["gate"].append(time_round(held))
            free.communicate()
            held.communicate()
        stop.set()
        answering.join()
    return {name: median(times) for name, times in rounds.items()}


def median(times: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the median of each column."""
    wall, cpu = zip(*times, strict=True)
    return statistics.median(wall), statistics.median(cpu)


def main() -> None:
    """Print the table."""
    measured = measure()
    print("\na wrapped call, us            clock    processor")
    for name, (wall, cpu) in measured.items():
        print(f"  {name:<24}{wall:9.1f}{cpu:13.1f}")
    wall, cpu = (measured["gate"][each] - measured["no gate"][each] for each in (0, 1))
    print(f"  {'a boundary':<24}{wall:9.1f}{cpu:13.1f}  (at most {MAX_CPU_US} of processor time)")


if __name__ == "__main__":
    if sys.argv[1:] == ["agent"]:
        agent()
    else:
        main()
