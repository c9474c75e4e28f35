"""The collector makes spans of log records of coding agents, and keeps the records as they are."""

import json
from typing import Any

import pytest
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


def _traces(collector: Collector, table: str = "raw_spans") -> dict[str, str]:
    """Return the trace of each conversation in a table."""
    rows = landed(collector.lake, table).to_pylist()
    return {dict(row["attributes"]).get("conversation.id", ""): row["trace_id"] for row in rows}


@pytest.mark.parametrize("chosen", ["trace", "where"])
def test_a_conversation_is_erased_with_its_records(collector: Collector, chosen: str) -> None:
    """Its trace finds the records of its spans; a condition finds both."""
    erased, other = f"{chosen}-1", f"{chosen}-2"
    for name in (erased, other):
        body = _body().replace(b'"s1"', f'"{name}"'.encode())
        assert collector.post("/v1/logs", body, JSON).status == 200
    wait_until(lambda: {erased, other} <= _traces(collector).keys())
    where = f"attributes['conversation.id'] = '{erased}'"
    value = {"trace": _traces(collector)[erased], "where": where}[chosen]
    done = tracegrade("lake", "delete", "--lake", collector.lake, f"--{chosen}", value)

    assert done.returncode == 0, done.stderr
    for table in ("raw_logs", "raw_spans"):
        assert _traces(collector, table).keys() & {erased, other} == {other}


def test_records_with_a_trace_of_their_own_are_erased_with_the_run(collector: Collector) -> None:
    """Each model call of Gemini CLI has a trace; other programs' records of its session stay."""
    body = _body(traceId="3" * 32, spanId="4" * 16)
    for old, new in {
        "codex.": "gemini_cli.",
        "conversation.id": "session.id",
        '"s1"': '"g1"',
    }.items():
        body = body.replace(old.encode(), new.encode())
    for scope in ("gemini-cli", "another"):
        sent = body.replace(b'"codex"', f'"{scope}"'.encode())
        assert collector.post("/v1/logs", sent, JSON).status == 200
    wait_until(lambda: _spans_of(collector, "g1"))
    (span,) = _spans_of(collector, "g1")
    done = tracegrade("lake", "delete", "--lake", collector.lake, "--trace", span["trace_id"])

    assert done.returncode == 0, done.stderr
    logs = landed(collector.lake, "raw_logs").to_pylist()
    assert [log["scope_name"] for log in logs if log["trace_id"] == "3" * 32] == ["another"]
    assert _spans_of(collector, "g1") == []


def _spans_of(collector: Collector, session: str) -> list[dict[str, Any]]:
    rows = landed(collector.lake).to_pylist()
    return [row for row in rows if dict(row["attributes"]).get("session.id") == session]
