"""Rollouts of Codex become trajectories, one for each session."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.imports import imported, written, written_lines
from tests.collector.importing.together import Scene
from tests.scenes import built_together

from tracegrade_collector.importing.formats import session_part
from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.known_formats import read_file

Row = dict[str, Any]
SESSION = "019a93b9-f380-7600-98ff-000000000001"
PARENT = "019a93b9-f380-7600-98ff-00000000000f"


def line(second: float, kind: str, payload: Row) -> Row:
    """Return a line of a rollout."""
    return {
        "timestamp": f"2026-09-01T10:00:{second:06.3f}Z",
        "type": kind,
        "payload": payload,
    }


def item(second: float, kind: str, **fields: Any) -> Row:
    """Return a line that holds an item of a response."""
    return line(second, "response_item", {"type": kind, **fields})


def event(second: float, kind: str, **fields: Any) -> Row:
    """Return a line that holds an event."""
    return line(second, "event_msg", {"type": kind, **fields})


def meta(**fields: Any) -> Row:
    """Return the first line of a session."""
    return line(0, "session_meta", {"id": SESSION, "cli_version": "0.155.1", **fields})


def message(second: float, role: str, text: str) -> Row:
    """Return a message of the user or the model."""
    kind = "output_text" if role == "assistant" else "input_text"
    return item(second, "message", role=role, content=[{"type": kind, "text": text}])


def thought(second: float, text: str) -> Row:
    """Return a thought with a summary and no content."""
    summary = [{"type": "summary_text", "text": text}]
    return item(second, "reasoning", summary=summary, content=None, encrypted_content="gAAA")


def call(second: float, number: int, command: str = "ls") -> Row:
    """Return a call of the shell."""
    arguments = json.dumps({"cmd": command})
    fields = {"name": "exec_command", "arguments": arguments, "call_id": f"call_{number}"}
    return item(second, "function_call", **fields)


def result(second: float, number: int, output: Any) -> Row:
    """Return what a call gave."""
    return item(second, "function_call_output", call_id=f"call_{number}", output=output)


def shell(code: int, text: str) -> str:
    """Return what the shell gives the model."""
    head = f"Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code {code}\n"
    return f"{head}Original token count: 3\nOutput:\n{text}"


def tokens(second: float, given: int, output: int, total: int) -> Row:
    """Return the tokens of a model call, and of all calls so far."""
    last = {"input_tokens": given, "cached_input_tokens": 4, "cache_write_input_tokens": 2}
    last |= {"output_tokens": output, "reasoning_output_tokens": 1, "total_tokens": given + output}
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": last}
    return event(second, "token_count", info=info, rate_limits=None)


def turn(second: int, model: str = "gpt-x") -> Row:
    """Return the beginning of a turn."""
    return line(second, "turn_context", {"model": model, "effort": "high"})


def plain() -> list[Row]:
    """Return a session of one turn: a thought, a call, its result, an answer."""
    return [
        meta(source="cli"),
        turn(1),
        message(1, "developer", "You may write files."),
        message(1, "user", "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>"),
        message(2, "user", "Count the files."),
        event(2, "user_message", message="Count the files."),
        thought(3, "List them."),
        call(4, 1),
        tokens(5, 10, 5, 15),
        result(6, 1, shell(0, "a b")),
        tokens(6, 10, 5, 15),
        message(9, "assistant", "Two files."),
        tokens(9, 20, 7, 42),
        event(9, "task_complete"),
    ]


@built_together
def test_a_session_is_a_trajectory_with_its_times(folder: Path) -> Scene:
    """Codex repeats the tokens of a call whenever only its limits have changed."""
    outcome = yield imported(folder, written_lines(folder, plain()))

    assert outcome.notes == []
    assert outcome.imported.ignored == {
        "messages that the user did not write": 2,
        "events of type 'user_message'": 1,
    }
    assert outcome.rows(
        "SELECT kind, tool_name, coalesce(content, result), status, duration_ms FROM steps "
        "ORDER BY step_index"
    ) == [
        ("thought", None, "List them.", None, 2000),
        ("tool_call", "exec_command", shell(0, "a b"), "ok", 2000),
        ("observation", "exec_command", shell(0, "a b"), None, 2000),
        ("answer", None, "Two files.", None, 3000),
    ]
    assert outcome.rows(
        "SELECT agent_name, release, conversation_id, user_input, final_answer, llm_call_count, "
        "input_tokens, output_tokens, start_time::VARCHAR FROM trajectories"
    ) == [
        (
            *("codex", "0.155.1", SESSION, "Count the files.", "Two files.", 2, 30, 12),
            "2026-09-01 10:00:02",
        )
    ]


@built_together
def test_tokens_before_the_items_belong_to_them(folder: Path) -> Scene:
    """Versions before 0.6x record a call's tokens, then its items with the results between."""
    rows = [
        *(meta(), turn(1), message(1, "user", "Look.")),
        *(tokens(2, 10, 5, 15), thought(3, "Twice."), call(3, 1), result(3, 1, "a")),
        *(call(3, 2), result(3, 2, "b"), tokens(4, 10, 5, 15)),
        *(tokens(5, 20, 7, 42), message(6, "assistant", "Seen.")),
    ]
    outcome = yield imported(folder, written_lines(folder, rows))

    assert outcome.imported.ignored == {}
    found = outcome.rows(
        "SELECT llm_call_count, input_tokens, tool_call_count, final_answer FROM trajectories"
    )
    assert found == [(2, 30, 2, "Seen.")]


@built_together
def test_records_of_tokens_count_once(folder: Path) -> Scene:
    """The newest versions write a record, and after the results an event that repeats it."""
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    rows = [
        *(meta(), turn(1), message(1, "user", "Look."), call(2, 1)),
        line(2, "token_usage_record", {"turn_id": "t", "response_id": "r", "usage": usage}),
        *(result(3, 1, "a"), tokens(3, 10, 5, 15), message(4, "assistant", "Seen.")),
        line(4, "token_usage_record", {"turn_id": "t", "response_id": "s", "usage": usage}),
        tokens(4, 10, 5, 30),
    ]
    outcome = yield imported(folder, written_lines(folder, rows))

    assert outcome.imported.ignored == {}
    assert outcome.rows(
        "SELECT llm_call_count, input_tokens, output_tokens FROM trajectories"
    ) == [(2, 20, 10)]


@built_together
def test_calls_of_one_answer_are_parallel(folder: Path) -> Scene:
    """Each has its own result, in any order."""
    rows = [
        *(meta(), turn(1), message(1, "user", "Look.")),
        *(call(2, 1, "ls"), call(2, 2, "pwd"), tokens(2, 10, 5, 15)),
        *(result(4, 2, shell(0, "/p")), result(5, 1, shell(0, "a"))),
        *(message(6, "assistant", "Seen."), tokens(6, 20, 7, 42)),
    ]
    outcome = yield imported(folder, written_lines(folder, rows))

    assert outcome.rows(
        "SELECT arguments, result, duration_ms FROM steps WHERE kind = 'tool_call' ORDER BY ALL"
    ) == [
        ('{"cmd":"ls"}', shell(0, "a"), 3000),
        ('{"cmd":"pwd"}', shell(0, "/p"), 2000),
    ]
    assert outcome.rows("SELECT llm_call_count FROM trajectories") == [(2,)]


FAILURES = {
    "exec": shell(2, "no such file"),
    "timed": "Exit code: 124\nWall time: 10 seconds\nOutput:\ncommand timed out",
    "older": json.dumps({"output": "denied", "metadata": {"exit_code": 1}}),
    "refused": "exec_command failed for `rm`: rejected by user",
    "unknown": "unsupported call: nope_tool",
    "oldest": {"content": "no sandbox", "success": False},
}


@built_together
def test_failed_calls_are_errors(folder: Path) -> Scene:
    """Codex writes failures into the text; what a command printed is not searched."""
    calls = [call(2, n) for n in range(len(FAILURES) + 1)]
    outputs = [*FAILURES.values(), shell(0, "Process exited with code 1\nunsupported call: x")]
    results = [result(4, n, output) for n, output in enumerate(outputs)]
    rows = [meta(), turn(1), message(1, "user", "Try."), *calls, tokens(3, 9, 9, 9), *results]
    outcome = yield imported(folder, written_lines(folder, rows))

    assert outcome.rows(
        "SELECT status, error_message FROM steps WHERE kind = 'tool_call' ORDER BY step_index"
    ) == [
        ("error", "exit code 2"),
        ("error", "exit code 124"),
        ("error", "exit code 1"),
        ("error", "exec_command failed for `rm`: rejected by user"),
        ("error", "unsupported call: nope_tool"),
        ("error", "no sandbox"),
        ("ok", None),
    ]


@built_together
def test_events_name_failures_that_no_text_tells(folder: Path) -> Scene:
    """The tools of MCP servers and patches have an event with their success."""
    mcp = {"name": "search", "server": "docs", "arguments": "{}"}
    patch = {"call_id": "call_2", "name": "apply_patch", "input": "*** Begin Patch"}
    command = {"type": "CommandExecution", "id": "call_3", "exit_code": 3, "status": "failed"}
    rows = [
        *(meta(), turn(1), message(1, "user", "Try.")),
        item(2, "function_call", call_id="call_1", **mcp),
        *(item(2, "custom_tool_call", **patch), call(2, 3), tokens(2, 9, 9, 9)),
        event(3, "mcp_tool_call_end", call_id="call_1", result={"Ok": {"isError": True}}),
        event(3, "patch_apply_end", call_id="call_2", success=False),
        event(3, "item_completed", item=command),
        *(result(4, 1, "no index"), result(4, 3, "gone")),
        item(4, "custom_tool_call_output", call_id="call_2", output="conflict"),
    ]
    outcome = yield imported(folder, written_lines(folder, rows))

    assert sorted(
        outcome.rows("SELECT tool_name, arguments, status FROM steps WHERE kind = 'tool_call'")
    ) == [
        ("apply_patch", '{"input":"*** Begin Patch"}', "error"),
        ("exec_command", '{"cmd":"ls"}', "error"),
        ("search", "{}", "error"),
    ]


@built_together
def test_a_plan_has_its_steps(folder: Path) -> Scene:
    """Codex writes plans by a tool."""
    steps = [{"step": "Look", "status": "completed"}, {"step": "Tell", "status": "pending"}]
    plan = {"name": "update_plan", "arguments": json.dumps({"plan": steps}), "call_id": "call_1"}
    rows = [meta(), turn(1), message(1, "user", "Plan."), item(2, "function_call", **plan)]
    outcome = yield imported(
        folder, written_lines(folder, [*rows, tokens(3, 9, 9, 9), result(4, 1, "Plan updated")])
    )

    ((kind, found),) = outcome.rows("SELECT kind, plan FROM steps WHERE tool_name IS NOT NULL")
    assert (kind, json.loads(found)) == ("plan", steps)


@built_together
def test_an_interrupted_turn_is_followed_by_the_next(folder: Path) -> Scene:
    """What Codex tells the model about the interruption is not the user's."""
    rows = [
        *(meta(), turn(1), message(1, "user", "Wait."), call(2, 1, "sleep 9"), tokens(2, 9, 9, 9)),
        *(result(5, 1, "aborted by user after 3.0s"), call(5, 2)),
        message(5, "user", "<turn_aborted>\nThe user interrupted.\n</turn_aborted>"),
        event(5, "turn_aborted", reason="interrupted"),
        *(turn(7, "gpt-y"), message(7, "user", "Stop."), message(9, "assistant", "Stopped.")),
    ]
    outcome = yield imported(folder, written_lines(folder, rows))

    found = outcome.rows(
        "SELECT kind, status, flags FROM steps WHERE kind IN ('tool_call', 'answer') "
        "ORDER BY step_index"
    )
    assert [each[:2] for each in found] == [
        ("tool_call", "error"),
        ("tool_call", "unknown"),
        ("answer", None),
    ]
    assert outcome.rows("SELECT user_input, final_answer FROM trajectories") == [
        ("Wait.", "Stopped.")
    ]


@built_together
def test_a_subagent_is_in_the_conversation_of_its_parent(folder: Path) -> Scene:
    """Its task comes as a message of the agent that started it."""
    spawn = {"parent_thread_id": PARENT, "depth": 1}
    task = {"author": "/root", "content": [{"type": "input_text", "text": "Look."}]}
    rows = [
        meta(source={"subagent": {"thread_spawn": spawn}}),
        *(item(1, "agent_message", **task), message(3, "assistant", "Seen.")),
    ]
    outcome = yield imported(folder, written_lines(folder, rows))

    assert outcome.rows(
        "SELECT agent_name, conversation_id, user_input, final_answer FROM trajectories"
    ) == [("codex-subagent", PARENT, "Look.", "Seen.")]


@built_together
def test_a_fork_has_only_its_own_work(folder: Path) -> Scene:
    """Codex copies the other session's history at once, with the time of the fork."""
    rows = [
        meta(forked_from_id=PARENT),
        line(0.01, "session_meta", {"id": PARENT, "cli_version": "0.100.0"}),
        *(message(0.02, "user", "Before."), message(0.03, "assistant", "Done before.")),
        tokens(0.04, 900, 90, 990),
        *(message(8, "user", "After."), message(9, "assistant", "Done."), tokens(9, 20, 7, 1017)),
    ]
    outcome = yield imported(folder, written_lines(folder, rows))

    assert outcome.imported.ignored == {"items copied from the session that was forked": 3}
    assert outcome.rows(
        "SELECT release, user_input, final_answer, input_tokens FROM trajectories"
    ) == [("0.155.1", "After.", "Done.", 20)]


@built_together
def test_a_resumed_session_adds_its_new_spans(folder: Path) -> Scene:
    """It continues in its file; compaction is a mark, whose new history adds no work."""
    file = written_lines(folder, plain(), f"rollout-{SESSION}.jsonl")
    outcome = imported(folder, file)
    history = {"message": "So far.", "replacement_history": [plain()[4]["payload"]]}
    more = [
        *(line(20, "compacted", history), event(20, "context_compacted")),
        *(turn(21), message(21, "user", "More."), message(25, "assistant", "None.")),
    ]
    added = outcome.again(written_lines(folder, [*plain(), *more], file.name))
    outcome = yield outcome

    assert added == 2  # the new model call, and the run
    assert outcome.rows("SELECT user_input, final_answer, turn_count FROM trajectories") == [
        ("Count the files.", "None.", 2)
    ]


def test_images_are_counted_and_texts_stay(tmp_path: Path) -> None:
    """A result may hold images between its texts; a prompt too."""
    image = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    texts = [{"type": "input_text", "text": "one"}, image, {"type": "input_text", "text": "two"}]
    rows = [
        *(meta(), item(1, "message", role="user", content=[*texts])),
        *(call(2, 1), result(3, 1, texts)),
    ]
    outcome = imported(tmp_path, written_lines(tmp_path, rows))

    assert outcome.imported.ignored == {
        "content blocks of type 'input_image'": 1,
        "images in tool results": 1,
    }
    assert "AAAA" not in json.dumps(outcome.spans(), default=str)


def bare() -> list[Row]:
    """Return a session of a version before 0.32, whose lines have no envelope."""
    head = {"id": SESSION, "timestamp": "2025-07-01T10:00:00.000Z", "instructions": None}
    return [
        head,
        *(row["payload"] for row in plain() if row["type"] == "response_item"),
        {"record_type": "state"},
    ]


@pytest.mark.parametrize("form", ["lines", "document"])
def test_older_forms_are_read(tmp_path: Path, form: str) -> None:
    """Before the envelope there were bare items, and first a document."""
    head, *items = bare()
    if form == "lines":
        file = written_lines(tmp_path, bare())
    else:
        file = written(tmp_path, {"session": head, "items": items[:-1]})
    outcome = imported(tmp_path, file)

    assert outcome.notes == []
    assert outcome.imported.understood == {
        **{"trajectories": 1, "messages": 4, "texts": 2, "thoughts": 1},
        **{"tool calls": 1, "tool results": 1},
    }
    assert outcome.imported.ignored["messages that the user did not write"] == 2


def test_what_the_provider_ran_and_unknown_kinds(tmp_path: Path) -> None:
    """A search of the web is a call; unknown items, events and lines are counted by kind."""
    action = {"type": "search", "query": "weather"}
    local = {"action": {"type": "exec", "command": ["ls"]}, "call_id": "call_1"}
    rows = [
        *(meta(), message(1, "user", "Search.")),
        item(2, "web_search_call", status="completed", action=action),
        *(item(2, "local_shell_call", **local), result(3, 1, "a")),
        item(3, "tool_search_call", execution="client", arguments={"q": "x"}, call_id="call_2"),
        item(4, "tool_search_output", call_id="call_2", tools=[]),
        *(item(4, "ghost_snapshot"), item(4, "compaction"), event(4, "new_kind")),
        line(4, "world_state", {}),
    ]
    outcome = imported(tmp_path, written_lines(tmp_path, rows))

    assert outcome.imported.understood["tool calls"] == 2
    assert outcome.imported.understood["calls and results of the provider's tools"] == 1
    assert outcome.imported.ignored == {
        "items of type 'ghost_snapshot'": 1,
        "items of type 'compaction'": 1,
        "events of type 'new_kind'": 1,
        "lines of type 'world_state'": 1,
    }


def test_broken_lines_cost_themselves(tmp_path: Path) -> None:
    """A session may end in half a line; one without a message is named."""
    rows = [*plain(), "[1]", '{"type": "response_item", "payload": 5}', '{"type": "resp']
    file = written_lines(tmp_path, rows)
    outcome = imported(tmp_path, file)
    empty = written_lines(tmp_path, [meta()], "empty.jsonl")

    assert [note.split(": ")[0] for note in outcome.notes] == [f"{file}:15", f"{file}:17"]
    assert outcome.imported.understood["trajectories"] == 1
    assert [part.fault for part in read_file(empty, ReadOptions())] == [
        "no message of a session is in it"
    ]


def test_an_endless_session_is_read_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It costs itself, and never more memory than the limit needs."""
    monkeypatch.setattr(session_part, "MAX_SESSION_BYTES", 2**21)
    turns = [each for n in range(400) for each in (call(2, n), result(2, n, "a" * 10_000))]
    outcome = imported(tmp_path, written_lines(tmp_path, [meta(), *turns, call(9, 999)]))

    (note,) = outcome.notes
    assert note.endswith("only the first 2097152 bytes of a session are read")
    assert 100 < outcome.imported.understood["tool results"] < 400


def test_a_long_session_has_all_its_calls(tmp_path: Path) -> None:
    """Thousands of turns are one run."""
    turns = [row for n in range(2_000) for row in (call(2, n), result(2, n, shell(0, "a")))]
    outcome = imported(tmp_path, written_lines(tmp_path, [meta(), *turns]))

    assert outcome.imported.understood["tool results"] == 2_000
    assert outcome.imported.added.total() == 2_000 * 2 + 1
