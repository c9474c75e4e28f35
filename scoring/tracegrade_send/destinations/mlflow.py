"""MLflow: feedback on traces and references to issues, each found again by a key in its metadata.

MLflow gives an assessment a random id, and keeps two with the same name. So the assessments of a
trace are read before its scores are sent: one with the key of a score is changed, the other scores
are added. A reference to an issue cannot be changed there, so that one is deleted first.
A trace that came over OTLP has the id `tr-` and its 32 hex digits. Tried with MLflow 3.17.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from tracegrade_collector.edge.json_http import PostAnswer
from tracegrade_send.destinations.destination import (
    SENT,
    DestinationAddress,
    EvaluatedScore,
    ScoreAnswer,
)
from tracegrade_send.destinations.json_endpoint import JsonEndpoint
from tracegrade_send.destinations.mlflow_issues import MlflowIssues
from tracegrade_send.scores import ISSUE

TRACES: Final = "/api/3.0/mlflow/traces"
KEY: Final = "tracegrade.evaluation.key"
CHANGED: Final = "feedback,rationale,metadata"
NOT_THERE: Final = "RESOURCE_DOES_NOT_EXIST"
"""Code of its answer about a trace that it does not have; another 404 is of another server."""
UNKNOWN_TRACE: Final = "unknown_trace"
NO_EXPERIMENT: Final = "no_experiment"
"""Why an issue is refused: its trace is in no experiment, and an issue is one of an experiment."""
SESSION: Final = "mlflow.trace.session"
"""Metadata that makes an assessment one of the whole session, on its first trace."""


class KnownTrace(NamedTuple):
    """The experiment and the assessments of a trace in MLflow."""

    experiment: str | None
    """Its experiment; None if it is elsewhere."""
    assessments: Mapping[str, str]
    """Their ids, by the keys of scores."""


class Mlflow:
    """A tracking server of MLflow."""

    batch = 500

    def __init__(self, address: DestinationAddress, variables: Mapping[str, str]) -> None:
        """Take its URL, and the variables with its token."""
        token = variables.get("TRACEGRADE_SEND_MLFLOW_TOKEN")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # Feedback that was added but not answered must not be added twice.
        self._endpoint = JsonEndpoint(address.endpoint, headers, retries=0)
        self._issues = MlflowIssues(self._endpoint)

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
        return [self._sent(path, each, known) for each in scores]

    def _sent(self, trace: str, each: EvaluatedScore, known: KnownTrace) -> ScoreAnswer:
        path, there = f"{trace}/assessments", known.assessments.get(each.score.key)
        if each.score.metric == ISSUE:
            return self._refer(path, each, known.experiment, there)
        return self._write(path, _feedback(each), there)

    def _write(self, path: str, assessment: dict[str, Any], known: str | None) -> ScoreAnswer:
        if known is None:
            answer = self._endpoint.request("POST", path, {"assessment": assessment})
        else:
            body = {"assessment": assessment, "update_mask": CHANGED}
            answer = self._endpoint.request("PATCH", _path_of(path, known), body)
        return SENT if answer.status == 200 else ScoreAnswer("refused", answer.excerpt())

    def _refer(
        self, path: str, each: EvaluatedScore, experiment: str | None, known: str | None
    ) -> ScoreAnswer:
        """Let a place of a run name its issue, or none."""
        if known is not None:
            answer = self._endpoint.request("DELETE", _path_of(path, known))
            if answer.status not in {200, 404}:
                return ScoreAnswer("refused", answer.excerpt())
        if each.score.issue is None:
            return SENT
        if experiment is None:
            return ScoreAnswer("refused", NO_EXPERIMENT)
        title = each.label or each.score.issue
        there = self._issues.id_of(experiment, each.score.issue, title)
        reference = {"assessment_name": there, "issue": {"issue_name": title}}
        return self._write(path, _assessment(each) | reference, None)


def _path_of(path: str, assessment: str) -> str:
    return f"{path}/{quote(assessment, safe='')}"


def _known(answer: PostAnswer) -> KnownTrace:
    """Return what an answer says about a trace."""
    try:
        found = json.loads(answer.text)["trace"]["trace_info"]
        place = found.get("trace_location", {}).get("mlflow_experiment", {})
        ids = {
            each["metadata"][KEY]: each["assessment_id"]
            for each in found.get("assessments", ())
            if KEY in each.get("metadata", {})
        }
        return KnownTrace(place.get("experiment_id"), ids)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return KnownTrace(None, {})


def _feedback(each: EvaluatedScore) -> dict[str, Any]:
    score = each.score
    feedback: dict[str, Any] = {"value": score.value}
    if score.value is None:
        code = score.reason or score.status
        feedback = {"error": {"error_code": code, "error_message": each.explanation or code}}
    return _assessment(each) | {"assessment_name": score.metric, "feedback": feedback}


def _assessment(each: EvaluatedScore) -> dict[str, Any]:
    """Return what every assessment has."""
    score = each.score
    more = {"label": each.label, SESSION: score.conversation_id}
    more = {name: text for name, text in more.items() if text}
    details = {name: str(value) for name, value in (each.details() | more).items()}
    of_step = {"span_id": score.span_id} if score.span_id else {}
    return of_step | {
        "source": {"source_type": "CODE", "source_id": "tracegrade"},
        "rationale": each.explanation,
        "metadata": details,
    }
