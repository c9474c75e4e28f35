"""Turns the form of a kill's page into the row of a person's score, as an import reads it.

The facts of the harness stay in the evidence: where the run was killed decides which kills count,
and the score at once is the harness's alone.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from tracegrade_explorer.errors import FormRefused
from tracegrade_explorer.labels.rows import MOST_NOTE, common_fields

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
    facts = {"reason": given.note, "immediate": kill.immediate, "boundary": kill.boundary}
    known = {key: value for key, value in facts.items() if value not in {None, ""}}
    return {**row, "value": float(given.score), "evidence": json.dumps(known)}
