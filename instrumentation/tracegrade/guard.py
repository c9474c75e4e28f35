"""The one place where our own failures end: caught, counted, logged once, never seen by the host.

Everything that runs inside a user's program goes through `guarded`. What the *user's* code raises
never does: it is re-raised by whoever called that code. But for a method that we call ourselves,
to write a value down: what that raises is our failure, `SystemExit` too, unless a signal did.

    @guarded
    def begin(...): ...      # returns None where it failed
"""

import dis
import functools
import logging
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from types import TracebackType
from typing import Final, ParamSpec, TypeVar

from tracegrade.suggestions import did_you_mean

P = ParamSpec("P")
R = TypeVar("R")

logger = logging.getLogger("tracegrade")
_counts: Counter[str] = Counter()
_noted: deque[tuple[str, int]] = deque()
_adding = threading.Lock()
gauges: Final[list[Callable[[], Iterator[tuple[str, int]]]]] = []
"""What is no failure for good: each tells what is so at this moment, and how often."""

_MANY: Final = 1000


def guarded(function: Callable[P, R]) -> Callable[P, R | None]:
    """Return `function` made harmless: None instead of any exception of its own."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R | None:
        try:
            return function(*args, **kwargs)
        except BaseException as error:  # the guard: our failure must not reach the host
            if came_by_signal(error):
                raise
            report(function.__qualname__, error)
            return None

    return call


def came_by_signal(error: BaseException) -> bool:
    """Return whether a signal raised this, Ctrl-C or one that the host handles: it is the host's.

    A `KeyboardInterrupt` that stands where no code raises came by Ctrl-C; else a handler of the
    host's raised it, which is then one of the callers.
    """
    if isinstance(error, Exception):
        return False
    handlers = {code for number in signal.valid_signals() if (code := _handler_code(number))}
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code in handlers:
            return True
        raised = dis.opname[code.co_code[trace.tb_lasti]] in _RAISES
        trace = trace.tb_next
    return isinstance(error, KeyboardInterrupt) and not raised


_RAISES: Final = frozenset({"RAISE_VARARGS", "RERAISE"})


def _handler_code(number: int) -> object:
    """Return the code of what the host does at a signal; None if that is not in Python."""
    handler = signal.getsignal(number)
    while isinstance(handler, functools.partial):  # as asyncio's
        handler = handler.func
    return getattr(handler, "__code__", None)


def report(place: str, error: BaseException) -> None:
    """Count one failure of ours; log it if it is the first at this place."""
    first = place not in failures()
    note(place)
    if first:
        logger.warning("tracegrade: %s failed; the program goes on", place, exc_info=error)


def say(place: str, message: str, count: int = 1) -> None:
    """Count what the user should know, and log it if it is the first at this place."""
    first = place not in failures()
    note(place, count)
    if first:
        logger.warning("tracegrade: %s", message)


@guarded
def expect(place: str, value: object, known: Collection[str]) -> None:
    """Say it if a value is none of those that are known; None is no value.

    Args:
        place: What takes the value, as `effect=`.
        value: What the user gave; it is written as it is.
        known: What scores can be made of.
    """
    if value is None or value in known:
        return
    hint = did_you_mean(str(value)[:100], list(known)) or f"known: {', '.join(known)}"
    say(place, f"{place} '{value}' means nothing to a score; {hint}")


@guarded
def expect_number(place: str, value: object, least: int) -> None:
    """Say it if a value is no number of at least `least`; None is no value."""
    if value is None or (isinstance(value, (int, float)) and least <= value < float("inf")):
        return
    say(place, f"{place} '{value}' means nothing to a score; give a number of at least {least}")


def note(place: str, count: int = 1) -> None:
    """Count, and say nothing; exact, and harmless in any thread, signal handler or finalizer."""
    _noted.append((place, count))
    if len(_noted) > _MANY and _adding.acquire(blocking=False):
        _add_up()


def _add_up() -> None:
    try:
        while _noted:
            place, count = _noted.popleft()
            _counts[place] += count
    finally:
        _adding.release()


def failures() -> dict[str, int]:
    """Return how often each part of tracegrade failed in this process; {} when all is well.

    Spans that are lost are counted one by one, as `export: ` and the reason; so are those that
    wait for a collector which does not take them, until it does.
    """
    if _adding.acquire(timeout=1):  # not forever: a signal's handler may ask while its thread adds
        _add_up()
    counts = _counts.copy()
    for gauge in list(gauges):
        for place, count in gauge():
            counts[place] += count
    return dict(counts)


def lost_spans() -> int:
    """Return how many spans are lost or wait, of those that have ended in this process."""
    return sum(count for place, count in failures().items() if place.startswith(LOST))


LOST: Final = "export: "
