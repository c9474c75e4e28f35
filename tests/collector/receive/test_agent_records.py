"""The collector makes spans of log records of coding agents, and keeps the records as they are."""

import json

from tests.collector.running import JSON, Collector, landed
from tests.commands import tracegrade
from tests.waiting import wait_until

TEXTS = {"event.name": "codex.user_prompt", "conversation.id": "s1", "prompt": "List them."}


def _body(**fields: str) -> bytes:
    attributes = [{"key": key, "value": {"stringValue": text}} for key, text in TEXTS.items()]
    record = {"timeUnixNano": "1790000000000000000", "attributes": attributes, **fields}
    scope = {"scope": {"name": "codex"}, "logRecords": [record]}
    return json.dumps({"resourceLogs": [{"resource": {}, "scopeLogs": [scope]}]}).encode()


def test_a_record_of_an_agent_is_a_span_too(collector: Collector) -> None:
    """A record that names a trace is part of that trace's spans, and gives none."""
    assert collector.post("/v1/logs", _body(), JSON).status == 200
    in_trace = _body(traceId="1" * 32, spanId="2" * 16)
    assert collector.post("/v1/logs", in_trace, JSON).status == 200

    wait_until(lambda: landed(collector.lake, "raw_logs").num_rows == 2)
    wait_until(lambda: landed(collector.lake).num_rows >= 1)
    (span,) = landed(collector.lake).to_pylist()
    assert (span["scope_name"], span["name"]) == ("codex.records", "codex.user_prompt")
    assert dict(span["attributes"]) == TEXTS


def test_a_conversation_is_erased_by_its_name_with_its_records(collector: Collector) -> None:
    """Spans and records have the attribute, so one condition finds both."""
    for body in (_body(), _body().replace(b'"s1"', b'"s2"')):
        assert collector.post("/v1/logs", body, JSON).status == 200
    where = "attributes['conversation.id'] = 's1'"
    done = tracegrade("lake", "delete", "--lake", collector.lake, "--where", where)

    assert done.returncode == 0, done.stderr
    for table in ("raw_logs", "raw_spans"):
        (left,) = landed(collector.lake, table).to_pylist()
        assert dict(left["attributes"]) == TEXTS | {"conversation.id": "s2"}
