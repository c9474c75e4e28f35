"""ATIF trajectories become runs: plain, parallel, failed, with sub-agents, images, and broken."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.forms.atif_documents import (
    Row,
    agent,
    at,
    call,
    document,
    plain,
    result,
    user,
)
from tests.collector.importing.imports import imported, written, written_lines
from tests.collector.importing.raw_counts import RunCounts
from tests.collector.importing.raw_counts.atif import raw_counts
from tests.collector.importing.raw_counts.lake import lake_counts
from tests.collector.importing.together import Scene
from tests.scenes import built_together

from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.known_formats import read_file

PICTURE: Row = {"type": "image", "source": {"media_type": "image/png", "path": "images/1.png"}}


def several() -> list[Row]:
    """Return runs of every class that raw files are counted for."""
    failed = result(2, "no such file", extra={"is_error": True})
    parallel = agent(
        "Executed bash c1", call(1, command="ls"), call(2, command="cat x"),
        results=[result(2, "no"), result(1, "x")],
    )  # fmt: skip
    inner = document(agent("Seen.", metrics={"prompt_tokens": 3}), trajectory_id="inner")
    return [
        plain(),
        document(user("Go."), parallel, session="parallel"),
        document(user("Go."), agent("", call(2), results=[failed]), session="failed"),
        document(agent("Asked.", call(1)), session="outer", subagent_trajectories=[inner]),
        document(session="empty"),
    ]


@built_together
def test_a_trajectory_is_a_run(folder: Path) -> Scene:
    """Thought, text, call, result and answer are steps, with times, tokens and cost."""
    outcome = yield imported(folder, written(folder, plain()))

    assert outcome.notes == []
    assert outcome.imported.ignored == {"fields 'logprobs' of metrics": 1}
    assert outcome.rows(
        "SELECT kind, tool_name, arguments, coalesce(content, result), status, model, "
        "input_tokens, reasoning_tokens FROM steps ORDER BY step_index"
    ) == [
        ("thought", None, None, "List them.", None, "model-a", 10, 2),
        ("message", None, None, "I look.", None, "model-a", None, None),
        ("tool_call", "bash", '{"command":"ls"}', "a b", "ok", "model-a", None, None),
        ("observation", "bash", None, "a b", None, None, None, None),
        ("answer", None, None, "Two.", None, "model-a", 20, None),
    ]
    assert outcome.rows(
        "SELECT agent_name, release, conversation_id, user_input, final_answer, output_tokens, "
        "model_usage[1].stated_usd, start_time::VARCHAR FROM trajectories"
    ) == [("coder", "3.1", "session-1", "Count the files.", "Two.", 6, 0.5, "2026-04-01 09:00:01")]


@built_together
def test_parallel_calls_have_their_own_results(folder: Path) -> Scene:
    """Results name their calls, in any order; a single result without a name is the first's."""
    both = agent("", call(1, "a"), call(2, "b"), results=[result(2, "two"), result(1, "one")])
    last = agent("", call(3, "c"), call(4, "d"), results=[result(None, "screen")])
    outcome = yield imported(folder, written(folder, document(user("Go."), both, last)))

    assert outcome.rows(
        "SELECT tool_name, result, status FROM steps WHERE kind = 'tool_call' ORDER BY tool_name"
    ) == [
        ("a", "one", "ok"),
        ("b", "two", "ok"),
        ("c", "screen", "ok"),
        ("d", None, "unknown"),
    ]


@pytest.mark.parametrize(
    "mark", [{"is_error": True}, {"tool_result_is_error": True}, {"status": "error"}]
)
def test_a_failed_result_is_marked(tmp_path: Path, mark: Row) -> None:
    """Harbor's agents write the mark into a result's `extra`."""
    step = agent("", call(1), results=[result(1, "no", extra=mark)])
    spans = imported(tmp_path, written(tmp_path, document(step))).spans()
    assert [each["status_code"] for each in spans if each["name"] == "execute_tool bash"] == [2]


def test_the_mark_of_a_step_counts_for_its_only_result(tmp_path: Path) -> None:
    """Older files of Claude Code have the mark in the step; with two results it says nothing."""
    mark = {"tool_result_is_error": True}
    one = agent("", call(1, "one"), results=[result(1, "no")], extra=mark)
    two = agent("", call(2), call(3), results=[result(2, "x"), result(3, "y")], extra=mark)
    spans = imported(tmp_path, written(tmp_path, document(one, two))).spans()
    assert [each["name"] for each in spans if each["status_code"] == 2] == ["execute_tool one"]


@built_together
def test_a_sub_agent_is_a_run_of_the_conversation(folder: Path) -> Scene:
    """Its copied prompt is its input, and its result in the parent is the reference's summary."""
    copied = user("Research it.", is_copied_context=True)
    inner = document(copied, agent("Old.", is_copied_context=True), agent("Found."))
    inner |= {"session_id": None, "trajectory_id": "inner", "agent": {"name": "researcher"}}
    reference = {"trajectory_id": "inner", "extra": {"summary": "It researched."}}
    ask = agent("", call(1, "delegate"), results=[result(1, subagent_trajectory_ref=[reference])])
    whole = document(user("Go."), ask, subagent_trajectories=[inner])
    outcome = yield imported(folder, written(folder, whole))

    assert outcome.imported.ignored == {"steps copied from an earlier trajectory": 1}
    assert outcome.rows(
        "SELECT agent_name, conversation_id, user_input, final_answer FROM trajectories ORDER BY 1"
    ) == [
        ("coder", "session-1", "Go.", None),
        ("researcher", "session-1", "Research it.", "Found."),
    ]
    assert outcome.rows("SELECT result FROM steps WHERE kind = 'tool_call'") == [
        ("It researched.",)
    ]


@built_together
def test_a_step_without_a_model_call_has_only_calls(folder: Path) -> Scene:
    """A program that dispatches calls is not a model: it makes no answer and no tokens."""
    step = agent("By rule.", call(1, "route"), results=[result(1, "left")], llm_call_count=0)
    outcome = yield imported(folder, written(folder, document(user("Go."), step, agent("Left."))))

    assert outcome.imported.ignored == {"texts of steps without a model call": 1}
    assert outcome.rows("SELECT llm_call_count, tool_call_count FROM trajectories") == [(1, 1)]
    assert outcome.calls() == [("route", "{}", "ok")]


@built_together
def test_an_interrupted_run_ends_with_an_open_call(folder: Path) -> Scene:
    """A call without a result is a step; nothing is made up for it."""
    outcome = yield imported(folder, written(folder, document(user("Go."), agent("", call(1)))))
    assert outcome.calls() == [("bash", "{}", "unknown")]
    assert outcome.rows("SELECT final_answer FROM trajectories") == [(None,)]


def test_a_continued_run_is_noted_and_its_copies_are_left_out(tmp_path: Path) -> None:
    """A file alone does not have the rest; a grown file adds what is new."""
    file = written(tmp_path, document(user("Go."), agent("On."), continued_trajectory_ref="t2"))
    outcome = imported(tmp_path, file)
    assert outcome.notes == [
        f"{file}:1: it is continued in another file; "
        "import the folder of Harbor's job to join them"
    ]
    written(tmp_path, document(user("Go."), agent("On."), agent("Done.")))
    assert outcome.again(file) == 2  # the new call, and the run that ends later


def test_images_are_counted_and_texts_next_to_them_read(tmp_path: Path) -> None:
    """A result with an image keeps its parts as JSON, with the path of the image."""
    parts = [{"type": "text", "text": "Look."}, PICTURE]
    step = agent("", call(1), results=[result(1, parts)])
    outcome = imported(tmp_path, written(tmp_path, document(user(parts), step)))

    assert outcome.imported.ignored == {"content blocks of type 'image'": 1}
    (found,) = (each for each in outcome.spans() if each["name"] == "execute_tool bash")
    assert "images/1.png" in json.dumps(found["attributes"])


def test_tokens_that_a_prompt_cannot_hold_are_added(tmp_path: Path) -> None:
    """Harbor's file of Claude Code leaves tokens written to the cache out of the prompt's."""
    metrics: Row = {"prompt_tokens": 12, "cached_tokens": 10}
    metrics["extra"] = {"cache_creation_input_tokens": 5}
    steps = [agent("a", metrics=metrics), agent("b", metrics=metrics | {"prompt_tokens": 15})]
    spans = imported(tmp_path, written(tmp_path, document(*steps))).spans()
    stated = [dict(each["attributes"]).get("gen_ai.usage.input_tokens") for each in spans]
    assert [each for each in stated if each] == ["17", "15"]


@built_together
def test_a_lake_holds_what_plain_code_counts(folder: Path) -> Scene:
    """Files of all classes: calls, failures, texts, thoughts, tokens."""
    files = [written(folder, each, f"{n}.json") for n, each in enumerate(several())]
    outcome = yield imported(folder, *files)

    raw = RunCounts()
    for file in files:
        raw = raw.plus(raw_counts(file))
    assert lake_counts(outcome) == raw
    assert raw.failed_calls == 1


def test_a_long_run_is_read_whole(tmp_path: Path) -> None:
    """Ten thousand steps, with arguments of a megabyte in one of them."""
    steps = [agent("x", call(n), results=[result(n, "y")]) for n in range(10_000)]
    steps[5] = agent("x", call(5, text="z" * 2**20), results=[result(5, "y")])
    (part,) = read_file(written(tmp_path, document(*steps)), ReadOptions())
    assert (part.fault, part.understood["tool results"]) == (None, 10_000)


def test_every_version_is_found(tmp_path: Path) -> None:
    """The version is named by the file; those to come are read as the newest."""
    values = [document(schema_version=f"ATIF-v1.{minor}") for minor in range(10)]
    parts = list(read_file(written_lines(tmp_path, values), ReadOptions()))
    assert [each.fault for each in parts] == [None] * 10


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ('{"schema_version": "ATIF-v1.7", "steps": [', "the JSON that begins here does not end"),
        ('{"schema_version": "ATIF-v1.7"}', "no trajectory of ATIF"),
        ("[]", "no trajectory is in it"),
    ],
)
def test_a_broken_file_costs_itself(tmp_path: Path, broken: str, reason: str) -> None:
    """The files around it are imported."""
    file = tmp_path / "broken.json"
    file.write_text(broken)
    outcome = imported(tmp_path, file, written(tmp_path, plain()), format_="atif")
    assert reason in outcome.notes[0]
    assert outcome.imported.understood["trajectories"] == 1


def test_values_of_the_wrong_type_are_counted(tmp_path: Path) -> None:
    """Steps, results, sources, fields and sub-agents that are none."""
    steps: list[Any] = [
        {"source": "robot"}, user(7), agent(None, metrics={"cost_usd": 10**400, "x": 1}),
        agent("a", results=[result(None, "b")]), agent("", call(1), results=["c"]),
        {"source": "system", "message": "late", "observation": {"results": [{}]}},
        user("Go.", timestamp=at(1), color="red"),
    ]  # fmt: skip
    whole = document(*steps, subagent_trajectories=[5], title="x", agent="me")
    whole["steps"].append(3)
    outcome = imported(tmp_path, written(tmp_path, whole))

    assert outcome.imported.ignored == {
        "steps of source 'robot'": 1,
        "contents that are neither text nor blocks": 1,
        "messages without any readable content": 1,
        "fields 'x' of metrics": 1,
        "results of steps without a tool call": 1,
        "results that are not objects": 1,
        "messages of the system during the run": 1,
        "results of steps of the system": 1,
        "fields 'color' of steps": 1,
        "messages of the user that no model call follows": 1,
        "fields 'title' of trajectories": 1,
        "steps that are not objects": 1,
    }
    assert ["no trajectory of ATIF" in note for note in outcome.notes] == [True]
