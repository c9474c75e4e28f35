"""Reads what the harness wrote of its kills.

The table is small, a row for each trial, and may be of an earlier version.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from tracegrade_harness.schema import HARNESS_TRIALS
from tracegrade_lake import Lake
from tracegrade_lake.tables import rows_of

POINTS: Final = ("early", "mid", "late")
MOMENTS: Final = ("before", "killed", "recovered")


class KilledObject(NamedTuple):
    """An object that a killed run changed."""

    name: str
    before: str | None
    """present | absent; None if the harness did not record it."""
    killed: str | None
    """added | changed | removed | same, after the kill; None if not recorded."""
    recovered: str
    """added | changed | removed | held | same, after recovery."""
    left: bool
    """It still differs, or is still in use."""
    named_by: str | None
    """The records that name it with a way to undo it."""
    disproved: str | None
    """Why an undo, tried on a copy, did not help."""
    text_before: str | None = None
    """Content, redacted; None if it had none, or was no small text, at that moment."""
    text_killed: str | None = None
    text_recovered: str | None = None
    """None also if it is as before the run."""
    forms: str | None = None
    """Kinds and permissions of a file, where they changed: before, at the kill, recovered."""


class KillRecord(NamedTuple):
    """One kill of one trial."""

    run: str
    task_id: str
    agent_name: str
    release: str | None
    trial: int
    kill_point: str
    trajectory_id: str | None
    """The killed run."""
    baseline_trajectory_id: str | None
    """The undisturbed run that it repeats."""
    status: str
    reason: str | None
    boundary: int | None
    immediate: float | None
    after_recovery: float | None
    leftovers: int | None
    """Objects that still differ after recovery; None if not judged."""
    objects: Sequence[KilledObject]
    """Leftovers first, then objects that were put right."""
    recorded: bool
    """Whether the harness recorded the states at the kill."""
    notes: Sequence[str]
    recovery_log: str | None
    started_at: datetime

    @property
    def key(self) -> tuple[str, str, int, str]:
        """Names shared by the same kill of other releases."""
        return self.task_id, self.agent_name, self.trial, self.kill_point


def read_kills(lake: Lake) -> Sequence[KillRecord]:
    """Return the kills of a lake as it is now, the newest first."""
    rows = [row for row in rows_of(lake, HARNESS_TRIALS).to_pylist() if row["kill_point"]]
    rows.sort(key=lambda row: (row["started_at"], row["run"]), reverse=True)
    return [_kill(row) for row in rows]


def _kill(row: dict[str, Any]) -> KillRecord:
    leftovers = _json(row["leftovers"])
    states = _json(row["states"])
    return KillRecord(
        **{name: row[name] for name in KillRecord._fields if name in row and name not in _READ},
        leftovers=None if leftovers is None else len(leftovers),
        objects=_objects(leftovers or [], states or []),
        recorded=states is not None,
        notes=_json(row["notes"]) or [],
    )


_READ: Final = ("leftovers", "notes")


def _json(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _objects(
    leftovers: Sequence[dict[str, Any]], states: Sequence[dict[str, Any]]
) -> list[KilledObject]:
    by_name = {state["object"]: state for state in states}
    left = [_left(each, by_name.pop(each["object"], {})) for each in leftovers]
    restored = [
        KilledObject(
            state["object"], state["before"], state["killed"], state["recovered"],
            left=False, named_by=None, disproved=None, **_contents(state),
        )
        for state in by_name.values()
    ]  # fmt: skip
    return [*left, *restored]


def _left(leftover: dict[str, Any], state: dict[str, Any]) -> KilledObject:
    return KilledObject(
        leftover["object"],
        state.get("before"),
        state.get("killed"),
        leftover.get("change") or "changed",
        left=True,
        named_by=leftover.get("named_by"),
        disproved=leftover.get("disproved"),
        **_contents(state),
    )


def _contents(state: dict[str, Any]) -> dict[str, str | None]:
    """Return the fields on the content of an object; an earlier version recorded none."""
    texts, forms = state.get("texts") or {}, state.get("forms") or {}
    shown = ", then ".join(forms[moment] for moment in MOMENTS if moment in forms)
    return {**{f"text_{moment}": texts.get(moment) for moment in MOMENTS}, "forms": shown or None}


def kill_named(kills: Sequence[KillRecord], trajectory_id: str, point: str) -> KillRecord | None:
    """Return the newest kill whose own run this is, or that repeats this run; None: no kill.

    Args:
        kills: Of the lake, the newest first.
        trajectory_id: Of the killed run, or of the undisturbed one.
        point: early, mid or late; '' for any.
    """
    named = [kill for kill in kills if not point or kill.kill_point == point]
    own = [kill for kill in named if kill.trajectory_id == trajectory_id]
    return next(iter(own or twins(named, trajectory_id)), None)


def twins(kills: Sequence[KillRecord], baseline: str | None) -> list[KillRecord]:
    """Return the newest kill at each point that repeats an undisturbed run, from early to late."""
    newest = {
        kill.kill_point: kill
        for kill in reversed(kills)
        if baseline is not None and kill.baseline_trajectory_id == baseline
    }
    return [newest[point] for point in POINTS if point in newest]


def worst_first(kills: Sequence[KillRecord]) -> list[KillRecord]:
    """Return kills by how much each left, those that were not judged last."""
    return sorted(
        kills, key=lambda each: (each.after_recovery is None, each.after_recovery or 0.0)
    )
