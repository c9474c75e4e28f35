"""The one place where our own failures end: caught, counted, logged once, never seen by the host.

Everything that runs inside a user's program goes through `guarded`. What the *user's* code raises
never does: it is re-raised by whoever called that code.

    @guarded
    def begin(...): ...      # returns None where it failed
"""

import functools
import logging
from collections import Counter
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

logger = logging.getLogger("tracegrade")
_counts: Counter[str] = Counter()


def guarded(function: Callable[P, R]) -> Callable[P, R | None]:
    """Return `function` made harmless: None instead of any exception of its own."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R | None:
        try:
            return function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - the guard: our failure must not reach the host
            report(function.__qualname__, error)
            return None

    return call


def report(place: str, error: BaseException) -> None:
    """Count one failure of ours; log it if it is the first at this place."""
    _counts[place] += 1
    if _counts[place] == 1:
        logger.warning("tracegrade: %s failed; the program goes on", place, exc_info=error)


def say(place: str, message: str, count: int = 1) -> None:
    """Count what the user should know, and log it if it is the first at this place."""
    first = place not in _counts
    _counts[place] += count
    if first:
        logger.warning("tracegrade: %s", message)


def failures() -> dict[str, int]:
    """Return how often each part of tracegrade failed in this process; {} when all is well."""
    return dict(_counts)
