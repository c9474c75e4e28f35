"""Datadog: external evaluations of spans and sessions in Agent Observability.

The form is that of Datadog's HTTP API reference since 22 May 2026, when `eval_scope` was added
(DataDog/documentation#36873). A span that came over OpenTelemetry is found by its id as a
decimal number and the trace id as 32 hex digits, and the evaluation needs the tag `source:otel`.
The reference names no field that lets a score replace an earlier one, so each has its key and id
as tags, and the time at which it was sent. This was never tried with Datadog itself.
"""

import time
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
from tracegrade_send.scores import ISSUE, ScoreToSend

PATH: Final = "/api/intake/llm-obs/v2/eval-metric"
KEY: Final = "TRACEGRADE_SEND_DATADOG_API_KEY"
NO_ROOT_SPAN: Final = "no_root_span"
"""Why a score of a run without root span is refused: an evaluation belongs to a span."""
MOST_CHARACTERS: Final = 200
"""Length of a tag and of a category."""


class Datadog:
    """A site of Datadog, and one LLM application there."""

    batch = 500

    def __init__(self, address: DestinationAddress, variables: Mapping[str, str]) -> None:
        """Take its URL and the application, and the variables with its key.

        Raises:
            SendRefused: The key or the application is missing.
        """
        if not (key := variables.get(KEY, "")):
            msg = f"{KEY} is not set; Datadog needs an API key"
            raise SendRefused(msg)
        if not address.project:
            msg = "--project is not given; Datadog needs the name of the LLM application (ml_app)"
            raise SendRefused(msg)
        self._application = address.project
        self._endpoint = JsonEndpoint(address.endpoint, {"DD-API-KEY": key})

    def send(self, scores: Sequence[EvaluatedScore]) -> list[ScoreAnswer]:
        """Send evaluations, as `Destination.send` says."""
        now_ms = time.time_ns() // 1_000_000
        found = [_target(each.score) for each in scores]
        bodies = [
            {**target, "ml_app": self._application, "timestamp_ms": now_ms, **_evaluation(each)}
            for each, target in zip(scores, found, strict=True)
            if target
        ]
        answers = iter(self._send_all(bodies))
        refused = ScoreAnswer("refused", NO_ROOT_SPAN)
        return [next(answers) if target else refused for target in found]

    def _send_all(self, bodies: Sequence[dict[str, Any]]) -> list[ScoreAnswer]:
        if not bodies:
            return []
        data = {"type": "evaluation_metric", "attributes": {"metrics": bodies}}
        answer = self._endpoint.post(PATH, {"data": data})
        if answer.status in {200, 202}:
            return [SENT] * len(bodies)
        if answer.status == 404:
            raise self._endpoint.no_api(answer)
        if len(bodies) > 1:
            half = len(bodies) // 2
            return self._send_all(bodies[:half]) + self._send_all(bodies[half:])
        return [ScoreAnswer("refused", answer.excerpt())]


def _target(score: ScoreToSend) -> dict[str, Any]:
    """Return what an evaluation is about; {} if that has no span."""
    if score.conversation_id:
        return {"eval_scope": "session", "session_id": score.conversation_id}
    span = score.span_id or score.root_span_id
    if span is None:
        return {}
    of_span = {"span_id": str(int(span, 16)), "trace_id": score.trace_id}
    return {"eval_scope": "span", "join_on": {"span": of_span}}


def _evaluation(each: EvaluatedScore) -> dict[str, Any]:
    score = each.score
    details = each.details() | ({"tracegrade.evaluation.label": each.label} if each.label else {})
    tags = [f"{name}:{value}"[:MOST_CHARACTERS] for name, value in details.items()]
    found = {
        "label": score.metric,
        **_value(each),
        "assessment": each.label if each.label in {"pass", "fail"} else None,
        "reasoning": each.explanation or None,
        "tags": ["source:otel", *tags],
    }
    return {name: value for name, value in found.items() if value is not None}


def _value(each: EvaluatedScore) -> dict[str, Any]:
    """Return the value of an evaluation, or why it has none; places of issues have own names."""
    score = each.score
    if score.metric == ISSUE:
        rank = score.issue_rank or 1
        text = (each.label or "")[:MOST_CHARACTERS]
        name = ISSUE if rank == 1 else f"{ISSUE}_{rank}"
        return {"label": name, "metric_type": "categorical", "categorical_value": text}
    if score.value is not None:
        return {"metric_type": "score", "score_value": score.value}
    status = "ERROR" if score.status == "error" else "WARN"
    error = {"type": score.reason or score.status, "message": each.explanation or score.status}
    return {"metric_type": "score", "status": status, "error": error}
