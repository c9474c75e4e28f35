"""Tempo's traces are OTLP under other names, with ids in base64 or hex."""

from base64 import b64encode
from pathlib import Path
from typing import Any

from tests.collector.importing.imports import imported, written, written_lines
from tests.collector.importing.together import Scene
from tests.scenes import built_together

TRACE = bytes.fromhex("dd547580319ab0312cee07f1def50dad")
BOTH = (False, True)
TOOL = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "get_weather",
    "gen_ai.tool.call.arguments": '{"city":"Paris"}',
}


def batch(*, base64: bool, old: bool, trace: bytes = TRACE) -> dict[str, Any]:
    """Return a batch of one tool's span."""

    def shown(id_: bytes) -> str:
        return b64encode(id_).decode() if base64 else id_.hex()

    span = {
        "traceId": shown(trace),
        "spanId": shown(b"12345678"),
        "parentSpanId": "",
        "name": "execute_tool get_weather",
        "kind": "SPAN_KIND_INTERNAL",
        "startTimeUnixNano": "1777555055632028200",
        "endTimeUnixNano": "1777555055707612400",
        "attributes": [{"key": key, "value": {"stringValue": TOOL[key]}} for key in TOOL],
        "status": {"code": "STATUS_CODE_OK"},
    }
    scope = {"name": "demo", "version": "1"}
    group = {"spans": [span]}
    if old:
        groups = {"instrumentationLibrarySpans": [group | {"instrumentationLibrary": scope}]}
    else:
        groups = {"scopeSpans": [group | {"scope": scope}]}
    return {"resource": {"attributes": []}, **groups}


@built_together
def test_every_shape_is_the_same_span(folder: Path) -> Scene:
    """Old and new interface, ids in base64 and hex, batches and whole traces."""
    ways = [(base64, old, whole) for base64 in BOTH for old in BOTH for whole in BOTH]
    traces = [TRACE[:-1] + bytes([number]) for number in range(len(ways))]
    files = []
    for (base64, old, whole), trace in zip(ways, traces, strict=True):
        batches = [batch(base64=base64, old=old, trace=trace)]
        value = {"trace": {"resourceSpans": batches}} if whole else {"batches": batches}
        files.append(written(folder, value, f"{trace.hex()}.json"))

    outcome = yield imported(folder, *files)

    assert outcome.imported.understood == {"spans": 8}
    found = {(row["trace_id"], row["scope_name"]) for row in outcome.spans()}
    assert found == {(trace.hex(), "demo") for trace in traces}
    assert outcome.calls() == [("get_weather", '{"city":"Paris"}', "ok")] * 8


def test_old_names_in_otlp_lose_no_span(tmp_path: Path) -> None:
    """OTLP before 2022, which OTLP's own reader takes for resources without spans."""
    value = {"resourceSpans": [batch(base64=False, old=True)]}
    assert imported(tmp_path, written(tmp_path, value)).imported.added.total() == 1


def test_broken_batch_is_named(tmp_path: Path) -> None:
    """What is wrong is one line with its place; other lines are read."""
    broken: dict[str, Any] = {"batches": [{"scopeSpans": [{"spans": [{"name": []}]}]}]}
    file = written_lines(tmp_path, [{"batches": [batch(base64=True, old=False)]}, broken])
    outcome = imported(tmp_path, file)
    assert outcome.imported.added.total() == 1
    assert [note.removeprefix(f"{file}:2: ") for note in outcome.notes] == [
        "OTLP/JSON: resourceSpans[0].scopeSpans[0].spans[0].name: expected string, found list"
    ]


def test_real_export_gives_its_call(tmp_path: Path, shared_data: Path) -> None:
    """86 spans of an agent behind HTTP, exported by Grafana."""
    samples = shared_data / "otlp-fixtures" / "agentevals-samples" / "samples"
    outcome = imported(tmp_path, samples / "tempo_export_with_batches.json")
    assert outcome.imported.added.total() == 86
    assert outcome.calls() == [("helm_list_releases", "{}", "ok")]
    runs = "SELECT agent_name, step_count, complete FROM trajectories"
    assert outcome.rows(runs) == [("helm-agent", 3, True)]
