"""OpenHands before its SDK: failures, delegates, and the histories that its benchmarks write."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.forms.test_openhands import acts, metrics, observes, old, says
from tests.collector.importing.imports import imported, written, written_lines
from tests.collector.importing.raw_counts.lake import lake_counts
from tests.collector.importing.raw_counts.openhands_before_sdk import raw_counts
from tests.collector.importing.together import Scene
from tests.scenes import built_together

Row = dict[str, Any]


def call(number: int, action: str, tokens: int = 5, **args: Any) -> Row:
    """Return an action, which a response of the model has asked for."""
    usage = {"prompt_tokens": tokens, "completion_tokens": 1}
    response = {"id": f"m{number}", "model": "model-b", "usage": usage}
    known = {"function_name": action, "tool_call_id": f"c{number}", "model_response": response}
    return old(number, action=action, args=args, tool_call_metadata=known)


def result(number: int, observation: str, text: str = "", **fields: Any) -> Row:
    """Return the result of the action before."""
    found = {"observation": observation, "content": text, "extras": {}, "cause": number - 1}
    known = {"tool_call_id": f"c{number - 1}"}
    return old(number, tool_call_metadata=known) | found | fields


def history() -> list[Row]:
    """Return events in which most calls fail, each in a way of its own."""
    asked = old(0, "user", action="message", args={"content": "Mend it. 修复 🛠"})
    lost = {"observation": "error", "extras": {"error_id": ""}}
    return [
        asked,
        call(1, "browse_interactive", thought="Look."),
        result(2, "browse", "page", extras={"error": True}),
        call(3, "edit", path="C:\\x\\a.py"),
        result(4, "edit", "ERROR:\nNo replacement was performed."),
        call(5, "run", command="ls"),
        result(6, "run", "no ls", success=False),
        call(7, "read", path="a.py"),
        result(8, "read", "1 # ERROR:\n2 # is in this file"),
        old(9, content="Function 'finish/' not found in available tools: ['finish']") | lost,
        call(10, "finish", final_thought="Done."),
    ]


@built_together
def test_each_kind_of_failure_is_a_failed_call(folder: Path) -> Scene:
    """Also a call of a tool that does not exist, of which there is only an error."""
    file = written(folder, history())
    outcome = yield imported(folder, file)

    assert outcome.rows(
        "SELECT tool_name, status FROM steps WHERE kind = 'tool_call' ORDER BY step_index"
    ) == [
        ("browse_interactive", "error"),
        ("edit", "error"),
        ("run", "error"),
        ("read", "ok"),
        ("finish/", "error"),
    ]
    assert lake_counts(outcome) == raw_counts(file)


def delegating() -> list[Row]:
    """Return a run whose delegate does the work, with metrics that both share."""
    return [
        old(0, "user", action="message", args={"content": "Go."}),
        old(1, action="delegate", args={"agent": "BrowsingAgent", "inputs": {"task": "Look."}})
        | {"llm_metrics": metrics(10, 1, 0.25)},
        old(2, "user", action="message", args={"content": "TASK: Look."}),
        old(3, action="browse", args={"url": "x"}, llm_metrics=metrics(30, 3, 0.5)),
        old(4, observation="browse", content="page", extras={}, cause=3),
        old(5, action="finish", args={"final_thought": "Seen."}, llm_metrics=metrics(60, 6, 0.5)),
        old(6, observation="delegate", content="Seen.", extras={"outputs": {}}, cause=1),
        old(7, action="finish", args={"final_thought": "Done."}, llm_metrics=metrics(70, 8, 1)),
    ]


@built_together
def test_a_delegate_is_a_run_of_the_same_conversation(folder: Path) -> Scene:
    """It has the events between the action that delegates and the result of that."""
    outcome = yield imported(folder, written(folder, delegating()))

    assert outcome.rows(
        "SELECT agent_name, user_input, final_answer, input_tokens, "
        "model_usage[1].stated_usd, count(*) OVER (PARTITION BY conversation_id) "
        "FROM trajectories ORDER BY agent_name"
    ) == [
        ("BrowsingAgent", "TASK: Look.", "Seen.", 50, 0.25, 2),
        ("openhands", "Go.", "Done.", 20, 0.75, 2),
    ]
    assert outcome.rows(
        "SELECT tool_name, result FROM steps WHERE kind = 'tool_call' ORDER BY tool_name"
    ) == [("browse", "page"), ("delegate", "Seen.")]


@built_together
def test_an_interrupted_delegate_has_what_it_did(folder: Path) -> Scene:
    """The action that delegates has no result then."""
    outcome = yield imported(folder, written(folder, delegating()[:4]))

    assert outcome.rows("SELECT agent_name, tool_name, status FROM steps ORDER BY 1") == [
        ("BrowsingAgent", "browse", "unknown"),
        ("openhands", "delegate", "unknown"),
    ]


@built_together
def test_folders_of_subagents_are_runs_of_the_conversation(folder: Path) -> Scene:
    """The SDK keeps them in the folder of the conversation that started them."""
    whole = folder / "conversation"
    for place, event in [(whole, says(1, "Go.")), (whole / "subagents" / "x", says(1, "Look."))]:
        (place / "events").mkdir(parents=True)
        (place / "base_state.json").write_text("{}")
        events = [event, acts(2, "c1", command="ls"), observes(3, "c1", "a")]
        for number, each in enumerate(events):
            written(place / "events", each, f"event-{number}.json")
    outcome = yield imported(folder, whole)

    assert outcome.rows(
        "SELECT agent_name, user_input, conversation_id FROM trajectories ORDER BY 1"
    ) == [
        ("openhands", "Go.", "conversation"),
        ("openhands-subagent", "Look.", "conversation"),
    ]


def record(task: str, events: list[Any], **fields: Any) -> Row:
    """Return a record of a benchmark."""
    tokens = {"prompt_tokens": 20, "completion_tokens": 5}
    found = {"metadata": {"git_commit": "abc"}, "metrics": {"accumulated_token_usage": tokens}}
    return {
        "instance_id": task,
        "instruction": "Go.",
        "test_result": {},
        "history": events,
        **found,
        **fields,
    }


@built_together
def test_records_of_benchmarks_are_runs_with_verdicts(folder: Path) -> Scene:
    """A limit is a failure; an error of the runtime is no attempt."""
    report = {"report": {"resolved": True}}
    records = [
        record("a-1", history(), test_result=report),
        record("a-2", history()[:3], error="RuntimeError: Agent reached maximum iteration"),
        record("a-3", history()[:3], error="AgentRuntimeTimeoutError", test_result=report),
        record("a-4", []),
        record("a-5", history()[:1], test_result={"report": {"resolved": False}}),
    ]
    file = written_lines(folder, records)
    outcome = yield imported(folder, file)

    assert outcome.notes == [f"{file}:4: no message or action of OpenHands is in it"]
    assert outcome.rows(
        "SELECT task_id, release, outcome, value FROM trajectories "
        "LEFT JOIN verdicts USING (trajectory_id) ORDER BY task_id"
    ) == [
        ("a-1", "abc", "success", 1.0),
        ("a-2", "abc", None, 0.0),
        ("a-3", "abc", "invalid", None),
        ("a-5", "abc", "failure", 0.0),
    ]


@pytest.mark.parametrize("paired", [False, True])
@built_together
def test_the_oldest_events_have_their_arguments_among_their_keys(
    folder: Path, paired: bool
) -> Scene:
    """They name no source; the oldest histories pair an action with its observation."""
    acted = {"action": "run", "command": "ls", "thought": "Look.", "is_confirmed": "confirmed"}
    seen = {"observation": "run", "command": "ls", "content": "no", "exit_code": 2}
    asked = {"action": "message", "content": "Go.", "wait_for_response": False}
    ended = {"action": "finish", "outputs": {}, "thought": "Done."}
    events: list[Any] = [[asked, {}], [acted, seen], [ended, {}]] if paired else [
        asked, acted, seen, ended,
    ]  # fmt: skip
    issue = {"owner": "o", "repo": "r", "number": 7}
    fields = {"issue": issue, "git_patch": "", "success": True, "result_explanation": "fine"}
    file = written_lines(folder, [{"history": events, **fields}])
    outcome = yield imported(folder, file)

    assert outcome.rows(
        "SELECT task_id, user_input, final_answer, error_count FROM trajectories"
    ) == [("o/r#7", "Go.", "Done.", 1)]
    assert outcome.rows("SELECT source, value, evidence FROM verdicts") == [
        ("judge:openhands success", 1.0, "fine")
    ]
    if not paired:
        assert lake_counts(outcome) == raw_counts(file)


def test_records_that_were_imported_add_nothing(tmp_path: Path) -> None:
    """Only the new ones of a grown file are added."""
    file = written_lines(tmp_path, [record("a-1", history())])
    outcome = imported(tmp_path, file)
    assert outcome.again(file) == 0

    with file.open("a") as grown:
        grown.write(json.dumps(record("a-2", history()[:3])) + "\n")
    assert outcome.again(file) == 3
