"""Sessions of Qwen Code: calls, failures, subagents, forks, images, broken lines."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.imports import imported, written_lines
from tests.collector.importing.raw_counts import RunCounts
from tests.collector.importing.raw_counts.lake import lake_counts
from tests.collector.importing.raw_counts.qwen import raw_counts
from tests.collector.importing.together import Scene
from tests.scenes import built_together

Row = dict[str, Any]


def line(second: int, kind: str, *parts: Row, **fields: Any) -> Row:
    """Return a line with a message."""
    role = "model" if kind == "assistant" else "user"
    time = f"2026-08-17T12:{second // 60:02}:{second % 60:02}.000Z"
    named = {"uuid": f"u{second}", "parentUuid": None, "sessionId": "s1", "version": "0.21.13"}
    message = {"role": role, "parts": [*parts]}
    return {**named, "timestamp": time, "type": kind, "message": message, **fields}


def calls(number: int, tool: str, **args: Any) -> Row:
    """Return the part of a message that calls a tool."""
    return {"functionCall": {"id": f"c{number}", "name": tool, "args": args}}


def gave(second: int, number: int, tool: str, **response: Any) -> Row:
    """Return a line with what a tool gave."""
    part = {"id": f"c{number}", "name": tool, "response": response}
    status = {"toolCallResult": {"callId": f"c{number}", "status": "success"}}
    return line(second, "tool_result", {"functionResponse": part}, **status)


def session() -> list[Row]:
    """Return a session with parallel calls, of which two fail, and an answer."""
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "thoughtsTokenCount": 4}
    hook = {"text": "<qwen:user-prompt-submit-context>\nx\n</qwen:user-prompt-submit-context>"}
    return [
        line(0, "user", {"text": "Mend it. 修复 🛠"}, hook),
        line(
            1,
            "assistant",
            {"text": "I look.", "thought": True},
            calls(1, "read_file", path="C:\\x\\a.py"),
            calls(2, "edit"),
            calls(3, "run"),
            usageMetadata={**usage, "totalTokenCount": 110},
            model="model-a",
        ),
        gave(2, 1, "read_file", output="text"),
        gave(3, 2, "edit", error="no such text"),
        gave(4, 3, "run", output="denied")
        | {"toolCallResult": {"status": "cancelled", "error": {"message": "not allowed"}}},
        line(5, "assistant", {"text": "Done."}, usageMetadata={**usage, "totalTokenCount": 114}),
    ]


def system(second: int, subtype: str) -> Row:
    """Return a line of bookkeeping."""
    row = line(second, "system", subtype=subtype, systemPayload={"x": 1})
    return {key: value for key, value in row.items() if key != "message"}


@built_together
def test_a_session_is_a_run(folder: Path) -> Scene:
    """Contexts of hooks are not the user's words; thoughts may be part of the output."""
    file = written_lines(folder, [*session(), system(6, "ui_telemetry")])
    outcome = yield imported(folder, file)

    assert outcome.notes == []
    assert outcome.imported.ignored == {"lines of type 'ui_telemetry'": 1}
    assert outcome.steps() == [
        ("thought", None, None, "I look.", None),
        ("tool_call", "read_file", '{"path":"C:\\\\x\\\\a.py"}', "text", "ok"),
        ("observation", "read_file", None, "text", None),
        ("tool_call", "edit", "{}", "no such text", "error"),
        ("observation", "edit", None, "no such text", None),
        ("tool_call", "run", "{}", "denied", "error"),
        ("observation", "run", None, "denied", None),
        ("answer", None, None, "Done.", None),
    ]
    assert outcome.rows(
        "SELECT agent_name, release, user_input, final_answer, conversation_id, "
        "input_tokens, output_tokens FROM trajectories"
    ) == [("qwen-code", "0.21.13", "Mend it. 修复 🛠", "Done.", "s1", 200, 24)]
    assert lake_counts(outcome) == raw_counts(file)


@built_together
def test_a_subagent_is_a_run_of_the_conversation(folder: Path) -> Scene:
    """Its lines name it."""
    named = {"agentId": "explore-1", "isSidechain": True}
    inner = [each | named for each in session()]
    outcome = yield imported(folder, written_lines(folder, [*session()[:2], *inner]))

    assert outcome.rows(
        "SELECT agent_name, conversation_id, tool_call_count FROM trajectories ORDER BY 1"
    ) == [("qwen-code", "s1", 3), ("qwen-code-subagent", "s1", 3)]


@built_together
def test_lines_that_are_no_part_of_the_work_are_counted(folder: Path) -> Scene:
    """Copies of a fork, notifications, images; messages that a rewind removed stay."""
    image = {"inlineData": {"mimeType": "image/png", "data": "x"}}
    copied = [each | {"forkedFrom": {"sessionId": "s0"}} for each in session()]
    told = line(6, "user", {"text": "A task has ended."}, subtype="notification")
    lines = [
        *copied,
        line(5, "user", image, {"text": "Again."}),
        *session()[1:],
        told,
        system(7, "rewind"),
        system(8, "chat_compression"),
    ]
    outcome = yield imported(folder, written_lines(folder, lines))

    assert outcome.imported.ignored == {
        "lines copied from the session that was forked": 6,
        "parts of type 'inlineData'": 1,
        "messages that the user did not write": 1,
        "lines of type 'rewind'": 1,
        "lines of type 'chat_compression'": 1,
    }
    assert outcome.rows("SELECT user_input, tool_call_count FROM trajectories") == [("Again.", 3)]


@pytest.mark.parametrize("size", [1, 700])
@built_together
def test_counts_of_the_raw_file_are_those_of_the_lake(folder: Path, size: int) -> Scene:
    """An interrupted session, short and long; the last call has no result."""
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11}
    lines = [system(0, "slash_command"), line(0, "user", {"text": "Go."})]
    for n in range(1, size + 1):
        lines += [line(n, "assistant", calls(n, "run", n=n), usageMetadata=usage)]
        lines += [gave(n, n, "run", **({"error": "no"} if n % 2 else {"output": "yes"}))]
    file = written_lines(folder, [*lines, line(size, "assistant", calls(0, "run"))])
    counted = raw_counts(file)

    assert lake_counts((yield imported(folder, file))) == counted
    assert counted == RunCounts(1, size + 1, (size + 1) // 2, 0, 9 * size, 2 * size)


def test_broken_lines_cost_themselves(tmp_path: Path) -> None:
    """Values of other types, and a file without any message."""
    odd = [
        *session(), 7, line(7, "assistant") | {"message": 1}, line(8, "future"),
        line(9, "assistant") | {"message": {"parts": [1, None, {"functionCall": 2}]}, "model": 3},
        line(10, "tool_result", {"functionResponse": 5}), line(11, "user", usageMetadata=[]),
    ]  # fmt: skip
    file = tmp_path / "odd.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in odd) + '{"uuid"')
    none = written_lines(tmp_path, [system(1, "custom_title")], "none.jsonl")
    found = imported(tmp_path, file, none)

    assert found.imported.faults == 3
    assert found.imported.understood["trajectories"] == 1
    assert found.imported.recognized.total() == 2
    assert found.again(file, none) == 0
