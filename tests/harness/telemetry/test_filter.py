"""What of an agent's telemetry is not the agent's to say."""

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from tracegrade_harness.telemetry.filter import (
    BEYOND,
    CLAIMED,
    Sayings,
    filter_request,
    move_traces,
    traces_of,
)

TRIAL = {"tracegrade.task.id": "t", "tracegrade.trial": "2"}
OF_TRIAL = Sayings(TRIAL)
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
    filtered = filter_request(request, OF_TRIAL)

    assert (dict(filtered.claimed), filtered.is_changed) == ({}, False)
    assert request.SerializeToString() == before


def test_evaluations_of_spans_get_another_name() -> None:
    """Other events of the span keep theirs."""
    request = spans()
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.events.add(name=EVALUATION)
    span.events.add(name=EVALUATION)
    filtered = filter_request(request, OF_TRIAL)

    assert filtered.claimed == {EVALUATION: 2}
    assert [event.name for event in span.events] == ["note", *[CLAIMED + EVALUATION] * 2]


@pytest.mark.parametrize(
    "record",
    [
        LogRecord(event_name=EVALUATION),
        LogRecord(body=AnyValue(string_value=EVALUATION)),
        LogRecord(attributes=[attribute("event.name", EVALUATION)]),
    ],
    ids=["name", "body", "attribute"],
)
def test_evaluations_of_logs_get_another_name(record: LogRecord) -> None:
    """However a record says that it is one; all records stay, in their order."""
    others = [LogRecord(event_name=name) for name in "ab"]
    request = logs(others[0], record, others[1])
    filtered = filter_request(request, OF_TRIAL)

    assert filtered.claimed == {EVALUATION: 1}
    first, claimed, last = request.resource_logs[0].scope_logs[0].log_records
    assert [first, last] == others
    said = {claimed.event_name, claimed.body.string_value}
    said |= {each.value.string_value for each in claimed.attributes}
    assert said - {""} == {CLAIMED + EVALUATION}


@pytest.mark.parametrize("name", ["tracegrade.kill_point", "tracegrade.injection"])
def test_marks_of_kills_get_another_name_everywhere(name: str) -> None:
    """On resources and spans, also under the name that is still read; the rest of both stays."""
    mark, other = attribute(name, "early"), attribute("a", "b")
    claimed = attribute(f"tracegrade.claimed.{name}", "early")
    request = spans(mark, other, mark, resource=[*of_trial(), mark])
    filtered = filter_request(request, OF_TRIAL)

    assert filtered.claimed == {name: 3}
    (group,) = request.resource_spans
    assert list(group.resource.attributes) == [*of_trial(), claimed]
    assert list(group.scope_spans[0].spans[0].attributes) == [claimed, other, claimed]


def test_a_foreign_trial_becomes_the_agents_own() -> None:
    """A second value behind the right one is foreign too."""
    foreign = attribute("tracegrade.task.id", "other")
    request = spans(foreign, resource=[*of_trial(), foreign, attribute("tracegrade.trial", 3)])
    filtered = filter_request(request, OF_TRIAL)

    assert filtered.claimed == {"tracegrade.task.id": 2, "tracegrade.trial": 1}
    (group,) = request.resource_spans
    claimed = attribute(CLAIMED + "tracegrade.task.id", "other")
    assert list(group.resource.attributes) == [
        *of_trial(), claimed, attribute(CLAIMED + "tracegrade.trial", 3)
    ]  # fmt: skip
    assert list(group.scope_spans[0].spans[0].attributes) == [claimed]


def test_a_resource_that_does_not_say_its_trial_gets_it() -> None:
    """That is not a claim; groups of one resource get it once."""
    request = spans(resource=[attribute("host.name", "x")])
    request.resource_spans[0].scope_spans.add().spans.add(name="other")
    filtered = filter_request(request, OF_TRIAL)

    assert (dict(filtered.claimed), filtered.is_changed) == ({}, True)
    said = request.resource_spans[0].resource.attributes
    assert list(said) == [attribute("host.name", "x"), *of_trial()]


@pytest.mark.parametrize(
    "key",
    ["service.name", "service.version", "deployment.environment.name", "deployment.environment"],
)
def test_where_a_run_counts_is_the_harnesses_to_say(key: str) -> None:
    """On resources; the same name on a span says nothing of the run."""
    said = attribute(key, "base")
    request = spans(said, resource=[*of_trial(), said])
    filtered = filter_request(request, OF_TRIAL)

    assert filtered.claimed == {key: 1}
    (group,) = request.resource_spans
    assert list(group.resource.attributes) == [*of_trial(), attribute(CLAIMED + key, "base")]
    assert list(group.scope_spans[0].spans[0].attributes) == [said]


def test_an_outcome_counts_for_nothing_beside_verifiers() -> None:
    """On resource, scope, span, event and link; without verifiers it is the agent's."""
    won = attribute("tracegrade.outcome", "success")
    request = spans(won, resource=[*of_trial(), won])
    scoped = request.resource_spans[0].scope_spans[0]
    scoped.scope.attributes.append(won)
    scoped.spans[0].events[0].attributes.append(won)
    scoped.spans[0].links.add(attributes=[won])
    before = request.SerializeToString()

    assert not filter_request(request, OF_TRIAL).is_changed
    assert request.SerializeToString() == before
    assert filter_request(request, Sayings(TRIAL, is_verified=True)).claimed == {won.key: 5}
    assert won.key.encode() not in request.SerializeToString().replace(
        (CLAIMED + won.key).encode(), b""
    )


@pytest.mark.parametrize("name", ["tracegrade.harness", "tracegrade.import", "tracegrade.scoring"])
def test_no_agent_speaks_as_the_harness(name: str) -> None:
    """Its scope has another name; one that only begins alike is its own."""
    request = spans()
    request.resource_spans[0].scope_spans[0].scope.name = name
    request.resource_spans[0].scope_spans.add().scope.name = f"{name}.mine"
    filtered = filter_request(request, OF_TRIAL)

    assert filtered.claimed == {f"scope {name}": 1}
    names = [each.scope.name for each in request.resource_spans[0].scope_spans]
    assert names == [CLAIMED + name, f"{name}.mine"]


def test_no_agent_says_how_much_its_run_weighs() -> None:
    """OpenTelemetry's entry leaves the trace state, where others stay; it counts as claimed."""
    request = spans()
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.trace_state = "vendor=1,ot=th:fffffffffffff8"
    filtered = filter_request(request, OF_TRIAL)

    assert (filtered.claimed, span.trace_state) == ({"trace_state": 1}, "vendor=1")
    assert list(span.attributes) == [
        attribute(CLAIMED + "trace_state", "vendor=1,ot=th:fffffffffffff8")
    ]


def test_what_the_gate_is_told_is_filtered_alike() -> None:
    """Numbers that are the trial's own stay."""
    said = {"tracegrade.trial": 2, "tracegrade.task.id": "other", "a": 1}

    assert OF_TRIAL.without_claims(said) == {
        "tracegrade.trial": 2,
        CLAIMED + "tracegrade.task.id": "other",
        "a": 1,
    }


def test_spans_of_other_traces_are_moved() -> None:
    """With their links to these; those beyond are taken out and counted; ids of none stay."""
    own, foreign, moved, beyond = (bytes([n]) * 16 for n in range(1, 5))
    request = spans()
    scoped = request.resource_spans[0].scope_spans[0]
    scoped.spans.add(trace_id=own).links.add(trace_id=foreign)
    for trace in (foreign, beyond):
        scoped.spans.add(trace_id=trace)

    assert [*traces_of(request)] == [own.hex(), foreign.hex(), beyond.hex()]
    filtered = move_traces(request, {own.hex(): own.hex(), foreign.hex(): moved.hex()})
    assert filtered.claimed == {"trace_id": 2, BEYOND: 1}
    assert [span.trace_id for span in scoped.spans] == [b"", own, moved]
    assert scoped.spans[1].links[0].trace_id == moved
    assert list(scoped.spans[2].attributes) == [attribute(CLAIMED + "trace_id", foreign.hex())]
