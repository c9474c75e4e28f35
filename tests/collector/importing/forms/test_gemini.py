"""Session files of Gemini CLI become trajectories, as lines and as documents."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.imports import imported, written, written_lines
from tests.collector.importing.together import Scene
from tests.scenes import built_together

Row = dict[str, Any]
SESSION = "23247b82-5971-4ac1-b203-000000000001"


def head(**fields: Any) -> Row:
    """Return the first line of a session."""
    start = "2026-09-01T10:00:00.000Z"
    return {"sessionId": SESSION, "projectHash": "9425", "startTime": start, **fields}


def message(second: int, kind: str, content: Any, **fields: Any) -> Row:
    """Return a message; `id` is of its second unless given."""
    time = f"2026-09-01T10:00:{second:02}.000Z"
    named = {"id": f"m{second}", "timestamp": time, "type": kind, "content": content}
    return {**named, **fields}


def prompt(second: int, text: str) -> Row:
    """Return a prompt of the user."""
    return message(second, "user", [{"text": text}])


def call(second: int, number: int, output: Any, status: str = "success", **fields: Any) -> Row:
    """Return a call with its result, which gives an error if it failed."""
    key = "output" if status == "success" else "error"
    response = {"id": f"c{number}", "name": "run_shell_command", "response": {key: output}}
    return {
        **{"id": f"c{number}", "name": "run_shell_command", "args": {"command": "ls"}},
        **{"result": [{"functionResponse": response}], "status": status},
        **{"timestamp": f"2026-09-01T10:00:{second:02}.000Z", **fields},
    }


def tokens(given: int, output: int) -> Row:
    """Return the tokens of a model call, which have the thoughts apart."""
    counts = {"input": given, "output": output, "cached": 3, "thoughts": 4, "tool": 0}
    return {"tokens": counts | {"total": given + output + 4}, "model": "gemini-x"}


def thought(subject: str) -> Row:
    """Return the thoughts of a message."""
    return {"thoughts": [{"subject": subject, "description": "Because."}]}


def plain() -> list[Row]:
    """Return a session whose second message is written again with its call."""
    first = message(4, "gemini", "", **thought("Look"), **tokens(10, 5))
    return [
        head(kind="main"),
        {"$set": {"messages": [prompt(0, "<session_context>\nLinux</session_context>")]}},
        prompt(2, "Count the files."),
        first,
        {"$set": {"lastUpdated": "2026-09-01T10:00:04.000Z"}},
        {**first, "toolCalls": [call(6, 1, "a b")]},
        message(6, "user", call(6, 1, "a b")["result"]),
        message(9, "gemini", "Two files.", **tokens(20, 7)),
    ]


@built_together
def test_a_session_is_a_trajectory(folder: Path) -> Scene:
    """A message that has grown counts once; results stand in the file a second time."""
    outcome = yield imported(folder, written_lines(folder, plain()))

    assert outcome.notes == []
    assert outcome.imported.ignored == {"checkpoints of the history": 1}
    assert outcome.rows(
        "SELECT kind, tool_name, coalesce(content, result), status, duration_ms FROM steps "
        "ORDER BY step_index"
    ) == [
        ("thought", None, "Look\nBecause.", None, 2000),
        ("tool_call", "run_shell_command", "a b", "ok", 2000),
        ("observation", "run_shell_command", "a b", None, 2000),
        ("answer", None, "Two files.", None, 3000),
    ]
    assert outcome.rows(
        "SELECT agent_name, conversation_id, user_input, final_answer, llm_call_count, "
        "input_tokens, output_tokens FROM trajectories"
    ) == [("gemini-cli", SESSION, "Count the files.", "Two files.", 2, 30, 20)]


@built_together
def test_a_document_is_the_same(folder: Path) -> Scene:
    """Older versions write the session as one object."""
    messages = [row for row in plain() if "type" in row and row != plain()[3]]
    document = written(folder, head(messages=messages, lastUpdated="x"), "session-1.json")
    outcome = imported(folder, document)
    added = outcome.again(written_lines(folder, plain(), "session-1.jsonl"))
    outcome = yield outcome

    assert added == 0
    assert outcome.rows("SELECT tool_call_count, final_answer FROM trajectories") == [
        (1, "Two files.")
    ]


@built_together
def test_parallel_and_failed_calls(folder: Path) -> Scene:
    """Cancelled calls failed; a call that still runs has no result."""
    calls = [
        call(6, 1, "a"),
        call(5, 2, "File not found", "error"),
        call(7, 3, "[Operation Cancelled]", "cancelled"),
        call(7, 4, "", "executing", result=None),
    ]
    rows = [head(), prompt(1, "Try."), message(3, "gemini", "", toolCalls=calls)]
    outcome = yield imported(folder, written_lines(folder, rows))

    assert outcome.rows(
        "SELECT result, status, error_message FROM steps WHERE kind = 'tool_call' "
        "ORDER BY tool_call_id"
    ) == [
        ("a", "ok", None),
        ("File not found", "error", "File not found"),
        ("[Operation Cancelled]", "error", "[Operation Cancelled]"),
        (None, "unknown", None),
    ]


@built_together
def test_a_subagent_is_in_the_conversation_of_its_parent(folder: Path) -> Scene:
    """Its file is in a folder that has the name of the parent session."""
    below = folder / "chats" / "parent-session"
    below.mkdir(parents=True)
    rows = [head(kind="subagent"), prompt(1, "Look."), message(3, "gemini", "Seen.")]
    outcome = yield imported(folder, written_lines(below, rows, f"{SESSION}.jsonl"))

    assert outcome.rows(
        "SELECT agent_name, conversation_id, user_input, final_answer FROM trajectories"
    ) == [("gemini-cli-subagent", "parent-session", "Look.", "Seen.")]


@built_together
def test_a_resumed_session_has_all_its_work(folder: Path) -> Scene:
    """What a rewind removed was done; a checkpoint after a compression adds no work."""
    summary = [prompt(30, "<state_snapshot>"), message(31, "gemini", "Got it.")]
    rows = [
        *plain(),
        {"$rewindTo": "m9"},
        {"$set": {"messages": summary}},
        message(20, "info", "Context compressed."),
        prompt(21, "More."),
        message(25, "gemini", [{"text": "None."}], **tokens(9, 1)),
    ]
    outcome = yield imported(folder, written_lines(folder, rows))

    assert outcome.imported.ignored == {
        "checkpoints of the history": 2,
        "rewinds": 1,
        "messages of type 'info'": 1,
    }
    found = outcome.rows("SELECT turn_count, final_answer, llm_call_count FROM trajectories")
    assert found == [(2, "None.", 3)]


def test_images_are_counted(tmp_path: Path) -> None:
    """Those of prompts and of results."""
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    seen = call(3, 1, "ok")
    seen["result"].append(image)
    rows = [
        *(head(), message(1, "user", [{"text": "Look."}, image])),
        message(2, "gemini", "", toolCalls=[seen]),
    ]
    outcome = imported(tmp_path, written_lines(tmp_path, rows))

    assert outcome.imported.ignored == {
        "parts of type 'inlineData'": 1,
        "images in tool results": 1,
    }
    assert "AAAA" not in json.dumps(outcome.spans(), default=str)


def test_broken_lines_cost_themselves(tmp_path: Path) -> None:
    """A session may end in half a line; one without a message is named."""
    file = written_lines(tmp_path, [*plain(), "[1]", '{"id": "m'])
    outcome = imported(tmp_path, file, written_lines(tmp_path, [head()], "empty.jsonl"))

    assert [note.removeprefix(str(tmp_path)).split(": ")[0] for note in outcome.notes] == [
        "/export.jsonl:9",
        "/export.jsonl:10",
        "/empty.jsonl",
    ]
    assert outcome.imported.understood["trajectories"] == 1


def test_a_long_session_is_one_run(tmp_path: Path) -> None:
    """Each of its messages counts once, however often it was written."""
    turns = [
        message(2, "gemini", "", id=f"g{n}", toolCalls=[call(3, n, "a")]) for n in range(1_000)
    ]
    twice = [each for turn in turns for each in (turn, turn)]
    outcome = imported(tmp_path, written_lines(tmp_path, [head(), prompt(1, "Go."), *twice]))

    assert outcome.imported.added.total() == 2 * 1_000 + 1
