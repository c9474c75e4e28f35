"""The span processor that asks the harness after each returned call and before the answer.

It sees all spans of the provider. A boundary is the end of a tool's span. For tracegrade's own
spans it is the end of the observation that follows, so that the killed run has seen the call's
result. While the harness decides, no other thread starts or ends a span, so no call begins.

A run is the outermost agent, workflow or chain of a trace in this process. Agents inside it are
its steps; a second run is reported as a run.
"""

import functools
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, TracerProvider

from tracegrade.gate.channel import Channel, Flush, give_up
from tracegrade.gate.spans import (
    SpanKind,
    call_of,
    end_of,
    kind_of,
    plan_of,
    run_of,
    tool_name,
    usage_of,
)
from tracegrade.guard import lost_spans
from tracegrade.processor import TracegradeProcessor
from tracegrade.state import SCOPE_NAME

M = TypeVar("M", bound=Callable[..., None])

FLUSH_SECS: Final = 2.0
"""Longest time for ended spans to be sent before the process is killed without them."""


def wait_at_gate(provider: TracerProvider, address: str) -> None:
    """Stop at the gate from now on; add it last, after the processors that queue spans.

    A gate that cannot be reached ends the process with exit code 75 and one line on stderr.

    Args:
        provider: The provider whose spans mark the boundaries.
        address: Path of a Unix socket, or `@name` of an abstract one.
    """
    channel = Channel(address, functools.partial(_flush, provider))
    provider.add_span_processor(GateProcessor(channel))


def _flush(provider: TracerProvider) -> Flush:
    done = threading.Event()

    def send() -> None:
        if provider.force_flush(int(FLUSH_SECS * 1000)):
            done.set()

    # The SDK's own wait has no limit: if a collector hangs, it lasts as long as its requests.
    sending = threading.Thread(target=send, daemon=True)
    sending.start()
    sending.join(FLUSH_SECS)
    return Flush(complete=done.is_set(), lost=lost_spans())


def _certain(method: M) -> M:
    """Return `method`, one thread at a time, which ends the process if it fails.

    Everywhere else the program continues without tracegrade. Here it would pass a boundary without
    asking.
    """

    @functools.wraps(method)
    def call(self: "GateProcessor", *args: Any, **kwargs: Any) -> None:
        with self.channel.lock:
            try:
                method(self, *args, **kwargs)
            except Exception as error:  # noqa: BLE001 - any error loses the boundary
                give_up(f"gate failed: {error!r}; report this as a fault of tracegrade")

    return cast("M", call)


class GateProcessor(TracegradeProcessor):
    """Reports the agent's steps to the harness, and waits for it at boundaries."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._outermost: dict[int, Span] = {}  # by trace: the first of its open spans
        self._roots: dict[int, int] = {}  # by trace: the run's span
        self._answered: set[int] = set()  # traces
        self._nested: set[int] = set()  # agents inside a run
        self._counted: set[int] = set()  # spans around a model's whose usage was reported
        self._tools: dict[int, str] = {}  # calls that have not returned
        self._unseen: dict[int, dict[str, object]] = {}  # our calls, not followed by what was seen
        self._calls = 0
        self._ends: dict[SpanKind, Callable[[ReadableSpan], None]] = {
            SpanKind.TOOL: self._end_tool,
            SpanKind.OBSERVATION: self._end_observation,
            SpanKind.PLAN: lambda span: channel.tell({"type": "plan", **plan_of(span)}),
            SpanKind.MODEL: self._end_model,
        }

    @_certain
    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Tell of a run that starts, count a call, or ask before an answer."""
        trace, own = _ids(span)
        self._outermost.setdefault(trace, span)
        kind = kind_of(span)
        if kind is SpanKind.AGENT and trace in self._roots:
            self._nested.add(own)
        elif kind is SpanKind.AGENT:
            self._start_run(span)
        elif kind is SpanKind.TOOL and not self._is_same_call(span):
            self._tools[own] = tool_name(span)
        elif kind is SpanKind.ANSWER and _parent(span) not in self._nested:
            self._ask_answer(trace)

    @_certain
    def _on_ending(self, span: Span) -> None:
        """Ask before a run ends that wrote no answer through tracegrade."""
        trace, own = _ids(span)
        if self._outermost.get(trace) is span and kind_of(span) is SpanKind.AGENT:
            self._find_run(trace)
        if self._roots.get(trace) == own and trace not in self._answered:
            self._ask_answer(trace)

    @_certain
    def on_end(self, span: ReadableSpan) -> None:
        """Ask after a returned call; report plans, tokens and the end of a run."""
        trace, own = _ids(span)
        kind = kind_of(span)
        if kind in self._ends:
            self._ends[kind](span)
        self._nested.discard(own)
        self._counted.discard(own)
        if self._roots.get(trace) == own:
            self._end_run(span)
        if trace in self._outermost and _ids(self._outermost[trace])[1] == own:
            del self._outermost[trace]

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return that nothing is held."""
        return True

    def _start_run(self, span: ReadableSpan) -> None:
        trace, own = _ids(span)
        self._roots[trace] = own
        self.channel.tell({"type": "run", **run_of(span)})

    def _find_run(self, trace: int) -> None:
        """Take the outermost span for the run if no span was marked as one at its start."""
        if trace not in self._roots and trace in self._outermost:
            self._start_run(self._outermost[trace])

    def _end_run(self, span: ReadableSpan) -> None:
        trace, _ = _ids(span)
        if trace not in self._answered:  # an SDK that does not tell that a span is ending
            self._ask_answer(trace)
        del self._roots[trace]
        self._answered.discard(trace)
        self.channel.tell({"type": "run_end", **end_of(span)})

    def _ask_answer(self, trace: int) -> None:
        self._find_run(trace)
        self._answered.add(trace)
        self.channel.ask({"type": "answer", "in_flight": self._in_flight()})

    def _in_flight(self) -> int:
        """Return how many calls have begun and not reached the gate."""
        return len(self._tools) + len(self._unseen)

    def _is_same_call(self, span: ReadableSpan) -> bool:
        """Return whether a framework's span stands around this one of the same call."""
        outer = self._tools.get(_parent(span) or 0)
        return outer is not None and outer == tool_name(span)

    def _end_tool(self, span: ReadableSpan) -> None:
        trace, own = _ids(span)
        self._tools.pop(own, None)
        if self._is_same_call(span):
            return
        scope = span.instrumentation_scope
        if scope is not None and scope.name == SCOPE_NAME:
            self._unseen[own] = call_of(span)
        else:
            self._ask_tool(trace, call_of(span))

    def _end_model(self, span: ReadableSpan) -> None:
        """Report the tokens of an answer, once if a framework's span surrounds a client's."""
        _, own = _ids(span)
        usage = usage_of(span)
        if own not in self._counted:
            self.channel.tell({"type": "usage", **usage})
        parent = _parent(span)
        if parent is not None and (own in self._counted or usage["input_tokens"] is not None):
            self._counted.add(parent)

    def _end_observation(self, span: ReadableSpan) -> None:
        for link in span.links:
            call = self._unseen.pop(link.context.span_id, None)
            if call is not None:
                self._ask_tool(link.context.trace_id, call)

    def _ask_tool(self, trace: int, call: dict[str, object]) -> None:
        self._find_run(trace)
        self._calls += 1
        message = {"type": "tool", "n": self._calls, **call, "in_flight": self._in_flight()}
        self.channel.ask(message)


def _ids(span: ReadableSpan) -> tuple[int, int]:
    """Return the ids of a span's trace and of itself."""
    context = span.get_span_context()
    return (context.trace_id, context.span_id) if context else (0, 0)


def _parent(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent else None
