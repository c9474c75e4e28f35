"""Reasons of failed runs in words: what runs with the same reason have in common."""

from collections.abc import Mapping
from typing import Any, Final

from tracegrade_scoring.rendering import words

TITLES: Final[Mapping[str, tuple[str, str]]] = {
    "person": ("", "a person says that it failed"),
    "check": ("check failed: {}", "a check failed"),
    "crashed": ("crashed after {} failed", "crashed"),
    "budget": ("stopped at a limit: {}", "stopped at a limit"),
    "not_offered": ("called {}, which was not offered", "called a tool that was not offered"),
    "loop": ("looped on {}", "looped"),
    "bad_arguments": (
        "called {} with arguments that its schema refuses", "gave arguments that a schema refuses",
    ),
    "denied": ("the call of {} was not executed", "a call was not executed"),
    "wrong_tool": ("called another tool where {} was expected", "called the wrong tool"),
    "wrong_argument": ("gave a wrong argument: {}", "gave a wrong argument"),
    "never_called": ("never called {}", "never made an expected call"),
    "not_expected": ("called {}, where no call was expected", "made an unexpected call"),
    "lost_call": ("did not recover from a failure of {}", "did not recover from a failed call"),
    "cascade": ("one call after another failed, first {}", "one call after another failed"),
    "too_early": ("", "acted or answered too early"),
    "drift": ("", "drifted off the plan of its task"),
    "skipped_goal": ("skipped critical sub-goal {}", "skipped a critical sub-goal"),
    "unfinished_goal": (
        "did not complete critical sub-goal {}", "did not complete a critical sub-goal",
    ),
    "unsafe": ("used {} though a better tool was offered", "did not use a better tool"),
    "no_answer": ("the run has no {}", "ended without an answer"),
    "wrong_answer": ("", "did not end as the task asks"),
    "judge": ("", "a judge says that it failed"),
    "unexplained": ("", "no step shows why"),
}  # fmt: skip
"""By kind: the title with an object (`{}`), and the title without one."""


def reason_title(kind: str, what: str | None) -> str:
    """Return a title for the runs with a reason of this kind and object, on one line.

    Args:
        kind: As in `run_reasons`; a kind that is unknown to this version is shown unchanged.
        what: The object; None for none.
    """
    about, alone = TITLES.get(kind, ("", kind.replace("_", " ")))
    return about.replace("{}", words.name(what)) if about and what else words.name(alone)


def of_failed(runs: int, failed: int) -> str:
    """Return how many of the failed runs have a reason as their first."""
    return f"{runs:,} of {failed:,} failed"


def most_first(kind: str, what: str | None, *runs: int) -> tuple[Any, ...]:
    """Return what puts reasons in order: the one of most runs first, an unknown reason last.

    Args:
        kind: As in `run_reasons`.
        what: The object; None for none.
        runs: How many runs have it, of what is looked at first.
    """
    return (kind == "unexplained", *(-each for each in runs), kind, what or "")
