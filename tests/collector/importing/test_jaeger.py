"""Jaeger's traces become the spans they were: ids, times, tags, logs, references, processes."""

from pathlib import Path
from typing import Any

from tests.collector.importing.imports import imported, written, written_lines
from tests.collector.importing.raw_counts.jaeger import raw_counts
from tests.collector.importing.raw_counts.lake import lake_counts
from tests.collector.importing.together import Scene
from tests.scenes import built_together

TRACE = "3e289017fe03ffd7c4145316d2eb3d0d"
WEATHER_CALL = [("get_weather", '{"city":"Paris"}', "ok")]


def tag(key: str, value: Any, type_: str = "string") -> dict[str, Any]:
    """Return a tag as Jaeger writes it."""
    return {"key": key, "type": type_, "value": value}


def span(number: int, parent: int | None, name: str, *tags: dict[str, Any]) -> dict[str, Any]:
    """Return a span, a child of another."""
    parents = [{"refType": "CHILD_OF", "traceID": TRACE, "spanID": f"{parent or 0:016x}"}]
    return {
        "traceID": TRACE,
        "spanID": f"{number:016x}",
        "operationName": name,
        "references": parents if parent else [],
        "startTime": 1_771_237_534_000_000 + number,
        "duration": 500,
        "tags": [tag("otel.scope.name", "demo"), tag("span.kind", "client"), *tags],
        "logs": [],
        "processID": "p1",
        "warnings": None,
    }


def weather() -> list[dict[str, Any]]:
    """Return a run with one tool call, in a request of HTTP."""
    return [
        span(1, None, "POST", tag("http.status_code", 200, "int64")),
        span(2, 1, "invoke_agent w", tag("gen_ai.operation.name", "invoke_agent")),
        span(
            3,
            2,
            "execute_tool get_weather",
            tag("gen_ai.operation.name", "execute_tool"),
            tag("gen_ai.tool.name", "get_weather"),
            tag("gen_ai.tool.call.arguments", '{"city":"Paris"}'),
            tag("gen_ai.tool.call.result", "22C"),
        ),
    ]


def trace(*spans: dict[str, Any]) -> dict[str, Any]:
    """Return a trace with its process."""
    process = {"serviceName": "weather", "tags": [tag("host.name", "h1")]}
    return {"traceID": TRACE, "spans": list(spans), "processes": {"p1": process}}


@built_together
def test_trace_gives_its_call(folder: Path) -> Scene:
    """The answer of the interface; once more, it adds nothing."""
    file = written(folder, {"data": [trace(*weather())], "total": 0, "errors": None})
    outcome = imported(folder, file)
    assert outcome.imported.understood == {"spans": 3}
    assert outcome.again(file) == 0
    outcome = yield outcome
    assert outcome.calls() == WEATHER_CALL
    assert lake_counts(outcome) == raw_counts(file)


@built_together
def test_spans_a_line_are_read(folder: Path) -> Scene:
    """As storage keeps them: the process in the span, the parent's id without a reference."""
    process = {"serviceName": "weather", "tag": {}}
    spans = [{**each, "process": process, "references": []} for each in weather()]
    spans[2]["parentSpanID"] = f"{2:016x}"
    outcome = yield imported(folder, written_lines(folder, spans))
    assert outcome.calls() == WEATHER_CALL


def test_everything_of_a_span_is_kept(tmp_path: Path) -> None:
    """Kind, status, scope, typed tags, log, short ids, a reference to another trace as a link."""
    found = span(
        5,
        4,
        "x",
        tag("otel.status_code", "ERROR"),
        tag("otel.status_description", "down"),
        tag("count", 7, "int64"),
        tag("raw", "AQI=", "binary"),
    )
    found["references"].append({"refType": "FOLLOWS_FROM", "traceID": "ab", "spanID": "cd"})
    found["logs"] = [{"timestamp": 1_771_237_534_000_100, "fields": [tag("event", "exception")]}]
    outcome = imported(tmp_path, written(tmp_path, {"data": [trace(found)]}))
    [row] = outcome.spans()
    assert (row["trace_id"], row["span_id"]) == (TRACE, f"{5:016x}")
    assert row["parent_span_id"] == f"{4:016x}"
    assert (row["scope_name"], row["status_message"]) == ("demo", "down")
    assert (row["start_ns"], row["end_ns"]) == (
        1_771_237_534_000_005_000,
        1_771_237_534_000_505_000,
    )
    text = str(row)
    assert "exception" in text
    assert f"{0xCD:016x}" in text
    assert "h1" in text


def test_broken_record_is_named(tmp_path: Path) -> None:
    """A line that is not a trace is one note; a span without ids is counted; the rest is read."""
    lines = [trace(*weather(), {"operationName": "no ids"}), {"spans": 3}, "{"]
    outcome = imported(tmp_path, written_lines(tmp_path, lines), format_="jaeger")
    assert outcome.imported.added.total() == 3
    assert outcome.imported.ignored == {"spans without a traceID or spanID": 1}
    assert [note.split(".jsonl:")[1][0] for note in outcome.notes] == ["2", "3"]


def test_agents_between_requests_are_found(tmp_path: Path, shared_data: Path) -> None:
    """Two real traces, most of them HTTP: one agent called a tool, the other only answered."""
    samples = shared_data / "otlp-fixtures" / "agentevals-samples" / "samples"
    files = samples / "helm.json", samples / "k8s.json"
    outcome = imported(tmp_path, *files)
    assert lake_counts(outcome) == raw_counts(files[0]).plus(raw_counts(files[1]))
    assert outcome.imported.added.total() == 96 + 73
    assert outcome.calls() == [("helm_list_releases", "{}", "ok")]
    assert outcome.rows("SELECT count(*) FROM steps WHERE kind = 'answer'") == [(2,)]
