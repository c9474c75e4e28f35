"""MLflow: feedback on traces, each found again by the key in its metadata.

MLflow gives an assessment a random id, and keeps two with the same name. So the assessments of a
trace are read before its scores are sent: one with the key of a score is changed, the other scores
are added.
A trace that came over OTLP has the id `tr-` and its 32 hex digits. Tried with
MLflow 3.17.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final
from urllib.parse import quote

from tracegrade_collector.edge.json_http import PostAnswer
from tracegrade_send.destinations.destination import SENT, EvaluatedScore, ScoreAnswer
from tracegrade_send.destinations.json_endpoint import JsonEndpoint

TRACES: Final = "/api/3.0/mlflow/traces"
KEY: Final = "tracegrade.evaluation.key"
CHANGED: Final = "feedback,rationale,metadata"
NOT_THERE: Final = "RESOURCE_DOES_NOT_EXIST"
"""Code of its answer about a trace that it does not have; another 404 is of another server."""
UNKNOWN_TRACE: Final = "unknown_trace"
SESSION: Final = "mlflow.trace.session"
"""Metadata that makes an assessment one of the whole session, on its first trace."""


class Mlflow:
    """A tracking server of MLflow."""

    batch = 500

    def __init__(self, endpoint: str, variables: Mapping[str, str]) -> None:
        """Take its URL, and the variables with its token."""
        token = variables.get("TRACEGRADE_SEND_MLFLOW_TOKEN")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # Feedback that was added but not answered must not be added twice.
        self._endpoint = JsonEndpoint(endpoint, headers, retries=0)

    def send(self, scores: Sequence[EvaluatedScore]) -> list[ScoreAnswer]:
        """Send feedback, as `Destination.send` says; scores of a trace follow each other."""
        by_trace = groupby(scores, key=lambda each: each.score.trace_id)
        return [answer for trace, each in by_trace for answer in self._of_trace(trace, [*each])]

    def _of_trace(self, trace_id: str, scores: Sequence[EvaluatedScore]) -> list[ScoreAnswer]:
        path = f"{TRACES}/tr-{quote(trace_id, safe='')}"
        answer = self._endpoint.request("GET", path)
        if answer.status == 404 and NOT_THERE in answer.text:
            return [ScoreAnswer("waiting", UNKNOWN_TRACE)] * len(scores)
        if answer.status != 200:
            raise self._endpoint.no_api(answer)
        known = _known(answer)
        return [self._sent(path, each, known.get(each.score.key)) for each in scores]

    def _sent(self, trace: str, each: EvaluatedScore, known: str | None) -> ScoreAnswer:
        path, assessment = f"{trace}/assessments", _assessment(each)
        if known is None:
            answer = self._endpoint.request("POST", path, {"assessment": assessment})
        else:
            body = {"assessment": assessment, "update_mask": CHANGED}
            answer = self._endpoint.request("PATCH", f"{path}/{quote(known, safe='')}", body)
        return SENT if answer.status == 200 else ScoreAnswer("refused", answer.excerpt())


def _known(answer: PostAnswer) -> dict[str, str]:
    """Return the ids of the assessments of a trace by the keys of scores."""
    try:
        found = json.loads(answer.text)["trace"]["trace_info"].get("assessments", ())
        return {
            each["metadata"][KEY]: each["assessment_id"]
            for each in found
            if KEY in each.get("metadata", {})
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _assessment(each: EvaluatedScore) -> dict[str, Any]:
    score = each.score
    feedback: dict[str, Any] = {"value": score.value}
    if score.value is None:
        code = score.reason or score.status
        feedback = {"error": {"error_code": code, "error_message": each.explanation or code}}
    more = {"label": each.label, SESSION: score.conversation_id}
    more = {name: text for name, text in more.items() if text}
    details = {name: str(value) for name, value in (each.details() | more).items()}
    of_step = {"span_id": score.span_id} if score.span_id else {}
    return of_step | {
        "assessment_name": score.metric,
        "source": {"source_type": "CODE", "source_id": "tracegrade"},
        "feedback": feedback,
        "rationale": each.explanation,
        "metadata": details,
    }
