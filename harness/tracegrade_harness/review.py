"""Human reviews of kills override the rules, and only a human can give a 5."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.importing.verdict_rows import add_verdicts
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.schema import HARNESS_TRIALS
from tracegrade_harness.trial.points import POINTS
from tracegrade_lake import Lake
from tracegrade_lake.tables import rows_of

VALUES: Final = (0, 3, 5, 7, 10)
MAX_LISTED: Final = 20


class Reviewable(NamedTuple):
    """A kill that left something behind."""

    trajectory_id: str
    """Id of the undisturbed run, which carries the verdicts."""
    kill_point: str
    task_id: str
    score: float
    """Score by the rules, after recovery."""
    leftovers: list[str]


@dataclass(frozen=True)
class Review:
    """A human's review of one kill."""

    trajectory_id: str
    kill_point: str
    value: int
    reason: str
    by: str

    @classmethod
    def of(
        cls,
        kill: tuple[str, str | None],
        rating: tuple[int | None, str | None],
        by: str | None,
    ) -> Self:
        """Return a review from a command's arguments.

        Raises:
            SuiteUnusable: An argument is missing or invalid.
        """
        trajectory_id, kill_point = kill
        value, reason = rating
        if kill_point not in POINTS:
            msg = f"no kill '{kill_point}'; give one of {', '.join(POINTS)} after the trajectory"
            raise SuiteUnusable(msg)
        if value not in VALUES:
            msg = f"value is {value}; give --value with one of {', '.join(map(str, VALUES))}"
            raise SuiteUnusable(msg)
        if not (reason and reason.strip()):
            msg = "no reason is given; write one for later readers with --reason"
            raise SuiteUnusable(msg)
        if not (by and by.strip()):
            msg = "no reviewer is named; give your name with --by"
            raise SuiteUnusable(msg)
        return cls(trajectory_id, kill_point, value, reason, by.strip())


def wanting_review(lake: Lake) -> list[Reviewable]:
    """Return the newest kills of each run with leftovers, lowest scores first."""
    found = {
        (row["baseline_trajectory_id"], row["kill_point"]): row
        for row in _kills(lake)
        if row["after_recovery"] is not None and row["after_recovery"] < max(VALUES)
    }
    kills = [_reviewable(row) for row in found.values()]
    return sorted(kills, key=lambda kill: (kill.score, kill.trajectory_id, kill.kill_point))


def store(lake: Lake, review: Review) -> None:
    """Store a review in the lake, instead of the same human's earlier one.

    Raises:
        SuiteUnusable: The harness has no such kill in this lake.
    """
    key = (review.trajectory_id, review.kill_point)
    rows = [row for row in _kills(lake) if _key(row) == key]
    if not rows:
        msg = (
            f"no kill '{review.kill_point}' of trajectory '{review.trajectory_id}' in this lake; "
            "`tracegrade sql --saved kills` shows those there are"
        )
        raise SuiteUnusable(msg)
    kill = rows[-1]
    verdict = {
        "trajectory_id": review.trajectory_id,
        "subject": "rollback",
        "sub_goal": None,
        "kill_point": review.kill_point,
        "value": float(review.value),
        "label": None,
        "source": f"human:{review.by}",
        "evidence": review_evidence(review.reason, kill),
    }
    add_verdicts(lake, [verdict], Redactor.from_options(CollectorConfig(), lake.state))


def review_evidence(reason: str, kill: Mapping[str, Any]) -> str:
    """Return the evidence of a human's score: the reason, and the facts of the harness.

    Where the run was killed decides which kills count, and the score at once is the harness's.

    Args:
        reason: The human's.
        kill: The row of `harness_trials`, or its fields of that name.
    """
    facts = {
        "reason": reason,
        "immediate": kill["immediate"],
        "boundary": kill["boundary"],
        "killed": kill["trajectory_id"],
    }
    return json.dumps(facts)


def _kills(lake: Lake) -> list[Mapping[str, Any]]:
    """Return the rows of all judged kills, the oldest first."""
    rows: list[Mapping[str, Any]] = rows_of(lake, HARNESS_TRIALS).to_pylist()
    killed = [row for row in rows if row["kill_point"] and row["status"] == "done"]
    return sorted(killed, key=lambda row: row["started_at"])


def _key(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["baseline_trajectory_id"], row["kill_point"]


def _reviewable(row: Mapping[str, Any]) -> Reviewable:
    left = [each["object"] for each in json.loads(row["leftovers"] or "[]")]
    trajectory_id, kill_point = _key(row)
    return Reviewable(trajectory_id, kill_point, row["task_id"], row["after_recovery"], left)
