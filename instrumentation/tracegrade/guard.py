"""Catches tracegrade's own failures: counted, logged once, never seen by the host.

Everything that runs inside a user's program goes through `guarded`. Errors of the *user's* code
never do: the caller of that code re-raises them. An error of a method that tracegrade calls
to record a value is tracegrade's failure, also `SystemExit`, unless a signal raised it.

    @guarded
    def begin(...): ...      # returns None where it failed
"""

import dis
import functools
import logging
import re
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from importlib import import_module
from types import TracebackType
from typing import Final, ParamSpec, TypeVar

from tracegrade.suggestions import did_you_mean
from tracegrade.values.native_inspection import is_kind, named

P = ParamSpec("P")
R = TypeVar("R")

logger = logging.getLogger("tracegrade")
_counts: Counter[str] = Counter()
_noted: deque[tuple[str, int]] = deque()
_adding = threading.Lock()
gauges: Final[list[Callable[[], Iterator[tuple[str, int]]]]] = []
"""Counts of states that are not permanent failures: each returns its states and their numbers."""

_MANY: Final = 1000


def guarded(function: Callable[P, R]) -> Callable[P, R | None]:
    """Return `function` made harmless: it returns None instead of raising its own errors."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R | None:
        try:
            return function(*args, **kwargs)
        except BaseException as error:  # the guard: tracegrade's failure must not reach the host
            if type(error) is RecursionError:  # what would be done about it needs stack as well
                _noted.append((function.__qualname__, 1))
                return None
            if came_by_signal(error):
                raise
            report(function.__qualname__, error)
            return None

    return call


def came_by_signal(error: BaseException) -> bool:
    """Return whether a signal raised this error, so that it belongs to the host.

    The signal is Ctrl-C or one that the host handles. A host's handler that raised the error is
    one of the callers. A `KeyboardInterrupt` at an instruction that does not raise is from Ctrl-C.
    Any other error at such an instruction in tracegrade's or OpenTelemetry's code was put there by
    another thread, as a timeout may be.
    """
    handlers = {code for number in signal.valid_signals() if (code := _handler_code(number))}
    trace: TracebackType | None = error.__traceback__
    if trace is None:
        return False
    while trace is not None:
        code = trace.tb_frame.f_code
        if code in handlers:
            return True
        raised = dis.opname[code.co_code[trace.tb_lasti]] in _RAISES
        file = code.co_filename
        trace = trace.tb_next
    if raised:
        return False
    return isinstance(error, KeyboardInterrupt) or _is_put_here(error, file)


_RAISES: Final = frozenset({"RAISE_VARARGS", "RERAISE"})
_OURS: Final = re.compile(r"^<tracegrade|[/\\](tracegrade|opentelemetry)[/\\]")


def _is_put_here(error: BaseException, file: str) -> bool:
    """Return whether another thread put it here: it has no arguments, and no C module raised it.

    Errors that end a program must also be in this code: `sys.exit` in a host's method looks the
    same.
    """
    if isinstance(error, Exception):
        return not error.args and type(error).__module__ not in {"builtins", "_queue"}
    return not error.args and _OURS.search(file) is not None


_getsignal: Final = import_module("_signal").getsignal
"""The interpreter's own: that of `signal` asks a handler for its `__eq__` and `__repr__`."""


def _handler_code(number: int) -> object:
    """Return the code that the host runs at a signal; None if that is not in Python."""
    handler: object = _getsignal(number)
    while isinstance(handler, functools.partial):  # as asyncio's
        handler = handler.func
    if not hasattr(handler, "__code__"):  # an object is what its call is
        handler = getattr(type(handler), "__call__", None)  # noqa: B004 - for its code
    return getattr(handler, "__code__", None)


def report(part: str, error: BaseException) -> None:
    """Count one failure of tracegrade; log it if it is the first at this place."""
    first = part not in failures()
    note(part)
    if first:
        _log("%s failed; the program continues", part, error)


def say(part: str, message: str, count: int = 1) -> None:
    """Count an event for the user, and log the first at this place."""
    first = part not in failures()
    note(part, count)
    if first:
        _log("%s", message.encode(errors="backslashreplace").decode())  # half characters, too


def _log(message: str, argument: str, error: BaseException | None = None) -> None:
    """Log a line; a handler of the host's that fails costs it."""
    try:
        logger.warning(f"tracegrade: {message}", argument, exc_info=error)
    except Exception as raised:
        if came_by_signal(raised):
            raise


@guarded
def expect(part: str, value: object, known: Collection[str]) -> None:
    """Report a value that is not one of the known ones; None counts as no value.

    Args:
        part: The parameter for the value, such as `effect=`.
        value: The user's value; it is written unchanged.
        known: Values that scores can use.
    """
    if value is None:
        return
    text = str.__str__(value) if is_kind(value, str) else named(type(value))
    if text not in known:
        hint = did_you_mean(text[:100], list(known)) or f"known: {', '.join(known)}"
        say(part, f"{part} '{text}' means nothing to a score; {hint}")


@guarded
def expect_number(part: str, value: object, least: int) -> None:
    """Report a value that is not a number of at least `least`; None counts as no value."""
    if value is None:
        return
    number = _number(value)
    if number is not None and least <= number < float("inf"):
        return
    given = value if type(value) is str else number if number is not None else named(type(value))
    say(part, f"{part} '{given}' means nothing to a score; give a number of at least {least}")


def _number(value: object) -> float | None:
    if is_kind(value, float):
        return float.__float__(value)  # type: ignore[arg-type]
    return int.__int__(value) if is_kind(value, int) else None  # type: ignore[arg-type]


def note(part: str, count: int = 1) -> None:
    """Count without logging; exact, and harmless in any thread, signal handler or finalizer."""
    _noted.append((part, count))
    if len(_noted) > _MANY and _adding.acquire(blocking=False):
        _add_up()


def _add_up() -> None:
    try:
        while _noted:
            part, count = _noted.popleft()
            _counts[part] += count
    finally:
        _adding.release()


def failures() -> dict[str, int]:
    """Return how often each part of tracegrade failed in this process; {} if none did.

    Lost spans are counted individually, as `export: ` and the reason. While a collector does not
    accept spans, the waiting ones are counted, too.
    """
    if _adding.acquire(timeout=1):  # not forever: a signal's handler may ask while its thread adds
        _add_up()
    counts = _counts.copy()
    for gauge in list(gauges):
        for part, count in gauge():
            counts[part] += count
    return dict(counts)


def lost_spans() -> int:
    """Return how many spans are lost or wait, of those that have ended in this process."""
    return sum(count for part, count in failures().items() if part.startswith(LOST))


LOST: Final = "export: "
