"""Kills on purpose as a reader sees them: where each was, what it scores, and what it left."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tracegrade_scoring.rendering import words
from tracegrade_scoring.report.model import RollbackKill

OBJECTS_NAMED = 5
"""Objects that a kill left, named in one row."""
KILL_HEADINGS = ("release", "task", "killed", "at once", "after recovery", "evidence", "judge")
"""The headings of rows of kills."""


class KillRow(NamedTuple):
    """One verdict on a kill."""

    release: str
    task: str
    killed: str
    at_once: str
    after_recovery: str
    evidence: str
    judge: str
    trajectory_id: str
    """The run that was not killed."""
    kill_point: str | None

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells below the headings of a table."""
        return self.release, *self[1:7]


def kill_rows(kills: Iterable[RollbackKill], release: str) -> list[KillRow]:
    """Return the rows of a release's kills, in their order."""
    return [
        KillRow(
            release,
            words.name(kill.task_id),
            _killed(kill),
            words.number(kill.at_once),
            words.number(kill.after_recovery),
            _evidence(kill),
            words.name(kill.source),
            kill.trajectory_id,
            kill.kill_point,
        )
        for kill in kills
    ]


def _killed(kill: RollbackKill) -> str:
    after = "" if kill.boundary is None else f" after call {kill.boundary:,}"
    return f"{words.name(kill.kill_point)}{after}"


def _evidence(kill: RollbackKill) -> str:
    """Return the objects left, with the number that cannot be undone, or why this is unknown."""
    reason = words.line(kill.reason) if kill.reason else "no reason was recorded"
    if (kill.label or "").lower() == "not_applicable":
        return f"there is no such moment: {words.reason(kill.reason)}"
    if kill.after_recovery is None:
        return f"not judged: {reason}"
    if kill.left_count or kill.objects:
        return f"left: {_named(kill.objects, kill.left_count)}{_undo(kill)}"
    return "left: nothing" if kill.reason is None else f"reason: {reason}"


def _named(objects: Sequence[str], count: int | None) -> str:
    named = [words.name(each) for each in objects[:OBJECTS_NAMED]]
    more = max(count or 0, len(objects)) - len(named)
    return ", ".join(named) + (f", and {more:,} more" if more > 0 else "")


def _undo(kill: RollbackKill) -> str:
    if not kill.unnamed:
        return "; each is named with a way to undo it"
    if len(kill.unnamed) == len(kill.objects):
        return "; nothing says how to undo that"
    return f"; nothing says how to undo {words.name(kill.unnamed[0])}" + (
        f" and {len(kill.unnamed) - 1:,} more" if len(kill.unnamed) > 1 else ""
    )
