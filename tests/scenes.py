"""Tests that yield what is to be built, and go on once that of all tests of their module is.

    @pytest.mark.parametrize("text", ["a", "b"])
    @built_together
    def test_a_text_stays(text: str) -> Scene:
        lake = yield [...]

A fixture `together` builds it and lets each test go on: of `queries/` in `queries/together.py`, of
imports in `collector/importing/together.py`, of scored attempts in `scoring/together.py`.
"""

import inspect
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, Protocol, TypeVar

import pytest

Found = TypeVar("Found")

_tests: dict[Callable[..., None], Callable[..., Any]] = {}
"""As they were written, by what pytest collects."""

_FOLDER = "folder"
"""The argument that is a folder of the test's own; all others are parameters of the test."""


class GoesOn(Protocol):
    """What a module's tests yielded, built."""

    def go_on(self, name: str) -> None:
        """Let the test of that name go on with its part of it."""


def scenes_of(request: pytest.FixtureRequest) -> dict[str, Callable[..., Any]]:
    """Return the tests of a module that are `built_together` and run, by name.

    A parametrized test is there once for each of its cases, whose parameters it has already.
    """
    return {
        item.name: partial(_tests[item.function], **_case(item))
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and item.module is request.module
        and item.function in _tests
    }


def _case(item: pytest.Function) -> dict[str, Any]:
    """Return the parameters of a test."""
    return dict(item.callspec.params) if hasattr(item, "callspec") else {}


def finish(scene: Generator[Any, Found, None], found: Found) -> None:
    """Let a test go on to its end with what was made of what it yielded."""
    try:
        scene.send(found)
    except StopIteration:
        return
    msg = "the test yields a second time; what follows would not run"
    raise AssertionError(msg)


def built_together(test: Callable[..., Any]) -> Callable[..., None]:
    """Return the test that goes on once what it yields, and what all others yield, is built."""

    def run(together: GoesOn, request: pytest.FixtureRequest, **_: Any) -> None:
        together.go_on(request.node.name)

    run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
    own = [each for name, each in inspect.signature(test).parameters.items() if name != _FOLDER]
    *asked, _ = inspect.signature(run).parameters.values()
    run.__signature__ = inspect.Signature([*asked, *own])  # type: ignore[attr-defined]
    _tests[run] = test
    return run
