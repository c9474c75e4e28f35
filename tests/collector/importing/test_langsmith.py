"""LangSmith's runs become the spans that its own exporter would send, from lines and Parquet."""

import json
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.collector.importing.imports import imported, written, written_lines
from tests.collector.importing.raw_counts import RunCounts
from tests.collector.importing.raw_counts.lake import lake_counts
from tests.collector.importing.raw_counts.langsmith import raw_counts
from tests.collector.importing.together import Scene
from tests.scenes import built_together

ROOT, MODEL, TOOL, LAST = (f"0197e4f1-0000-7000-8000-00000000000{n}" for n in range(4))
TIMES = {"start_time": "2026-01-05T10:00:0{}Z", "end_time": "2026-01-05T10:00:0{}.500000Z"}
STEPS = [
    ("tool_call", "get_weather", '{"city":"Paris"}', "22C", "ok"),
    ("observation", "get_weather", None, "22C", None),
    ("answer", None, None, "It is 22C.", None),
]


def run(id_: str, second: int, type_: str, name: str, inputs: Any, outputs: Any) -> dict[str, Any]:
    """Return a run of the trace; all but the root are its children."""
    times = {key: TIMES[key].format(second) for key in TIMES}
    ids = {"id": id_, "trace_id": ROOT, "parent_run_id": None if id_ == ROOT else ROOT}
    extra = {"metadata": {"ls_model_name": "gpt-4o", "thread_id": "t1"}}
    said = {"inputs": inputs, "outputs": outputs, "extra": extra, "error": None}
    return {**ids, **times, "run_type": type_, "name": name, **said}


def said(**fields: Any) -> dict[str, Any]:
    """Return what a chat model answers."""
    kwargs = {"type": "ai", "content": "", **fields}
    message = {"lc": 1, "type": "constructor", "id": ["AIMessage"], "kwargs": kwargs}
    return {"generations": [[{"text": "", "message": message}]]}


def runs() -> list[dict[str, Any]]:
    """Return a run of LangGraph's: a call, its result, the answer."""
    asked = {"messages": [{"role": "user", "content": "Weather in Paris?"}]}
    call = {"name": "get_weather", "args": {"city": "Paris"}, "id": "c1", "type": "tool_call"}
    result = {"type": "tool", "content": "22C", "tool_call_id": "c1", "name": "get_weather"}
    heard = [*asked["messages"], {"role": "tool", "content": "22C", "tool_call_id": "c1"}]
    answer = {"messages": [{"type": "ai", "content": "It is 22C."}]}
    return [
        run(ROOT, 0, "chain", "LangGraph", asked, answer),
        run(MODEL, 1, "llm", "ChatOpenAI", asked, said(tool_calls=[call])),
        run(TOOL, 2, "tool", "get_weather", {"city": "Paris"}, {"output": result}),
        run(LAST, 3, "llm", "ChatOpenAI", {"messages": heard}, said(content="It is 22C.")),
    ]


@built_together
def test_runs_a_line_give_their_steps(folder: Path) -> Scene:
    """A run of a graph; once more, it adds nothing; UUIDs of traces stay readable."""
    file = written_lines(folder, runs())
    outcome = imported(folder, file)
    assert outcome.imported.understood == {"spans": 4}
    assert outcome.again(file) == 0
    outcome = yield outcome
    assert {row["trace_id"] for row in outcome.spans()} == {ROOT.replace("-", "")}
    assert outcome.steps() == STEPS


@built_together
def test_parquet_gives_the_same_steps(folder: Path) -> Scene:
    """As the bulk export writes it: JSON in texts, times as timestamps."""
    texts = ("inputs", "outputs", "extra")
    rows = [{**each, **{key: json.dumps(each[key]) for key in texts}} for each in runs()]
    table = pa.Table.from_pylist(rows)
    for name in TIMES:
        times = table[name].cast(pa.timestamp("us", "UTC"))
        table = table.set_column(table.schema.get_field_index(name), name, times)
    pq.write_table(table, folder / "runs.parquet")
    outcome = yield imported(folder, folder / "runs.parquet")
    assert outcome.imported.faults == 0
    assert min(row["start_ns"] for row in outcome.spans()) == 1_767_607_200_000_000_000
    assert outcome.steps() == STEPS


def test_children_in_their_run_are_read(tmp_path: Path) -> None:
    """A root with its children inside tells their trace and parent."""
    root, *others = runs()
    for each in others:
        del each["trace_id"], each["parent_run_id"]
    outcome = imported(tmp_path, written(tmp_path, {**root, "child_runs": others}))
    parents = {row["parent_span_id"] for row in outcome.spans()}
    assert len(outcome.spans()) == 4
    assert len(parents) == 2


def test_broken_runs_are_named(tmp_path: Path) -> None:
    """A line without a type is one note; a run's error is its span's."""
    failed = {**runs()[2], "error": "ValueError('down')"}
    file = written_lines(tmp_path, [failed, {"id": "x"}, "nonsense"])
    outcome = imported(tmp_path, file, format_="langsmith")
    assert [row["status_message"] for row in outcome.spans()] == ["ValueError('down')"]
    assert [note.removeprefix(f"{file}:")[0] for note in outcome.notes] == ["2", "3"]
    assert "lacks an id or a run_type" in outcome.notes[0]


def test_damaged_parquet_is_told(tmp_path: Path) -> None:
    """A cut file is one line, not a traceback."""
    pq.write_table(pa.Table.from_pylist([{"id": ROOT}]), tmp_path / "runs.parquet")
    whole = (tmp_path / "runs.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    outcome = imported(tmp_path, tmp_path / "cut.parquet", format_="langsmith")
    assert outcome.imported.faults == 1
    assert "after 0 rows" in outcome.notes[0]


def test_feedback_on_success_is_a_verdict(tmp_path: Path) -> None:
    """On the trace that got it; other feedback is counted, a model call's cost stands on it."""
    root, model, *_ = runs()
    root["feedback_stats"] = {"correctness": {"n": 2, "avg": 0.5}, "toxicity": {"n": 1, "avg": 0}}
    model |= {"feedback_stats": {"correctness": {"avg": 1}}, "total_cost": "0.25"}
    inner = {**runs()[2], "feedback_stats": {"passed": {"avg": 1}}}
    del inner["parent_run_id"]
    whole = {**root, "child_runs": [inner]}
    outcome = imported(tmp_path, written_lines(tmp_path, [whole, model]))

    assert outcome.imported.understood == {"spans": 3, "scores": 1}
    assert outcome.imported.ignored == {
        "feedback 'correctness'": 1,
        "feedback 'passed'": 1,
        "feedback 'toxicity'": 1,
    }
    trace = ROOT.replace("-", "")
    said = outcome.imported_rows("SELECT trajectory_id, subject, value, source FROM verdicts")
    assert said == [(trace, "success", 0.5, "langsmith correctness")]
    cost = "attributes['gen_ai.usage.cost']"
    found = outcome.imported_rows(f"SELECT {cost} FROM spans WHERE {cost} IS NOT NULL")
    assert found == [("0.25",)]


WEATHER = '{"city":"Paris"}'
FAILED = "Error: weather backend down"
UNKNOWN = "Error: nope_tool is not a valid tool, try one of [get_weather]."
REAL = {
    "langgraph_normal": [
        ("tool_call", "get_weather", WEATHER, "22C in Paris", "ok"),
        ("observation", "get_weather", None, "22C in Paris", None),
        ("answer", None, None, "It is 22C in Paris.", None),
    ],
    "langgraph_halluc": [
        ("tool_call", "nope_tool", WEATHER, None, "not_executed"),
        ("observation", "nope_tool", None, UNKNOWN, None),
        ("answer", None, None, "It is 22C in Paris.", None),
    ],
    "sdk_toolerror": [
        ("thought", None, None, "I should look this up.", None),
        ("tool_call", "get_weather", WEATHER, FAILED, "error"),
        ("observation", "get_weather", None, FAILED, None),
        ("thought", None, None, "I have the answer now.", None),
        ("answer", None, None, "It is 22C in Paris.", None),
    ],
}


def as_parquet(folder: Path, lines: Path) -> Path:
    """Write an export as the bulk export does: what is nested as JSON in texts."""
    rows = [
        {
            key: json.dumps(value) if isinstance(value, dict | list) else value
            for key, value in json.loads(line).items()
        }
        for line in lines.read_text().splitlines()
    ]
    columns = dict.fromkeys(key for row in rows for key in row)
    path = folder / "runs.parquet"
    pq.write_table(pa.Table.from_pylist([columns | row for row in rows]), path)
    return path


def test_what_the_sdk_sent_gives_its_steps(tmp_path: Path) -> None:
    """Of version 0.15, from LangGraph and a wrapped OpenAI client; as Parquet, the same spans."""
    lines = [Path(__file__).parent / "exports" / f"langsmith_{name}.jsonl" for name in REAL]
    outcome = imported(tmp_path, *lines)
    found = outcome.rows(
        "SELECT list((kind, tool_name, arguments, coalesce(content, result), steps.status) "
        "ORDER BY step_index), any_value((agent_name, trajectories.input_tokens, final_answer)) "
        "FROM trajectories INNER JOIN steps USING (trajectory_id, agent_name) "
        "GROUP BY trajectory_id ORDER BY trajectory_id"
    )
    traces = [json.loads(each.read_text().splitlines()[0])["trace_id"] for each in lines]
    expected = [steps for _, steps in sorted(zip(traces, REAL.values(), strict=True))]

    assert (outcome.notes, outcome.imported.ignored) == ([], {})
    assert lake_counts(outcome) == reduce(RunCounts.plus, map(raw_counts, lines))
    assert [steps for steps, _ in found] == expected
    assert {said for _, said in found} == {("weather_agent", 100, "It is 22C in Paris.")}
    assert [outcome.again(as_parquet(tmp_path, each)) for each in lines] == [0, 0, 0]
