"""However a process or a child ends, its spans arrive, in the run in which it was started."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from ..conftest import Received

BEGIN = """
import multiprocessing, os, signal, sys, threading, time
from concurrent.futures import ProcessPoolExecutor
import tracegrade
@tracegrade.tool
def double(x): return 2 * x
def work(x): return double(x)
def rule(key, text): return text.replace("2", "two")
"""


def program(folder: Path, text: str) -> list[str]:
    """Return the command that runs a program."""
    path = folder / "program.py"
    path.write_text(BEGIN + text)
    return [sys.executable, str(path)]


def run(collector: Received, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a program that sends to a collector."""
    environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, **more}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def texts(span: Span) -> dict[str, str]:
    """Return a span's attributes that are texts."""
    return {each.key: each.value.string_value for each in span.attributes}


@pytest.mark.parametrize("end", ["signal.raise_signal({0})", "os.kill(os.getpid(), {0})"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_process_that_sends_itself_a_signal_has_sent_its_spans(
    collector: Received, tmp_path: Path, end: str, number: signal.Signals
) -> None:
    """It ends by that signal all the same, and a signal that it ignores ends nothing."""
    text = f"""
tracegrade.init()
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
signal.raise_signal(signal.SIGUSR1)
tracegrade.thought("x")
{end.format(int(number))}
"""
    done = run(collector, *program(tmp_path, text))

    assert done.returncode == -number
    assert done.stderr == ""
    assert [span.name for span in collector.spans()] == ["thought"]


STARTS = {
    "process": """
        child = context.Process(target=work, args=[1])
        child.start()
        child.join()
        assert child.exitcode == 0""",
    "executor": """
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            assert pool.submit(work, 1).result() == 2""",
    "pool": """
        with context.Pool(1) as pool:
            assert pool.map(work, [1]) == [2]""",
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_child_sends_its_spans_into_the_run_it_was_started_in(
    collector: Received, tmp_path: Path, method: str, start: str
) -> None:
    """It need not call `init`; service and the user's rule for texts are the parent's."""
    text = f"""
if __name__ == "__main__":
    tracegrade.init("shop", redact=rule)
    context = multiprocessing.get_context({method!r})
    with tracegrade.agent_run("support", task="t-1"):{STARTS[start]}
"""
    done = run(collector, *program(tmp_path, text))

    assert done.stderr == ""
    assert collector.resource()["service.name"] == "shop"
    by_name = {span.name: span for span in collector.spans()}
    assert len(collector.spans()) == len(by_name) == 3
    agent = by_name["invoke_agent support"]
    for name in ("execute_tool double", "observation"):
        assert by_name[name].parent_span_id == agent.span_id
        assert texts(by_name[name])["tracegrade.task.id"] == "t-1"
        assert texts(by_name[name])["gen_ai.agent.name"] == "support"
    assert texts(by_name["execute_tool double"])["gen_ai.tool.call.result"] == "two"


def test_task_of_a_pool_belongs_to_the_run_that_submitted_it(
    collector: Received, tmp_path: Path
) -> None:
    """Its worker serves others before and after; outside of a run, none."""
    text = """
if __name__ == "__main__":
    tracegrade.init()
    with ProcessPoolExecutor(1) as pool:
        for task in ("t-1", "t-2"):
            with tracegrade.agent_run("support", task=task):
                pool.submit(work, 1).result()
        pool.submit(work, 1).result()
"""
    assert run(collector, *program(tmp_path, text)).stderr == ""

    calls = [span for span in collector.spans() if span.name == "execute_tool double"]
    assert [texts(span).get("tracegrade.task.id") for span in calls] == ["t-1", "t-2", None]


def test_rule_that_cannot_be_sent_to_a_child_keeps_its_texts_in(
    collector: Received, tmp_path: Path
) -> None:
    """Such a child sends nothing, which is said, rather than texts that no rule has seen."""
    text = """
if __name__ == "__main__":
    tracegrade.init(redact=lambda key, text: "")
    child = multiprocessing.get_context("spawn").Process(target=work, args=[1])
    child.start()
    child.join()
    assert child.exitcode == 0
"""
    done = run(collector, *program(tmp_path, text))

    (line,) = done.stderr.splitlines()
    assert line.startswith("tracegrade: a spawned child sends no spans unless it calls")
    assert collector.spans() == []


def test_program_that_becomes_another_has_sent_its_spans(
    collector: Received, tmp_path: Path
) -> None:
    """By any of `os.exec*`; one that fails changes nothing."""
    text = """
tracegrade.init()
tracegrade.thought("x")
try:
    os.execlp("no-such-program", "x")
except FileNotFoundError:
    tracegrade.thought("y")
os.execlp("true", "true")
"""
    done = run(collector, *program(tmp_path, text))

    assert (done.returncode, done.stderr) == (0, "")
    assert len(collector.spans()) == 2


HANGS = """
tracegrade.init()
for number in range(700):
    tracegrade.thought("x")
"""


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", "tracegrade.flush(1)\n"])
def test_process_ends_in_time_beside_a_collector_that_hangs(tmp_path: Path, more: str) -> None:
    """And says how many spans were lost."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = Received()
        hanging.url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        start = time.monotonic()
        done = run(hanging, *program(tmp_path, HANGS + more))

    assert time.monotonic() - start < 10 + 5  # includes the start of a busy machine
    assert done.returncode == 0
    assert done.stderr == "tracegrade: 700 spans were lost: no answer (700)\n"
