"""Tempo's traces are OTLP under other names, with ids in base64 or hex."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.imports import imported, written, written_lines

TRACE = bytes.fromhex("dd547580319ab0312cee07f1def50dad")
TOOL = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "get_weather",
    "gen_ai.tool.call.arguments": '{"city":"Paris"}',
}


def batch(*, base64: bool, old: bool) -> dict[str, Any]:
    """Return a batch of one tool's span."""

    def shown(id_: bytes) -> str:
        return b64encode(id_).decode() if base64 else id_.hex()

    span = {
        "traceId": shown(TRACE),
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


@pytest.mark.parametrize("base64", [True, False])
@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("shape", ["batches", "trace"])
def test_every_shape_is_the_same_span(
    tmp_path: Path, shape: str, *, base64: bool, old: bool
) -> None:
    """Old and new interface, ids in base64 and hex."""
    batches = [batch(base64=base64, old=old)]
    value = {"batches": batches} if shape == "batches" else {"trace": {"resourceSpans": batches}}
    outcome = imported(tmp_path, written(tmp_path, value))
    assert outcome.imported.understood == {"spans": 1}
    found = outcome.spans()
    assert [(row["trace_id"], row["scope_name"]) for row in found] == [(TRACE.hex(), "demo")]
    assert outcome.calls() == [("get_weather", '{"city":"Paris"}', "ok")]


def test_old_names_in_otlp_lose_no_span(tmp_path: Path) -> None:
    """OTLP before 2022, which OTLP's own reader takes for resources without spans."""
    value = {"resourceSpans": [batch(base64=False, old=True)]}
    assert imported(tmp_path, written(tmp_path, value)).imported.added.total() == 1


def test_broken_batch_is_named(tmp_path: Path) -> None:
    """What is wrong is one line with its place; other lines are read."""
    broken = {"batches": [{"scopeSpans": [{"spans": [{"name": 3}]}]}]}
    file = written_lines(tmp_path, [{"batches": [batch(base64=True, old=False)]}, broken])
    outcome = imported(tmp_path, file)
    assert outcome.imported.added.total() == 1
    assert [note.removeprefix(f"{file}:2: ") for note in outcome.notes] == [
        "OTLP/JSON: resourceSpans[0].scopeSpans[0].spans[0].name: expected string, found 3"
    ]


def test_real_export_gives_its_call(tmp_path: Path, shared_data: Path) -> None:
    """86 spans of an agent behind HTTP, exported by Grafana."""
    samples = shared_data / "otlp-fixtures" / "agentevals-samples" / "samples"
    outcome = imported(tmp_path, samples / "tempo_export_with_batches.json")
    assert outcome.imported.added.total() == 86
    assert outcome.calls() == [("helm_list_releases", "{}", "ok")]
    runs = "SELECT agent_name, step_count, complete FROM trajectories"
    assert outcome.rows(runs) == [("helm-agent", 3, True)]
