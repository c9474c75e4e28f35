"""The functions of tracegrade, which do nothing: a host program as it is without it."""

from typing import Any


class Nothing:
    """A run, or a block of one, with all their methods."""

    def __enter__(self) -> "Nothing":
        return self

    def __exit__(self, *_: object) -> None:
        """Let an exception pass."""

    async def __aenter__(self) -> "Nothing":
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let an exception pass."""

    def rollback(self, _name: str, **_: object) -> "Nothing":
        """Return a block."""
        return self

    def sub_goal(self, _: str) -> "Nothing":
        """Return a block."""
        return self

    decision = sub_goal

    def thought(self, _: object) -> None:
        """Do nothing."""

    plan = observe = answer = outcome = thought


def tool(function: Any = None, /, **_: object) -> Any:
    """Return the function itself."""
    return (lambda wrapped: wrapped) if function is None else function


def init(**_: object) -> None:
    """Do nothing."""


def flush(_timeout_secs: float = 10) -> None:
    """Do nothing."""


def failures() -> dict[str, int]:
    """Return that nothing failed."""
    return {}


def agent_run(_agent: str, **_: object) -> Nothing:
    """Return a run."""
    return Nothing()


_run = Nothing()
plan = thought = observe = answer = _run.thought
sub_goal = decision = _run.sub_goal
