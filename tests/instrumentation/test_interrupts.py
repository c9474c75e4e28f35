"""Wherever a signal interrupts, what was current before is current again, and spans have ended."""

import ctypes
import dis
import gc
import linecache
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

import pytest
from opentelemetry import context as otel_context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.slow import slow_after

import tracegrade
from tracegrade.ends import NOT_STARTED
from tracegrade.guard import LOST
from tracegrade.names import OBSERVATION, THOUGHT_CONTENT, TOOL_CALL_ARGUMENTS
from tracegrade.state import state

from .conftest import Spans


@tracegrade.tool
def plain(number: int) -> int:
    """Return the number."""
    return number


@tracegrade.tool
def failing(number: int) -> int:
    """Fail."""
    raise LookupError(number)


@tracegrade.tool
async def awaited(number: int) -> int:
    """Return the number."""
    return number


@tracegrade.tool
def stream(number: int) -> Generator[int, None, None]:
    """Yield numbers."""
    yield from range(number)


@tracegrade.tool
async def async_stream(number: int) -> AsyncGenerator[int, None]:
    """Yield numbers."""
    for each in range(number):
        yield each


async def read() -> None:
    """Read an async stream."""
    async for _ in async_stream(2):
        pass


def fails() -> None:
    """Call a tool that fails."""
    with suppress(LookupError):
        failing(1)


def run_to_its_end(coroutine: Any) -> None:
    """Run a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration:
        return


def sub_goals() -> None:
    """Enter blocks of a run that is not current."""
    with tracegrade.sub_goal("g"), tracegrade.decision("d"):
        pass


def runs() -> None:
    """Run an agent."""
    with tracegrade.agent_run("a", task="t"):
        pass


DELIVERED = {"RESUME", "CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD"}
"""Behind which instructions Python looks for signals."""


@pytest.fixture(autouse=True)
def no_garbage() -> Iterator[None]:
    """An exception while Python collects garbage reaches no program."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Interrupt:
    """Raises SIGINT at one of the places where a program may hear of it."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.seen = 0
        self.place = ""

    def run(self, program: Callable[[], object]) -> bool:
        """Run a program, and return whether it was interrupted."""
        sys.settrace(self._of_frame)
        try:
            program()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False

    def _of_frame(self, frame: FrameType, event: str, _: object) -> Any:
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        code, before = frame.f_code.co_code, "RESUME"

        def of_instruction(frame: FrameType, event: str, _: object) -> Any:
            nonlocal before
            if event == "opcode":
                now = dis.opname[code[frame.f_lasti]]
                if before in DELIVERED and now != "PUSH_EXC_INFO":  # else the call has raised
                    self._may_come(frame)
                before = now
            return of_instruction

        return of_instruction

    def _may_come(self, frame: FrameType) -> None:
        self.seen += 1
        if self.seen == self.at:
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
            self.place = f"{frame.f_code.co_filename} {frame.f_code.co_name}: {line}"
            signal.raise_signal(signal.SIGINT)


class Open(SpanProcessor):
    """Knows which spans have started and not ended."""

    def __init__(self) -> None:
        self.spans: set[int] = set()

    def on_start(self, span: Span, parent_context: object = None) -> None:
        """Remember the span."""
        self.spans.add(span.get_span_context().span_id)

    def on_end(self, span: ReadableSpan) -> None:
        """Forget the span."""
        context = span.get_span_context()
        assert context is not None
        self.spans.discard(context.span_id)


PROGRAMS: dict[str, Callable[[], object]] = {
    "plain": lambda: plain(1),
    "failing": fails,
    "stream": lambda: list(stream(2)),
    "coroutine": lambda: run_to_its_end(awaited(1)),
    "async_stream": lambda: run_to_its_end(read()),
    "sub_goals": sub_goals,
    "run": runs,
}


EXIT_BEGINS = "__exit__: entered = self._entered[-1:]"
"""Python calls no `__exit__` again that a signal interrupts before its first instruction."""
UNKNOWN_YET = ("start_span(", "start(", "wrapper: try:")
"""Calls that may begin a span that is not recorded: it is never sent, and counted as lost."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.parametrize("step", slow_after(1, [11, 1]))
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_was_current_is_current_again(spans: Spans, name: str, step: int) -> None:
    """At each place, ours or OpenTelemetry's; and what has begun ends."""
    program = PROGRAMS[name]
    program()
    before = otel_context.get_current()
    provider = state.provider
    assert provider is not None
    opened = Open()
    provider.add_span_processor(opened)
    leaks, left_open, at = [], [], 1
    while (interrupt := Interrupt(at)).run(program):
        if otel_context.get_current() is not before:
            leaks.append(interrupt.place)
            otel_context.attach(before)
        if opened.spans:
            left_open.append(interrupt.place)
            opened.spans.clear()
        at += step

    assert at > 20
    assert [place for place in leaks if not place.endswith(EXIT_BEGINS)] == []
    # A processor that is interrupted is one that those behind it hear nothing from.
    ours = {each for each in left_open if "/tracegrade/" in each and "/sending/" not in each}
    assert {each for each in ours if not any(text in each for text in UNKNOWN_YET)} <= {
        each for each in ours if each.endswith(EXIT_BEGINS)
    }


ran: list[int] = []


@tracegrade.tool
def noted(number: int) -> int:
    """Note that it ran."""
    ran.append(number)
    return number


def thinks(number: int) -> None:
    """Write a step."""
    tracegrade.thought(f"{number}")


@pytest.mark.parametrize("program", [noted, thinks])
@pytest.mark.parametrize("beside", [False, True], ids=["", "host's processor"])
def test_a_span_that_has_started_is_sent_once_or_counted(
    spans: Spans, program: Callable[[int], object], beside: bool
) -> None:
    """Interrupted at its end or in the observation's, it goes to the queue all the same."""
    program(0)
    opened = Open()
    if beside:
        assert state.provider is not None
        state.provider.add_span_processor(opened)
    ran.clear()
    at = 1
    while Interrupt(at).run(partial(program, at)):
        at += 1
    found = spans()[2:] if program is noted else spans()[1:]
    ids = [span.context.span_id for span in found if span.context]
    sent = Counter(_number(span) for span in found if span.name != OBSERVATION)
    lost = tracegrade.failures().get(LOST + NOT_STARTED, 0)

    assert at > 20
    assert len(ids) == len(set(ids))
    assert set(sent.values()) == {1}
    assert lost >= len(opened.spans - {*ids})
    if program is noted:
        assert not {*ran} - {*sent}
        assert sum(span.name == OBSERVATION for span in found) == len(sent)


@pytest.mark.parametrize(
    ("sampler", "counts"), [("always_off", False), ("parentbased_always_off", False), ("", True)]
)
def test_a_span_that_is_not_sampled_is_no_loss_where_its_start_is_interrupted(
    monkeypatch: pytest.MonkeyPatch, sampler: str, counts: bool
) -> None:
    """Alone or below a run; nothing would have been sent of it."""
    if sampler:
        monkeypatch.setenv("OTEL_TRACES_SAMPLER", sampler)
    tracegrade.init(service="shop", exporter=InMemorySpanExporter())

    def below_a_run() -> None:
        with tracegrade.agent_run("a"):
            plain(1)

    for program in (partial(plain, 1), below_a_run):
        program()
        at = 1
        while Interrupt(at).run(program):
            at += 3
        assert at > 20

    assert ((LOST + NOT_STARTED) in tracegrade.failures()) == counts


def _number(span: ReadableSpan) -> int:
    attributes = span.attributes or {}
    text = str(attributes.get(TOOL_CALL_ARGUMENTS) or attributes.get(THOUGHT_CONTENT))
    return int(re.findall(r"\d+", text)[0])


class Timeout(Exception):
    """What a program's own handler raises."""


def test_exception_of_a_signals_handler_reaches_the_program(spans: Spans) -> None:
    """A timeout by SIGALRM ends what the program does, also where it interrupts us."""

    def handler(number: int, frame: object) -> None:
        raise Timeout

    usual = signal.signal(signal.SIGINT, handler)  # which is what `Interrupt` raises
    try:
        plain(1)
        at = 1
        while True:
            interrupt = Interrupt(at)
            try:
                if not interrupt.run(lambda: plain(1)) and not interrupt.place:
                    break
            except Timeout:
                at += 3
                continue
            pytest.fail(f"lost at {interrupt.place}")
    finally:
        signal.signal(signal.SIGINT, usual)

    assert at > 20
    assert tracegrade.failures().keys() <= {LOST + NOT_STARTED}


def test_exception_that_another_thread_puts_here_reaches_the_program(spans: Spans) -> None:
    """As libraries for timeouts do; it may come while we write a call down."""
    plain(1)  # starts our thread: `threading` itself may hang where that is interrupted
    ident = ctypes.c_ulong(threading.get_ident())
    arrived = 0
    for _ in range(50):
        stop = threading.Timer(
            0.001, ctypes.pythonapi.PyThreadState_SetAsyncExc, (ident, ctypes.py_object(Timeout))
        )
        try:
            stop.start()
            end = time.monotonic() + 5
            while time.monotonic() < end:
                plain(1)
        except Timeout:
            arrived += 1
        stop.join()

    assert arrived == 50
