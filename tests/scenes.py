"""Tests that yield what is to be built, and go on once that of all tests of their module is.

A fixture `together` builds it and lets each test go on: of `queries/` in `queries/together.py`, of
imports in `collector/importing/together.py`, of scored attempts in `scoring/together.py`.
"""

from collections import defaultdict
from collections.abc import Callable, Generator
from typing import Any, Protocol, TypeVar

Found = TypeVar("Found")

_tests: defaultdict[str, list[Callable[..., Any]]] = defaultdict(list)
"""Those of each module, in their order."""


class GoesOn(Protocol):
    """What a module's tests yielded, built."""

    def go_on(self, name: str) -> None:
        """Let the test of that name go on with its part of it."""


def scenes_of(module: str) -> list[Callable[..., Any]]:
    """Return the functions of a module that are `built_together`, as they were written."""
    return _tests[module]


def finish(scene: Generator[Any, Found, None], found: Found) -> None:
    """Let a test go on to its end with what was made of what it yielded."""
    try:
        scene.send(found)
    except StopIteration:
        return
    msg = "the test yields a second time; what follows would not run"
    raise AssertionError(msg)


def built_together(test: Callable[..., Any]) -> Callable[[GoesOn], None]:
    """Return the test that goes on once what it yields, and what all others yield, is built."""
    _tests[test.__module__].append(test)

    def run(together: GoesOn) -> None:
        together.go_on(test.__name__)

    run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
    return run
