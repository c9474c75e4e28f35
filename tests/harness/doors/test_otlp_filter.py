"""What of an agent's telemetry is not the agent's to say."""

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from tracegrade_harness.doors.otlp_filter import filter_request

TRIAL = {"tracegrade.task.id": "t", "tracegrade.trial": "2"}
EVALUATION = "gen_ai.evaluation.result"


def attribute(key: str, value: str | int) -> KeyValue:
    """Return an attribute."""
    held = AnyValue(int_value=value) if isinstance(value, int) else AnyValue(string_value=value)
    return KeyValue(key=key, value=held)


def of_trial() -> list[KeyValue]:
    """Return what a resource of the trial says."""
    return [attribute(key, value) for key, value in TRIAL.items()]


def spans(
    *attributes: KeyValue, resource: list[KeyValue] | None = None
) -> ExportTraceServiceRequest:
    """Return a request with one span."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.extend(of_trial() if resource is None else resource)
    span = group.scope_spans.add().spans.add(name="s", attributes=attributes)
    span.events.add(name="note")
    return request


def logs(*records: LogRecord) -> ExportLogsServiceRequest:
    """Return a request with log records."""
    request = ExportLogsServiceRequest()
    group = request.resource_logs.add()
    group.resource.attributes.extend(of_trial())
    group.scope_logs.add().log_records.extend(records)
    return request


def test_what_is_the_trials_own_stays_byte_by_byte() -> None:
    """Ids that are its own, as texts or numbers, and all that says nothing of trials."""
    request = spans(attribute("tracegrade.trial", 2), attribute("tracegrade.outcome", "ok"))
    before = request.SerializeToString()
    filtered = filter_request(request, TRIAL)

    assert (dict(filtered.dropped), filtered.is_changed) == ({}, False)
    assert request.SerializeToString() == before


def test_evaluations_are_taken_out_of_spans() -> None:
    """Other events of the span stay, and so does the span."""
    request = spans()
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.events.add(name=EVALUATION)
    span.events.add(name=EVALUATION)
    filtered = filter_request(request, TRIAL)

    assert filtered.dropped == {EVALUATION: 2}
    assert [event.name for event in span.events] == ["note"]


@pytest.mark.parametrize(
    "record",
    [
        LogRecord(event_name=EVALUATION),
        LogRecord(body=AnyValue(string_value=EVALUATION)),
        LogRecord(attributes=[attribute("event.name", EVALUATION)]),
    ],
    ids=["name", "body", "attribute"],
)
def test_evaluations_are_taken_out_of_logs(record: LogRecord) -> None:
    """However a record says that it is one; others stay in their order."""
    others = [LogRecord(event_name=name) for name in "ab"]
    request = logs(others[0], record, others[1])
    filtered = filter_request(request, TRIAL)

    assert filtered.dropped == {EVALUATION: 1}
    assert list(request.resource_logs[0].scope_logs[0].log_records) == others


def test_injections_are_taken_out_everywhere() -> None:
    """Of resources and spans; the rest of both stays."""
    mark, other = attribute("tracegrade.injection", "early"), attribute("a", "b")
    request = spans(mark, other, mark, resource=[*of_trial(), mark])
    filtered = filter_request(request, TRIAL)

    assert filtered.dropped == {"tracegrade.injection": 3}
    (group,) = request.resource_spans
    assert list(group.resource.attributes) == of_trial()
    assert list(group.scope_spans[0].spans[0].attributes) == [other]


def test_a_foreign_trial_becomes_the_agents_own() -> None:
    """A second value behind the right one is foreign too."""
    foreign = attribute("tracegrade.task.id", "other")
    request = spans(foreign, resource=[*of_trial(), foreign, attribute("tracegrade.trial", 3)])
    filtered = filter_request(request, TRIAL)

    assert filtered.dropped == {"foreign tracegrade.task.id": 2, "foreign tracegrade.trial": 1}
    (group,) = request.resource_spans
    assert list(group.resource.attributes) == of_trial()
    assert not group.scope_spans[0].spans[0].attributes


def test_a_resource_that_does_not_say_its_trial_gets_it() -> None:
    """Nothing was dropped for that; groups of one resource get it once."""
    request = spans(resource=[attribute("service.name", "x")])
    request.resource_spans[0].scope_spans.add().spans.add(name="other")
    filtered = filter_request(request, TRIAL)

    assert (dict(filtered.dropped), filtered.is_changed) == ({}, True)
    said = request.resource_spans[0].resource.attributes
    assert list(said) == [attribute("service.name", "x"), *of_trial()]
