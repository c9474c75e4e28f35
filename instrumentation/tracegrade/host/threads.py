"""Carries the context into threads and executors: contextvars alone stop at a thread's border.

asyncio needs nothing: a task copies its creator's context. A thread takes the context of its
start, a task of an executor that of its submission. Applied once, by `init`; outside of a run it
changes nothing that a program could notice.
"""

import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import MethodType
from typing import Any, ParamSpec, TypeVar

from opentelemetry.context import Context

from tracegrade.attachment import current, runtime
from tracegrade.guard import guarded
from tracegrade.scope import OUTSIDE, scope_of

P = ParamSpec("P")
R = TypeVar("R")

_PATCHED = "__tracegrade_carries_context__"


def carry_context() -> None:
    """Make `threading.Thread` and `ThreadPoolExecutor` carry OpenTelemetry's context."""
    if hasattr(threading.Thread.start, _PATCHED):
        return
    threading.Thread.start = _starting(threading.Thread.start)  # type: ignore[method-assign]
    ThreadPoolExecutor.submit = _submitting(ThreadPoolExecutor.submit)  # type: ignore[method-assign]


def _starting(start: Any) -> Any:
    @functools.wraps(start)
    def start_with_context(thread: Any) -> None:
        _give_context(thread)
        start(thread)

    setattr(start_with_context, _PATCHED, True)
    return start_with_context


@guarded
def _give_context(thread: Any) -> None:
    context = current()
    if scope_of(context) is not OUTSIDE:
        # On the instance, since a subclass may have its own `run`; a method, since others who do
        # the same take its function.
        run = thread.run

        def run_in_context(_: object) -> None:
            _run_in(context, run)

        thread.run = MethodType(run_in_context, thread)


def _submitting(submit: Any) -> Any:
    @functools.wraps(submit)
    def submit_with_context(pool: Any, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        # Outside of a run too: the worker may have been started inside one, and must forget it.
        future: Future[Any]
        future = submit(pool, _run_in, current(), function, *args, **kwargs)
        return future

    return submit_with_context


def _run_in(context: Context, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    here = runtime()
    token = here.attach(context)
    try:
        return function(*args, **kwargs)
    finally:
        with suppress(Exception):  # another vendor's may raise anything
            here.detach(token)
