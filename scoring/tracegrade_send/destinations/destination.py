"""The interface of a destination, and how it is identified."""

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from tracegrade_send.scores import ScoreToSend


class EvaluatedScore(NamedTuple):
    """A score with the texts that go with it."""

    score: ScoreToSend
    label: str | None
    explanation: str

    def details(self) -> dict[str, Any]:
        """Return what a reader of the score needs to trace it, without empty values."""
        score = self.score
        details = {
            "tracegrade.evaluation.key": score.key,
            "tracegrade.evaluation.id": score.id,
            "tracegrade.evaluation.status": score.status,
            "tracegrade.evaluation.reason": score.reason,
            "tracegrade.evaluation.numerator": score.numerator,
            "tracegrade.evaluation.denominator": score.denominator,
            "tracegrade.evaluation.source": score.source,
            "tracegrade.evaluation.task_id": score.task_id,
            "tracegrade.evaluation.release": score.release,
            "tracegrade.evaluation.conversation_id": score.conversation_id,
            "tracegrade.evaluation.issue": score.issue,
            "tracegrade.evaluation.scorer_version": score.scorer_version,
            "tracegrade.evaluation.specification_hash": score.specification_hash,
            "tracegrade.evaluation.annotator_kind": "CODE",
        }
        return {name: value for name, value in details.items() if value is not None}


class ScoreAnswer(NamedTuple):
    """The answer of a destination to one score."""

    state: str
    """sent | waiting | refused."""
    reason: str | None = None
    remote_id: str | None = None


SENT = ScoreAnswer("sent")


class DestinationAddress(NamedTuple):
    """The address of a destination."""

    kind: str
    endpoint: str
    """URL without credentials."""
    project: str | None

    @property
    def hash(self) -> str:
        """Identify the destination in the ledger."""
        text = "\x1f".join((self.kind, self.endpoint.rstrip("/"), self.project or ""))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


class Destination(Protocol):
    """A tool that accepts scores."""

    batch: int
    """Most scores of one call."""

    def send(self, scores: Sequence[EvaluatedScore]) -> list[ScoreAnswer]:
        """Send scores, and return what happened to each, in their order.

        Raises:
            SendFailed: The destination cannot be reached, or refuses all.
        """
