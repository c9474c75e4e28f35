"""Turns the form of a kill's page into the row of a person's score, as an import reads it.

It is the row that `tracegrade harness review` writes.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from tracegrade_explorer.errors import FormRefused
from tracegrade_explorer.labels.rows import MOST_NOTE, common_fields
from tracegrade_harness.review import review_evidence

SCORES: Final = {
    "10": "nothing is left", "7": "records undo it", "5": "between 3 and 7, with a note",
    "3": "records undo a part", "0": "no record undoes it",
}  # fmt: skip
"""By score, its meaning; docs/metrics.md, section 6, has no others."""
WITH_NOTE: Final = "5"


class ScoredKill(NamedTuple):
    """The kill that a person scores."""

    run_id: str
    """The run that it repeats, which its verdicts are on."""
    kill_point: str
    immediate: float | None
    boundary: int | None
    trajectory_id: str | None
    """The killed run."""


class KillScore(NamedTuple):
    """A person's score of a kill."""

    score: str
    """A key of `SCORES`; '' if it was taken back."""
    note: str = ""


def read_score(fields: Mapping[str, str]) -> KillScore:
    """Return the score in the fields of a form.

    Raises:
        FormRefused: It has no score, or a 5 without a note.
    """
    score, note = fields.get("score", ""), fields.get("note", "").strip()[:MOST_NOTE]
    if score not in SCORES:
        msg = f"a kill scores {', '.join(SCORES)}; choose one"
        raise FormRefused(msg)
    if score == WITH_NOTE and not note:
        msg = "a score of 5 needs a note that says why"
        raise FormRefused(msg)
    return KillScore(score, note)


def row_of_score(kill: ScoredKill, name: str, given: KillScore) -> dict[str, Any]:
    """Return the row of a person's score; one without a score takes the last one back."""
    row = {**common_fields(kill.run_id, name), "subject": "rollback"}
    row["kill_point"] = kill.kill_point
    if not given.score:
        return {**row, "withdrawn": True}
    evidence = review_evidence(given.note, kill._asdict())
    return {**row, "value": float(given.score), "evidence": evidence}
