"""The run's context reaches threads, executors, tasks, forked processes and others' spans."""

import asyncio
import multiprocessing
import os
import sys
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode

import tracegrade
from tracegrade.processor import ScopeProcessor

from .conftest import Received, Spans


def attributes(spans: list[ReadableSpan], name: str) -> dict[str, object]:
    """Return the attributes of the one span of a name."""
    (found,) = [span for span in spans if span.name == name]
    return dict(found.attributes or {})


def tasks_of(spans: list[ReadableSpan]) -> list[object]:
    """Return the task that each thought belongs to, in order."""
    thoughts = [span for span in spans if span.name == "thought"]
    return [(span.attributes or {}).get("tracegrade.task.id") for span in thoughts]


def test_third_party_span_takes_the_scope_it_starts_in(spans: Spans) -> None:
    """A model call of another instrumentation knows task, trial, sub-goal, decision and order."""
    run = tracegrade.agent_run("support", task="t-1", trial=3, category="c", mode="live")
    with run, run.sub_goal("g"), run.decision("d"):
        trace.get_tracer("openai").start_span("chat").end()

    chat = attributes(spans(), "chat")
    assert chat.pop("tracegrade.step.monotonic_ns")
    assert isinstance(chat.pop("tracegrade.step.index"), int)
    assert chat == {
        "tracegrade.task.id": "t-1",
        "tracegrade.trial": 3,
        "tracegrade.task.category": "c",
        "tracegrade.run.mode": "live",
        "tracegrade.sub_goal.id": "g",
        "tracegrade.decision.id": "d",
    }


def test_flush_goes_on_behind_our_processor() -> None:
    """Some SDKs stop at the first processor that says it was not flushed."""
    assert ScopeProcessor().force_flush()


def test_third_party_span_with_a_context_of_its_own_takes_the_current_scope(spans: Spans) -> None:
    """An instrumentation that starts from an empty context still runs inside the run."""
    with tracegrade.agent_run("support", task="t-1"):
        trace.get_tracer("other").start_span("detached", Context()).end()

    assert attributes(spans(), "detached")["tracegrade.task.id"] == "t-1"


def test_third_party_span_outside_of_a_run_is_left_alone(spans: Spans) -> None:
    """The host's own spans get nothing from us."""
    trace.get_tracer("other").start_span("request").end()

    assert attributes(spans(), "request") == {}


def test_thread_takes_the_context_of_its_start(spans: Spans) -> None:
    """Also a thread class with a `run` of its own."""

    class Worker(threading.Thread):
        def run(self) -> None:
            tracegrade.thought("in a worker")

    with tracegrade.agent_run("support", task="t-1"):
        threads = [threading.Thread(target=tracegrade.thought, args=("x",)), Worker()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert tasks_of(spans()) == ["t-1", "t-1"]


def test_executor_takes_the_context_of_each_submission(spans: Spans) -> None:
    """A worker that was started inside one run serves the next, and what is in none, as theirs."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        for task in ("t-1", "t-2"):
            with tracegrade.agent_run("support", task=task):
                pool.submit(tracegrade.thought, "x").result()
        pool.submit(tracegrade.thought, "outside").result()

    assert tasks_of(spans()) == ["t-1", "t-2", None]


def test_executor_map_and_to_thread_carry_the_context(spans: Spans) -> None:
    """Both are submissions underneath."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, tracegrade.thought, "x")
        await asyncio.to_thread(tracegrade.thought, "x")

    with tracegrade.agent_run("support", task="t-1"):
        with ThreadPoolExecutor() as pool:
            list(pool.map(tracegrade.thought, ["x", "y"]))
        asyncio.run(main())

    assert tasks_of(spans()) == ["t-1"] * 4


def test_concurrent_runs_in_one_loop_keep_apart(spans: Spans) -> None:
    """Two agents that take turns write each to its own task and trace."""

    @tracegrade.tool
    async def step(task: str) -> str:
        await asyncio.sleep(0)
        tracegrade.thought(task)
        return task

    async def agent(task: str) -> None:
        async with tracegrade.agent_run("support", task=task):
            for _ in range(3):
                await step(task)

    async def main() -> None:
        await asyncio.gather(agent("t-1"), agent("t-2"))

    asyncio.run(main())

    thoughts = [dict(span.attributes or {}) for span in spans() if span.name == "thought"]
    assert len(thoughts) == 6
    assert all(it["tracegrade.thought.content"] == it["tracegrade.task.id"] for it in thoughts)
    calls = {(span.context.trace_id, span.attributes["tracegrade.task.id"]) for span in spans()}  # type: ignore[index]
    assert len(calls) == 2


def test_step_index_orders_the_steps_of_all_threads(spans: Spans) -> None:
    """No two steps of a process share an index."""
    with tracegrade.agent_run("support"), ThreadPoolExecutor(8) as pool:
        list(pool.map(tracegrade.thought, range(200)))

    indexes = [(span.attributes or {})["tracegrade.step.index"] for span in spans()]
    assert len(set(indexes)) == 201


def test_context_is_as_before_when_a_call_is_over(spans: Spans) -> None:
    """Runs, calls and blocks leave nothing behind, also when they fail."""
    before = otel_context.get_current()

    @tracegrade.tool
    def bad() -> None:
        raise LookupError

    run = tracegrade.agent_run("a")
    with pytest.raises(LookupError), run, run.sub_goal("g"):
        bad()

    assert otel_context.get_current() == before


def test_forked_child_writes_spans_of_its_own(
    collector: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child process sends what it did, inside its parent's run."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    tracegrade.init(service="forks")
    with tracegrade.agent_run("support", task="t-1"):
        tracegrade.thought("parent")
        child = os.fork()
        if child == 0:
            tracegrade.thought("child")
            tracegrade.flush()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    tracegrade.flush()

    sent = collector.spans()
    assert sorted(span.name for span in sent) == ["invoke_agent support", "thought", "thought"]
    assert len({span.span_id for span in sent}) == 3
    assert len({span.trace_id for span in sent}) == 1


def test_worker_of_multiprocessing_sends_its_spans(
    collector: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a child ends without `atexit`, where the SDK would send what is queued."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    tracegrade.init(service="forks")
    with tracegrade.agent_run("support"):
        worker = multiprocessing.get_context("fork").Process(
            target=tracegrade.thought, args=("child",)
        )
        worker.start()
        worker.join()

    assert [span.name for span in collector.spans()] == ["thought"]


def test_stream_that_is_abandoned_ends_its_run_in_silence(
    spans: Spans, caplog: pytest.LogCaptureFixture
) -> None:
    """The loop closes it in another task: no failure, no traceback of OpenTelemetry's."""

    async def stream() -> AsyncGenerator[int, None]:
        async with tracegrade.agent_run("a"):
            for number in range(3):
                yield number

    async def read_one() -> None:
        async for _ in stream():
            break
        await asyncio.sleep(0.01)

    asyncio.run(read_one())

    assert [(span.name, span.status.status_code) for span in spans()] == [
        ("invoke_agent a", StatusCode.UNSET)
    ]
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("code", "status"), [(0, StatusCode.UNSET), (None, StatusCode.UNSET), (1, StatusCode.ERROR)]
)
def test_exit_of_the_program_fails_a_run_by_its_code(
    spans: Spans, code: int | None, status: StatusCode
) -> None:
    """`sys.exit(0)` in the middle of a run is not a failure."""
    with pytest.raises(SystemExit), tracegrade.agent_run("a"):
        sys.exit(code)

    assert spans()[0].status.status_code is status
