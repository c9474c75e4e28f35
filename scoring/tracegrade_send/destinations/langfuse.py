"""Langfuse: scores of traces, observations and sessions.

Each is identified by its id, name and the date of its timestamp. So `id` is the key, and the
timestamp is midnight of the run's date: a score that is computed again replaces the one before. Up
to 100 scores a call. Where a call is accepted in part (207), or lists are not known (400), each
score of it is sent alone.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tracegrade_send.destinations.destination import (
    SENT,
    DestinationAddress,
    EvaluatedScore,
    ScoreAnswer,
)
from tracegrade_send.destinations.json_endpoint import JsonEndpoint
from tracegrade_send.errors import SendRefused

PATH: Final = "/api/public/scores"
NO_VALUE: Final = "no_value"
"""Why a score without a value is refused here: Langfuse has no score without one."""


class Langfuse:
    """A project of Langfuse, which its keys choose."""

    batch = 100

    def __init__(self, address: DestinationAddress, variables: Mapping[str, str]) -> None:
        """Take its URL, and the variables with its keys.

        Raises:
            SendRefused: A key is missing.
        """
        names = ("TRACEGRADE_SEND_LANGFUSE_PUBLIC_KEY", "TRACEGRADE_SEND_LANGFUSE_SECRET_KEY")
        keys = [variables.get(name, "") for name in names]
        if missing := [name for name, key in zip(names, keys, strict=True) if not key]:
            msg = f"{missing[0]} is not set; Langfuse needs a project's public and secret key"
            raise SendRefused(msg)
        token = base64.b64encode(":".join(keys).encode()).decode()
        self._endpoint = JsonEndpoint(address.endpoint, {"Authorization": f"Basic {token}"})

    def send(self, scores: Sequence[EvaluatedScore]) -> list[ScoreAnswer]:
        """Send scores, as `Destination.send` says."""
        with_value = [each for each in scores if each.score.value is not None]
        answers = iter(self._send_all([_score(each) for each in with_value]))
        return [
            ScoreAnswer("refused", NO_VALUE) if each.score.value is None else next(answers)
            for each in scores
        ]

    def _send_all(self, bodies: Sequence[dict[str, Any]]) -> list[ScoreAnswer]:
        if not bodies:
            return []
        answer = self._endpoint.post(PATH, bodies if len(bodies) > 1 else bodies[0])
        if answer.status in {200, 201, 202}:
            return [SENT] * len(bodies)
        if answer.status == 404:
            raise self._endpoint.no_api(answer)
        if len(bodies) > 1:
            return [each for body in bodies for each in self._send_all([body])]
        return [ScoreAnswer("refused", answer.excerpt())]


def _score(each: EvaluatedScore) -> dict[str, Any]:
    score = each.score
    body = {
        "id": score.key,
        "traceId": None if score.conversation_id else score.trace_id,
        "sessionId": score.conversation_id,
        "observationId": score.span_id,
        "name": score.metric,
        "value": score.value,
        "dataType": "NUMERIC",
        "comment": each.explanation or None,
        "metadata": each.details() | ({"label": each.label} if each.label else {}),
        "environment": score.environment,
        "timestamp": f"{score.date.isoformat()}T00:00:00.000Z",
    }
    return {name: value for name, value in body.items() if value is not None}
