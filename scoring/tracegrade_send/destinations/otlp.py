"""OTLP: each score is a log record, the event `gen_ai.evaluation.result`.

Source: [OTel GenAI], gen-ai-events (status: Development). The event belongs to the root span of
the run, that of a step to the step's. Without a root span it has the trace id alone, and the id of
the response where the run called a model once; that of a conversation has the conversation's id
alone. Receivers store what arrives twice, so its attributes have the key and the id of the score.
The time is that of the last received span, so the same lake sends the same records. The observed
time is now: of two records with one key, the last observed counts.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, SeverityNumber

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.encoding.otlp_http import OtlpHttp
from tracegrade_collector.errors import EndpointFailed
from tracegrade_send.destinations.destination import (
    SENT,
    DestinationAddress,
    EvaluatedScore,
    ScoreAnswer,
)
from tracegrade_send.errors import SendFailed, SendRefused

EVENT: Final = "gen_ai.evaluation.result"
SCOPE: Final = "tracegrade.scoring"
"""Instrumentation scope of the records, which scoring does not read as evaluations."""
HEADERS: Final = "TRACEGRADE_SEND_OTLP_HEADERS"


class Otlp:
    """A receiver of OTLP/HTTP logs."""

    batch = 1_000

    def __init__(self, address: DestinationAddress, variables: Mapping[str, str]) -> None:
        """Take its base URL, and the variables with its headers, as `name=value,name=value`.

        Raises:
            SendRefused: The headers have another form.
        """
        self._endpoint = OtlpHttp(address.endpoint, _headers(variables.get(HEADERS, "")))

    def send(self, scores: Sequence[EvaluatedScore]) -> list[ScoreAnswer]:
        """Send records, as `Destination.send` says."""
        try:
            self._endpoint.send(Signal.LOGS, request_of(scores, time.time_ns()))
        except EndpointFailed as error:
            hint = "; it takes no logs: use --to phoenix or --to langfuse for these"
            no_logs = any(text in str(error) for text in ("status 404", "status 405"))
            msg = f"{error}{hint if no_logs else ''}"
            raise SendFailed(msg) from error
        return [SENT] * len(scores)


def request_of(scores: Sequence[EvaluatedScore], now_ns: int) -> ExportLogsServiceRequest:
    """Return the request with a record for each score."""
    request = ExportLogsServiceRequest()
    logs = request.resource_logs.add()
    _add(logs.resource, "service.name", "tracegrade")
    scope = logs.scope_logs.add()
    scope.scope.name = SCOPE
    scope.scope.version = scores[0].score.scorer_version if scores else ""
    for each in scores:
        _fill(scope.log_records.add(), each, now_ns)
    return request


def _fill(record: LogRecord, each: EvaluatedScore, now_ns: int) -> None:
    score = each.score
    record.time_unix_nano = score.received_ns
    record.observed_time_unix_nano = now_ns
    record.severity_number = SeverityNumber.SEVERITY_NUMBER_INFO
    record.event_name = EVENT
    if score.conversation_id is None:
        record.trace_id = bytes.fromhex(score.trace_id)
        if span := score.span_id or score.root_span_id:
            record.span_id = bytes.fromhex(span)
    attributes = {
        "event.name": EVENT,
        "gen_ai.conversation.id": score.conversation_id,
        "gen_ai.response.id": None if score.conversation_id else score.response_id,
        "gen_ai.evaluation.name": score.metric,
        "gen_ai.evaluation.score.value": score.value,
        "gen_ai.evaluation.score.label": each.label,
        "gen_ai.evaluation.explanation": each.explanation or None,
        "error.type": score.reason if score.status == "error" else None,
        **each.details(),
    }
    for name, value in attributes.items():
        if value is not None:
            _add(record, name, value)


def _add(message: Any, name: str, value: str | float) -> None:
    added = message.attributes.add(key=name)
    if isinstance(value, float):
        added.value.double_value = value
    else:
        added.value.string_value = value


def _headers(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    if any(not equals or not name.strip() for name, equals, _ in pairs):
        msg = f"{HEADERS} must be like authorization=Bearer%20KEY,x-team=a; one part has no '='"
        raise SendRefused(msg)
    return {name.strip(): value.strip() for name, _, value in pairs}
