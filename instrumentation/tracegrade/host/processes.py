"""Children of `multiprocessing` send their spans, into the run in which they were started.

A forked child inherits everything. A child that is spawned, or comes from a fork server, knows
only the data that is sent to it. So the pickled process carries the arguments of `init` and the
run's task, trial and span. A task of a process pool belongs to the run in which it was submitted.
"""

import functools
import os
import pickle
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import process as pools
from multiprocessing import context, process, util
from multiprocessing.pool import worker  # type: ignore[attr-defined]  # not in its stub
from typing import Any, Final, NamedTuple

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, TraceState

from tracegrade.agent import AgentRun
from tracegrade.attachment import current, runtime
from tracegrade.guard import guarded, say
from tracegrade.host.pool_workers import send_before_sigterm
from tracegrade.scope import OUTSIDE, SCOPE_KEY, Attribute, Scope, scope_of
from tracegrade.state import Given, state

_PATCHED: Final = "__tracegrade_sends__"

_BEGINNING: Final = """
try:
    from tracegrade.host.spawned_child import begin_child
except ImportError:
    pass
else:
    begin_child(sent)
"""
"""Code that a spawned child runs after it has imported the program; it may lack tracegrade."""


class StartPoint(NamedTuple):
    """The position in a run where a child, or a task of a pool, was started."""

    trace_id: int
    span_id: int
    flags: int
    trace_state: str
    agent: str | None
    attributes: dict[str, Attribute]


class ChildStart(NamedTuple):
    """Data sent to a spawned child."""

    given: Given | None
    """What `init` was given; None if the child is not to call it."""
    redact: bytes
    """The user's rule, pickled; it can be loaded once the program has been imported."""
    start_point: StartPoint | None
    is_worker: bool
    """Whether it is a worker of a `multiprocessing.Pool`."""


def carry_to_children() -> None:
    """Make children of `multiprocessing` send their spans, into the run they were started in."""
    if hasattr(pools._WorkItem, _PATCHED):
        return
    setattr(pools._WorkItem, _PATCHED, True)
    util.register_after_fork(state, lambda _: _at_the_beginning_of_a_child())
    process.BaseProcess.__getstate__ = _with_ours  # type: ignore[assignment, method-assign]
    pools._WorkItem.__init__ = _submitting(pools._WorkItem.__init__)  # type: ignore[method-assign]
    _send_at_the_end_of_celery_workers()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_send_at_the_end_of_celery_workers)


def _with_ours(child: process.BaseProcess) -> object:
    """Return a process's state for pickling, with tracegrade's data if it is a new child's."""
    process_state = object.__getstate__(child)
    if context.get_spawning_popen() is None or type(process_state) is not dict:
        return process_state
    return {**process_state, "_tracegrade": _Beginning(_what_to_send(child))}


class _Beginning:
    """Unpickled, it is run."""

    def __init__(self, sent: ChildStart | None) -> None:
        # As plain data, which a child without tracegrade can read as well.
        self._sent = pickle.dumps(sent)

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (_BEGINNING, {"sent": self._sent})


@guarded
def _what_to_send(child: process.BaseProcess) -> ChildStart | None:
    if state.provider is None:
        return None
    redact = _pickled(state.settings.redact)
    can_begin = state.given.can_be_sent and redact is not None
    if not can_begin:
        say(
            "init: children",
            "a spawned child sends no spans unless it calls tracegrade.init itself: what this "
            "process was given as redact= or exporter= cannot be sent to it",
        )
    is_worker = getattr(child, "_target", None) is worker
    return ChildStart(state.given if can_begin else None, redact or b"", _start_point(), is_worker)


def _pickled(redact: object) -> bytes | None:
    try:
        return pickle.dumps(redact)
    except Exception:  # noqa: BLE001 - any error, from any kind of object
        return None


@guarded
def _start_point() -> StartPoint | None:
    """Return where the current code is in a run; None outside of any."""
    here = current()
    scope = scope_of(here)
    if scope is OUTSIDE:
        return None
    span = trace.get_current_span(here).get_span_context()
    return StartPoint(
        span.trace_id,
        span.span_id,
        int(span.trace_flags),
        span.trace_state.to_header(),
        None if scope.run is None else scope.run.agent,
        dict(scope.attributes),
    )


class _RunOfTheParent(AgentRun):
    """A run whose own span another process writes."""

    def __init__(self, agent: str, attributes: Mapping[str, Attribute], inside: Context) -> None:
        super().__init__(agent, {}, {}, {})
        self._inside = otel_context.set_value(SCOPE_KEY, Scope(self, attributes), inside)


def context_at(start_point: StartPoint | None) -> Context:
    """Return the context for code at a position in a run; empty outside of any run."""
    if start_point is None:
        return Context()
    span = SpanContext(
        start_point.trace_id,
        start_point.span_id,
        is_remote=True,
        trace_flags=TraceFlags(start_point.flags),
        trace_state=TraceState.from_header([start_point.trace_state]),
    )
    inside = trace.set_span_in_context(NonRecordingSpan(span), Context())
    if start_point.agent is None:
        return otel_context.set_value(SCOPE_KEY, Scope(None, start_point.attributes), inside)
    return _RunOfTheParent(start_point.agent, start_point.attributes, inside)._inside


@guarded
def _at_the_beginning_of_a_child() -> None:
    util.Finalize(None, _shut_down, exitpriority=-1)  # after all that may still write spans
    if getattr(process.current_process(), "_target", None) is worker:
        send_before_sigterm()


@guarded
def _shut_down() -> None:
    for sending in state.sending:
        sending.shutdown()


@guarded
def _send_at_the_end_of_celery_workers() -> None:
    """Have Celery's worker processes send their spans: they end by `os._exit` of their own."""
    signals: Any = sys.modules.get("celery.signals")  # imported before any worker is forked
    if signals is not None:
        signals.worker_process_shutdown.connect(_shut_down_celery_worker, weak=False)


def _shut_down_celery_worker(**_: object) -> None:
    _shut_down()


def _submitting(make: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(make)
    def make_with_start_point(item: Any, *args: Any, **kwargs: Any) -> None:
        make(item, *args, **kwargs)
        if state.provider is not None:
            item.fn = _Submitted(item.fn, _start_point())

    return make_with_start_point


class _Submitted:
    """A function for a pool. Unpickling returns it, and puts the worker into the run."""

    def __init__(self, function: Any, start_point: StartPoint | None) -> None:
        self._sent = function, start_point

    def __reduce__(self) -> tuple[Any, ...]:
        return _enter, self._sent


def _enter(function: Any, start_point: StartPoint | None) -> Any:
    """Enter a task's run, which lasts until the next task, and return the function to call."""
    _attach(start_point)
    return function


@guarded
def _attach(start_point: StartPoint | None) -> None:
    runtime().attach(context_at(start_point))
