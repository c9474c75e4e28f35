"""Arize Phoenix: annotations of traces, spans and sessions.

They are identified by name, target and `identifier`. A run may show several issues: the identifier
of each ends with its place, so that they stand beside one another under one name.

`sync=true`, since without it Phoenix answers 200 to annotations of traces that it does not have.
With it, one unknown trace or span makes it refuse a whole call; the call is then halved until the
unknown ones are alone, and these wait. Tried with Phoenix 20.26.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tracegrade_send.destinations.destination import (
    SENT,
    DestinationAddress,
    EvaluatedScore,
    ScoreAnswer,
)
from tracegrade_send.destinations.json_endpoint import JsonEndpoint
from tracegrade_send.scores import ScoreToSend

TRACES: Final = "/v1/trace_annotations?sync=true"
SPANS: Final = "/v1/span_annotations?sync=true"
SESSIONS: Final = "/v1/session_annotations?sync=true"
IDENTIFIER: Final = "tracegrade"
"""Marks annotations from tracegrade: a new score replaces the one before."""
NOT_THERE: Final = "do not exist"
"""Words of its answer to what it does not have; another 404 is of another server."""
UNKNOWN: Final[Mapping[str, str]] = {
    TRACES: "unknown_trace",
    SPANS: "unknown_span",
    SESSIONS: "unknown_session",
}
"""Why a score waits, by where it is sent."""


class Phoenix:
    """A server of Phoenix."""

    batch = 500

    def __init__(self, address: DestinationAddress, variables: Mapping[str, str]) -> None:
        """Take its URL, and the variables with its key."""
        key = variables.get("TRACEGRADE_SEND_PHOENIX_API_KEY")
        self._endpoint = JsonEndpoint(
            address.endpoint, {"Authorization": f"Bearer {key}"} if key else {}
        )

    def send(self, scores: Sequence[EvaluatedScore]) -> list[ScoreAnswer]:
        """Send annotations, as `Destination.send` says."""
        answers = {
            path: iter(self._send_all(path, [each for each in scores if _path(each) == path]))
            for path in UNKNOWN
        }
        return [next(answers[_path(each)]) for each in scores]

    def _send_all(self, path: str, scores: Sequence[EvaluatedScore]) -> list[ScoreAnswer]:
        if not scores:
            return []
        answer = self._endpoint.post(path, {"data": [_annotation(each) for each in scores]})
        if answer.status == 200:
            return [SENT] * len(scores)
        is_unknown = answer.status == 404 and NOT_THERE in answer.text
        if answer.status == 404 and not is_unknown:
            raise self._endpoint.no_api(answer)
        if len(scores) > 1:
            half = len(scores) // 2
            return self._send_all(path, scores[:half]) + self._send_all(path, scores[half:])
        if is_unknown:
            return [ScoreAnswer("waiting", UNKNOWN[path])]
        return [ScoreAnswer("refused", answer.excerpt())]


def _path(each: EvaluatedScore) -> str:
    if each.score.conversation_id:
        return SESSIONS
    return SPANS if each.score.span_id else TRACES


def _target(score: ScoreToSend) -> dict[str, str]:
    if score.conversation_id:
        return {"session_id": score.conversation_id}
    return {"span_id": score.span_id} if score.span_id else {"trace_id": score.trace_id}


def _annotation(each: EvaluatedScore) -> dict[str, Any]:
    score = each.score
    result = {"score": score.value, "label": each.label, "explanation": each.explanation or None}
    return {
        "name": score.metric,
        "annotator_kind": "CODE",
        "identifier": f"{IDENTIFIER}-{score.issue_rank}" if score.issue_rank else IDENTIFIER,
        **_target(score),
        "result": {name: value for name, value in result.items() if value is not None},
        "metadata": each.details(),
    }
