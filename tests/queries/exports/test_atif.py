"""Runs leave a lake as ATIF, and come back by the importer with the same steps."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.forms.atif_documents import agent as agent_step
from tests.collector.importing.forms.atif_documents import (
    call,
    document,
    plain,
    result,
    user,
)
from tests.collector.importing.imports import imported, written_lines
from tests.collector.importing.raw_counts.lake import lake_counts
from tests.commands import tracegrade
from tests.headers import bare, columns_of, header, parameters_used, relations_read
from tests.queries.traces import (
    agent,
    capture,
    land,
    message,
    model,
    request,
    request_of,
    tool,
)

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.exports.atif import QUERIES, VERSION, write_atif

Row = dict[str, Any]
OF_MODELS = (
    "SELECT kind, tool_name, arguments, content, model FROM steps WHERE role = 'assistant' "
)
CALLS = (
    "SELECT calls.tool_name, calls.arguments, coalesce(calls.result, seen.content, "
    "calls.error_message), calls.status IN ('error', 'not_executed') "
    "FROM steps AS calls LEFT JOIN steps AS seen "
    "ON calls.trajectory_id = seen.trajectory_id AND seen.call_step = calls.step_index "
    "WHERE calls.kind = 'tool_call' ORDER BY ALL"
)


def exported(lake: Lake, trace: str | None = None) -> list[Row]:
    """Return the documents of a lake."""
    out = io.StringIO()
    write_atif(lake, trace, out, lambda _: None)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.fixture(scope="module")
def frameworks(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with captured traces of several dialects, whose calls tell their arguments."""
    lake = Lake.create(tmp_path_factory.mktemp("frameworks") / "lake")
    wanted = ("langgraph_openinference", "pydantic-ai_v5__toolerror", "vercel-ai_v7_otel__halluc")
    land(lake, *map(capture, wanted))
    build(lake)
    return lake


@pytest.mark.parametrize("name", QUERIES.paths)
def test_header_is_true(frameworks: Lake, name: str) -> None:
    """It names what is read, the parameters, the columns with their types and a total order."""
    sql = QUERIES.text(name)
    found = header(sql)
    with connect(frameworks) as con:
        answer = con.sql(bare(sql), params={"trace_id": None})
        rows, names = answer.fetchall(), answer.columns
        assert found.columns == columns_of(answer)
    keys = [tuple(str(row[names.index(key)]) for key in found.order) for row in rows]
    assert found.parameters == parameters_used(sql)
    assert found.reads == relations_read(sql)
    assert len(set(keys)) == len(keys) > 1


def test_a_run_comes_back_with_the_same_steps(tmp_path: Path) -> None:
    """Texts, thoughts, calls, results, failures, models, tokens and costs."""
    failed = result(2, "no", extra={"is_error": True})
    steps = [
        user("Go."),
        agent_step("", call(1, "a", x=[1]), call(2, "b"), results=[failed, result(1, "one")]),
        agent_step("So far.", metrics={"prompt_tokens": 3, "cached_tokens": 2}),
        user("On."),
        agent_step("", call(3, "route"), results=[result(3, "left")], llm_call_count=0),
        agent_step("Done.", call(4, "open")),
    ]
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    first = imported(
        tmp_path / "first",
        written_lines(tmp_path, [plain(), document(*steps, session="other")], "in.jsonl"),
    )
    counts = lake_counts(first)
    documents = exported(first.lake)
    second = imported(tmp_path / "second", written_lines(tmp_path, documents, "out.jsonl"))

    assert second.notes == []
    assert second.imported.ignored == {}
    assert lake_counts(second) == counts
    assert second.rows(CALLS) == first.rows(CALLS)
    assert second.rows(f"{OF_MODELS}ORDER BY ALL") == first.rows(f"{OF_MODELS}ORDER BY ALL")
    facts = (
        "SELECT agent_name, release, conversation_id, user_input, final_answer, turn_count, "
        "input_tokens, output_tokens, llm_call_count, model_usage[1].cache_read_tokens, "
        "model_usage[1].reasoning_tokens FROM trajectories ORDER BY conversation_id"
    )
    assert second.rows(facts) == first.rows(facts)


def test_runs_of_frameworks_come_back_with_their_calls(frameworks: Lake, tmp_path: Path) -> None:
    """Each with its arguments, its result and its status."""
    documents = exported(frameworks)
    back = imported(tmp_path, written_lines(tmp_path, documents))
    with connect(frameworks) as con:
        assert back.rows(CALLS) == con.sql(CALLS).fetchall()
    assert {each["schema_version"] for each in documents} == {VERSION}
    assert [each["step_id"] for each in documents[0]["steps"]] == [
        *range(1, len(documents[0]["steps"]) + 1)
    ]


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with a run of a task, one that calls another, and one without steps."""
    folder = tmp_path_factory.mktemp("several")
    record = {"task_id": "t1", "trial": 2, "success": True, "messages": [{"role": "user"}]}
    record["messages"] = [{"role": "user", "content": "Go."}, {"role": "ai", "content": "Done."}]
    called = [
        agent(1, agent_name="manager"),
        model(2, 1, at=1, said=[message("assistant", request("ask", "c1"))]),
        tool(3, 1, at=2, ms=30, tool_name="ask", gen_ai__tool__call__id="c1"),
        agent(4, 3, at=5, ms=20, agent_name="helper"),
        model(5, 4, at=6, said=[message("assistant", "Mine.")]),
        model(6, 1, at=40, said=[message("assistant", "Done.")]),
    ]
    lake = imported(folder, written_lines(folder, [record])).lake
    land(lake, request_of(called), request_of([agent(1, trace=3, agent_name="idle")]))
    build(lake)
    return lake


def test_a_run_that_was_called_is_inside_its_caller(several: Lake) -> None:
    """The result of the call refers to it, and `--trace` chooses both."""
    (found,) = exported(several, f"{1:032X}")
    (inner,) = found["subagent_trajectories"]
    references = [
        each["subagent_trajectory_ref"][0]["trajectory_id"]
        for step in found["steps"]
        for each in step.get("observation", {}).get("results", [])
    ]
    assert (found["agent"]["name"], inner["agent"]["name"]) == ("manager", "helper")
    assert references == [inner["trajectory_id"]]
    assert exported(several, f"{2:032x}") == []


def test_facts_of_a_task_are_extra(several: Lake) -> None:
    """Who trains on runs needs to know which succeeded."""
    task, other = sorted(exported(several), key=lambda each: "subagent_trajectories" in each)
    facts = {"task_id": "t1", "trial": 2, "outcome": "success"}
    assert task["extra"] == {"tracegrade": facts}
    assert "timestamp" not in task["steps"][0]  # the log had none
    assert "subagent_trajectories" in other


def test_the_command_writes_a_file_and_counts(tmp_path: Path) -> None:
    """Options of spans do not apply; spans that no run has yet are named."""
    found = imported(tmp_path, written_lines(tmp_path, [plain()]))
    arguments = ("export", "--lake", found.lake.location, "--format", "atif")
    unbuilt = tracegrade(*arguments)
    build(found.lake)
    ended = tracegrade(*arguments, "--out", str(tmp_path / "out.jsonl"))
    refused = tracegrade(*arguments, "--table", "logs")

    assert "spans not in runs yet" in unbuilt.stderr
    assert (ended.returncode, ended.stderr) == (0, "exported 1 runs\n")
    assert json.loads((tmp_path / "out.jsonl").read_text())["session_id"] == "session-1"
    assert "--to atif writes runs" in refused.stderr


def test_a_run_without_steps_is_left_out(several: Lake) -> None:
    """ATIF wants at least one step."""
    notes: list[str] = []
    out = io.StringIO()
    assert write_atif(several, f"{3:032x}", out, notes.append) == 0
    assert out.getvalue() == ""
    assert notes == ["runs without any step, which ATIF cannot hold, are left out: 1"]
