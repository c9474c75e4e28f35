"""Phoenix's data frame of spans becomes OpenInference's spans again, from Parquet and lines."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.collector.importing.imports import imported, written_lines
from tests.collector.importing.together import Scene
from tests.queries.traces import capture_path
from tests.scenes import built_together

TRACE = "0f" * 16
STEPS = [
    ("tool_call", "get_weather", '{"city":"Paris"}', "22C", "ok"),
    ("observation", "get_weather", None, "22C", None),
    ("answer", None, None, "It is 22C.", None),
]


def span(number: int, kind: str, name: str, **attributes: Any) -> dict[str, Any]:
    """Return a row of the frame."""
    return {
        "context.trace_id": TRACE,
        "context.span_id": f"{number:016x}",
        "parent_id": f"{1:016x}" if number > 1 else None,
        "name": name,
        "span_kind": kind,
        "start_time": f"2026-01-05T10:00:0{number}+00:00",
        "end_time": f"2026-01-05T10:00:0{number}.500000+00:00",
        "status_code": "OK",
        "status_message": "",
        "events": [],
        "attributes.openinference.span.kind": kind,
        **{f"attributes.{key}": value for key, value in attributes.items()},
    }


def said(content: str | None, *calls: dict[str, Any], role: str = "assistant") -> dict[str, Any]:
    """Return a message as the frame nests it."""
    return {"message": {"role": role, "content": content, "tool_calls": list(calls)}}


def frame() -> list[dict[str, Any]]:
    """Return a run with one call."""
    function = {"name": "get_weather", "arguments": '{"city":"Paris"}'}
    call = {"tool_call": {"id": "c1", "function": function}}
    asked = said("Weather in Paris?", role="user")
    heard = {"message": {"role": "tool", "content": "22C", "tool_call_id": "c1"}}
    tool = {
        "tool.name": "get_weather",
        "input.value": '{"city":"Paris"}',
        "output.value": "22C",
    }
    first = {"llm.input_messages": [asked], "llm.output_messages": [said(None, call)]}
    last = {"llm.input_messages": [asked, heard], "llm.output_messages": [said("It is 22C.")]}
    return [
        span(1, "AGENT", "agent", **{"input.value": "Weather in Paris?"}),
        span(2, "LLM", "llm", **first),
        span(3, "TOOL", "get_weather", **tool),
        span(4, "LLM", "llm", **last),
    ]


@built_together
def test_lines_give_their_steps(folder: Path) -> Scene:
    """As `to_json(orient="records", lines=True)` writes it; once more, it adds nothing."""
    file = written_lines(folder, frame())
    outcome = imported(folder, file)
    assert outcome.imported.understood == {"spans": 4}
    assert outcome.imported.ignored == {}
    assert outcome.again(file) == 0
    outcome = yield outcome
    assert outcome.steps() == STEPS


@built_together
def test_parquet_gives_the_same_spans(folder: Path) -> Scene:
    """Columns that a row lacks are not attributes; times to the nanosecond."""
    columns = dict.fromkeys(key for row in frame() for key in row)
    table = pa.Table.from_pylist([columns | row for row in frame()])
    times = pa.array([1_767_607_200_000_000_001 + n for n in range(4)], pa.timestamp("ns", "UTC"))
    table = table.set_column(table.schema.get_field_index("start_time"), "start_time", times)
    pq.write_table(table, folder / "spans.parquet")
    outcome = yield imported(folder, folder / "spans.parquet")
    assert min(row["start_ns"] for row in outcome.spans()) == 1_767_607_200_000_000_001
    assert outcome.steps() == STEPS


def test_nested_json_and_broken_rows(tmp_path: Path) -> None:
    """Attributes as an object are read; a row without ids is a note; other columns are counted."""
    row = frame()[2]
    nested = {key: row[key] for key in row if not key.startswith(("attributes.", "context."))}
    nested["context"] = {"trace_id": TRACE, "span_id": "ab" * 8}
    nested["attributes"] = {"tool": {"name": "x"}, "metadata": {"a": 1}}
    file = written_lines(tmp_path, [nested | {"cost": 3}, {"name": "no ids"}])
    outcome = imported(tmp_path, file)
    [found] = outcome.spans()
    attributes = dict(found["attributes"])
    assert (attributes["tool.name"], attributes["metadata"]) == ("x", '{"a":1}')
    assert outcome.imported.ignored == {"columns 'cost'": 1}
    assert "lacks context.trace_id" in outcome.notes[0]


COMPARED = """
SELECT
  steps.trajectory_id, step_index, kind, tool_name, tool_call_id, arguments, result, content, plan,
  status, error_message, offered, model, steps.input_tokens, steps.output_tokens,
  trajectories.agent_name, user_input, final_answer, conversation_id, offered_tools, complete
FROM steps INNER JOIN trajectories USING (trajectory_id)
ORDER BY ALL
"""


@pytest.mark.slow
def test_exports_of_phoenix_give_the_steps_of_the_spans_that_it_got(tmp_path: Path) -> None:
    """A frame as Parquet and as lines, and spans of its interface, of version 20.26."""
    exports = sorted((Path(__file__).parent / "exports").glob("phoenix_*"))
    names = [file.stem.removeprefix("phoenix_") for file in exports]
    sent = imported(tmp_path / "sent", *(capture_path(name) for name in names))
    kept = imported(tmp_path / "kept", *exports)

    assert len(names) == 3
    assert kept.imported.ignored == {}
    assert kept.notes == []
    assert kept.rows(COMPARED) == sent.rows(COMPARED)
