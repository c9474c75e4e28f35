"""Events of OpenHands, of its SDK and of the versions before: files, folders, broken ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.imports import imported, written, written_lines
from tests.collector.importing.raw_counts import RunCounts
from tests.collector.importing.raw_counts.lake import lake_counts
from tests.collector.importing.raw_counts.openhands import raw_counts
from tests.collector.importing.together import Scene
from tests.scenes import built_together

Row = dict[str, Any]


def event(second: int, kind: str, source: str = "agent", **fields: Any) -> Row:
    """Return an event of the SDK."""
    time = f"2026-06-16T05:{second // 60:02}:{second % 60:02}.5"
    return {"id": f"e{second}", "timestamp": time, "source": source, "kind": kind, **fields}


def says(second: int, text: str, source: str = "user") -> Row:
    """Return a message."""
    content = [{"type": "text", "text": text}]
    return event(second, "MessageEvent", source, llm_message={"role": source, "content": content})


def acts(second: int, call: str, tool: str = "terminal", **fields: Any) -> Row:
    """Return an action; `command` or `message` are its arguments."""
    known = {"response": "r1", "thought": "", "reasoning": None} | fields
    arguments = {key: known[key] for key in ("command", "message", "thought_of") if key in known}
    return event(
        second,
        "ActionEvent",
        thought=[{"type": "text", "text": known["thought"]}] if known["thought"] else [],
        reasoning_content=known["reasoning"],
        action={**arguments, "kind": "Action"},
        tool_name=tool,
        tool_call_id=call,
        tool_call={"id": call, "name": tool, "arguments": json.dumps(arguments)},
        llm_response_id=known["response"],
    )


def observes(second: int, call: str, text: str, tool: str = "terminal", **fields: Any) -> Row:
    """Return the result of an action."""
    content = [{"type": "text", "text": text}]
    found = {"content": content, "is_error": False, "exit_code": 0} | fields
    return event(
        second, "ObservationEvent", "environment",
        tool_name=tool, tool_call_id=call, observation=found, action_id="x",
    )  # fmt: skip


def stats(second: int, prompt: int, output: int, usages: list[Row] | None = None) -> Row:
    """Return the tokens so far."""
    tokens = {"prompt_tokens": prompt, "completion_tokens": output, "cache_read_tokens": 1}
    model = {"model_name": "model-a", "accumulated_cost": 0.5, "token_usages": usages or []}
    value = {"usage_to_metrics": {"default": model | {"accumulated_token_usage": tokens}}}
    return event(second, "ConversationStateUpdateEvent", "environment", key="stats", value=value)


def conversation() -> list[Row]:
    """Return a run with parallel calls, a failure, and an answer."""
    prompt = {"type": "text", "text": "You are an agent."}
    return [
        event(0, "SystemPromptEvent", system_prompt=prompt, tools=[{"name": "terminal"}]),
        says(1, "Fix it."),
        acts(2, "c1", command="ls", thought="I look.", reasoning="Look first."),
        acts(2, "c2", command="cat x"),
        observes(3, "c2", "no x", exit_code=1),
        observes(4, "c1", "a b"),
        event(5, "Condensation"),
        acts(6, "c3", "finish", message="Done.", response="r2"),
        observes(7, "c3", "Done.", "finish"),
        stats(8, 100, 10),
    ]


@built_together
def test_a_file_of_events_is_a_run(folder: Path) -> Scene:
    """Actions of one response are one message; finishing is the answer."""
    outcome = yield imported(folder, written_lines(folder, conversation()))

    assert outcome.notes == []
    assert outcome.imported.ignored == {"events of kind 'Condensation'": 1}
    assert outcome.steps() == [
        ("thought", None, None, "Look first.", None),
        ("message", None, None, "I look.", None),
        ("tool_call", "terminal", '{"command":"ls"}', "a b", "ok"),
        ("observation", "terminal", None, "a b", None),
        ("tool_call", "terminal", '{"command":"cat x"}', "no x", "error"),
        ("observation", "terminal", None, "no x", None),
        ("answer", None, None, "Done.", None),
    ]
    assert outcome.rows(
        "SELECT agent_name, user_input, final_answer, llm_call_count, input_tokens, "
        "output_tokens, model_usage[1].model, model_usage[1].stated_usd FROM trajectories"
    ) == [("openhands", "Fix it.", "Done.", 2, 100, 10, "model-a", 0.5)]


def test_a_folder_of_a_conversation_is_a_run(tmp_path: Path) -> None:
    """Events are in files that are named in their order; a broken one costs itself."""
    place = tmp_path / "conversation"
    (place / "events").mkdir(parents=True)
    (place / "base_state.json").write_text("{}")
    for number, each in enumerate(conversation()):
        written(place / "events", each, f"event-{number:05}-x.json")
    (place / "events" / "event-00099-y.json").write_text('{"kind": ')
    outcome = imported(tmp_path, place)

    assert outcome.imported.faults == 1
    assert outcome.imported.understood["tool calls"] == 2
    assert outcome.again(place) == 0


@built_together
def test_tokens_of_each_response_are_at_its_message(folder: Path) -> Scene:
    """Newer statistics have them by the response's id."""
    usages = [
        {"response_id": f"r{n}", "prompt_tokens": 40 * n, "completion_tokens": n} for n in (1, 2)
    ]
    outcome = yield imported(
        folder, written_lines(folder, [*conversation()[:-1], stats(9, 120, 3, usages)])
    )
    assert outcome.rows("SELECT input_tokens FROM steps WHERE input_tokens > 0 ORDER BY 1") == [
        (40,),
        (80,),
    ]


@built_together
def test_errors_and_rejections_are_failed_calls(folder: Path) -> Scene:
    """A command that still runs has the code -1, which is not a failure."""
    events = [
        says(1, "Go."),
        acts(2, "c1", command="sleep"),
        observes(3, "c1", "running", exit_code=-1),
        acts(4, "c2", response="r2"),
        event(5, "AgentErrorEvent", tool_name="terminal", tool_call_id="c2", error="bad args"),
        acts(6, "c3", response="r3"),
        event(7, "UserRejectObservation", tool_name="terminal", tool_call_id="c3")
        | {"rejection_reason": "too risky"},
        acts(8, "c4", "think", response="r4"),
    ]
    outcome = yield imported(folder, written_lines(folder, events))
    assert outcome.rows(
        "SELECT result, status FROM steps WHERE kind = 'tool_call' ORDER BY 1"
    ) == [
        ("bad args", "error"),
        ("running", "ok"),
        ("too risky", "error"),
    ]


def old(number: int, source: str = "agent", **fields: Any) -> Row:
    """Return an event of a version before 1."""
    return {"id": number, "timestamp": f"2025-06-16T05:00:{number:02}", "source": source, **fields}


@built_together
def test_a_trajectory_of_older_versions_is_a_run(folder: Path) -> Scene:
    """Each event has all tokens so far; calls are named by the tool, else the action."""
    known = {"function_name": "execute_bash", "tool_call_id": "c1"}
    known["model_response"] = {"id": "m1", "model": "model-b"}  # type: ignore[assignment]
    ended = {"exit_code": 2}
    events = [
        old(0, action="system", args={"content": "Be brief.", "tools": [{"a": 1}]}),
        old(1, "user", action="message", args={"content": "Go.", "image_urls": ["x"]}),
        old(2, "user", action="recall", args={"query": "Go."}),
        old(3, observation="recall", content="", extras={}),
        old(4, action="run", args={"command": "ls", "thought": "Look."}, tool_call_metadata=known)
        | {"llm_metrics": metrics(10, 2, 0.1)},
        old(5, observation="run", content="no", extras={"metadata": ended}, cause=4)
        | {"tool_call_metadata": known},
        old(6, action="read", args={"path": "x"}, llm_metrics=metrics(30, 5, 0.3)),
        old(7, observation="error", content="no file", extras={}, cause=6),
        old(8, action="finish", args={"final_thought": "Done."}, llm_metrics=metrics(60, 6, 0.4)),
    ]
    outcome = yield imported(folder, written(folder, events))

    assert outcome.imported.ignored == {
        "images": 1,
        "actions 'recall'": 1,
        "observations 'recall'": 1,
    }
    assert outcome.rows(
        "SELECT tool_name, arguments, result, status FROM steps WHERE kind = 'tool_call' "
        "ORDER BY step_index"
    ) == [
        ("execute_bash", '{"command":"ls"}', "no", "error"),
        ("read", '{"path":"x"}', "no file", "error"),
    ]
    assert outcome.rows(
        "SELECT user_input, final_answer, input_tokens, output_tokens FROM trajectories"
    ) == [("Go.", "Done.", 60, 6)]


def metrics(prompt: int, output: int, cost: float) -> Row:
    """Return the metrics so far."""
    tokens = {"model": "b", "prompt_tokens": prompt, "completion_tokens": output}
    return {"accumulated_cost": cost, "accumulated_token_usage": tokens}


@pytest.mark.parametrize("size", [1, 700])
@built_together
def test_counts_of_the_raw_file_are_those_of_the_lake(folder: Path, size: int) -> Scene:
    """A short run and a long one."""
    events = [says(0, "Go.")]
    for n in range(1, size + 1):
        events += [acts(n, f"c{n}", command="ls", response=f"r{n}", reasoning="Look.")]
        events += [observes(n, f"c{n}", "x", exit_code=n % 2)]
    file = written_lines(folder, [*events, says(size + 1, "Done.", "agent"), stats(0, 50, 5)])
    counted = raw_counts(file)

    assert lake_counts((yield imported(folder, file))) == counted
    assert counted == RunCounts(1, size, (size + 1) // 2, 1, 50, 5, 0, size)


def test_broken_files_cost_themselves(tmp_path: Path) -> None:
    """Events that are none, values of other types, and a file without any action."""
    odd = [
        says(1, "Go."), 7, {"x": 1}, event(2, "ActionEvent", tool_name=[], action=5, thought="x"),
        event(3, "ObservationEvent", observation="x"), event(4, "FutureEvent"),
        stats(5, -1, 3) | {"value": {"usage_to_metrics": {"a": 1}}}, says(6, "Bye.", "agent"),
    ]  # fmt: skip
    file = tmp_path / "odd.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in odd) + '{"kind"')
    none = written_lines(tmp_path, [stats(1, 1, 1)], "none.jsonl")
    found = imported(tmp_path, file, none)

    assert found.imported.ignored["events that are not objects"] == 1
    assert found.imported.ignored["events of an unknown form"] == 1
    assert found.imported.ignored["events of kind 'FutureEvent'"] == 1
    assert (found.imported.faults, found.imported.understood["trajectories"]) == (2, 1)
