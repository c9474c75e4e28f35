"""Substitutes for tracegrade's public names when it cannot be loaded; they write nothing.

A program must run as without tracegrade, for any installation or setup of OpenTelemetry's
packages.
"""

from collections.abc import Callable
from typing import Any

from tracegrade.guard import say


def say_why(error: Exception) -> None:
    """Report once why tracegrade could not be loaded."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    say("import", f"no spans are written, since OpenTelemetry could not be loaded: {reason}")


class _Block:
    """A `with` or `async with` block that does nothing."""

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, *_: object) -> None:
        """Do nothing."""

    async def __aenter__(self) -> None:
        """Do nothing."""

    async def __aexit__(self, *_: object) -> None:
        """Do nothing."""


def _nothing(*_: object, **__: object) -> None:
    """Do nothing."""


def _block(*_: object, **__: object) -> _Block:
    """Return a block that does nothing."""
    return _Block()


class _Run(_Block):
    """A run that is not recorded."""

    def __init__(self, agent: str = "", **_: object) -> None:
        self.agent = agent

    def __enter__(self) -> Any:
        """Return the run."""
        return self

    async def __aenter__(self) -> Any:
        """Return the run."""
        return self

    plan = thought = observe = answer = outcome = staticmethod(_nothing)
    sub_goal = decision = rollback = staticmethod(_block)


def tool(function: Callable[..., Any] | None = None, /, **_: object) -> Any:
    """Return the callable unchanged."""
    return (lambda wrapped: wrapped) if function is None else function


agent_run = AgentRun = _Run
init = flush = plan = thought = observe = answer = _nothing
sub_goal = decision = _block
