"""Session files of Claude Code become trajectories, one for the session and one per subagent."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.imports import Outcome
from tests.collector.importing.together import Scene
from tests.scenes import built_together

from tracegrade_collector.importing.importer import Imported, import_files
from tracegrade_lake import Lake

Row = dict[str, Any]
SESSION = "5f0c1a52-3b1e-4a43-9f0e-2f6f3a1f9a11"


def entry(second: int, role: str, content: Any, *, of: str | None = None, **fields: Any) -> Row:
    """Return a line of a session; `of` is the message of the model that it is a block of."""
    message = {"role": role, "content": content}
    if of:
        usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 7}
        message |= {"id": of, "model": "claude-x", "usage": usage}
    return {
        "type": role,
        "uuid": f"u{second}",
        "parentUuid": f"u{second - 1}",
        "sessionId": SESSION,
        "version": "2.0.1",
        "isSidechain": False,
        "timestamp": f"2026-03-01T10:00:{second:02}.000Z",
        "message": message,
        **fields,
    }


def call(number: int, name: str = "Bash", **arguments: Any) -> list[Row]:
    """Return the block of a tool call."""
    return [{"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}]


def result(number: int, text: str, *, failed: bool = False) -> list[Row]:
    """Return the block of a tool's result."""
    block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": text}
    return [block | {"is_error": failed}]


def session() -> list[Row]:
    """Return a session: a prompt, a thought, two calls told one by one, a failure, the answer."""
    return [
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        entry(0, "user", "Caveat: local command", isMeta=True),
        entry(1, "user", "Count the files."),
        entry(3, "assistant", [{"type": "thinking", "thinking": "List them."}], of="m1"),
        entry(4, "assistant", call(1, command="ls"), of="m1"),
        entry(6, "user", result(1, "a b")),
        entry(7, "assistant", call(2, command="wc"), of="m1"),
        entry(9, "user", result(2, "Exit code 1", failed=True)),
        entry(12, "assistant", [{"type": "text", "text": "Two files."}], of="m2"),
    ]


def add(lake: Lake, file: Path, *entries: Row) -> tuple[Imported, list[str]]:
    """Import a session file; return the counts and the notes."""
    file.write_text("".join(json.dumps(each) + "\n" for each in entries))
    notes: list[str] = []
    return import_files(lake, [file], notes.append), notes


@built_together
def test_a_session_is_a_trajectory_with_its_times(folder: Path) -> Scene:
    """Blocks of one message are one model call; a call lasts from the message to its result."""
    lake = Lake.create(folder / "lake")
    imported, notes = add(lake, folder / "s.jsonl", *session())

    assert notes == []
    assert imported.ignored == {
        "lines of type 'file-history-snapshot'": 1,
        "messages that the user did not write": 1,
    }
    outcome = yield Outcome(lake, imported, notes)
    assert outcome.rows(
        "SELECT kind, tool_name, coalesce(content, result), status, duration_ms, flags FROM steps "
        "ORDER BY step_index",
    ) == [
        ("thought", None, "List them.", None, 3000, []),
        ("tool_call", "Bash", "a b", "ok", 2000, []),
        ("observation", "Bash", "a b", None, 2000, []),
        ("tool_call", "Bash", "Exit code 1", "error", 5000, []),
        ("observation", "Bash", "Exit code 1", None, 5000, []),
        ("answer", None, "Two files.", None, 3000, []),
    ]
    assert outcome.rows(
        "SELECT agent_name, release, conversation_id, user_input, final_answer, llm_call_count, "
        "output_tokens, start_time::VARCHAR FROM trajectories",
    ) == [
        (
            "claude-code",
            "2.0.1",
            SESSION,
            "Count the files.",
            "Two files.",
            2,
            10,
            "2026-03-01 10:00:01",
        )
    ]


@built_together
def test_a_session_that_went_on_adds_its_new_spans(folder: Path) -> Scene:
    """The session's id makes the ids, so the file may have moved meanwhile."""
    lake = Lake.create(folder / "lake")
    first, _ = add(lake, folder / "s.jsonl", *session()[:6])
    moved, _ = add(lake, folder / "moved.jsonl", *session()[:6])
    grown, _ = add(lake, folder / "moved.jsonl", *session())

    assert [each.added.total() for each in (first, moved, grown)] == [3, 0, 4]
    outcome = yield Outcome(lake, grown, [])
    found = outcome.rows("SELECT tool_call_count, error_count, final_answer FROM trajectories")
    assert found == [(2, 1, "Two files.")]


@built_together
def test_a_side_chain_is_a_trajectory_of_its_own(folder: Path) -> Scene:
    """A subagent's lines stand between those of the session that called it."""
    lake = Lake.create(folder / "lake")
    side: Row = {"isSidechain": True}
    entries = [
        entry(1, "user", "Ask the other."),
        entry(2, "assistant", call(1, "Task", prompt="Look."), of="m1"),
        entry(3, "user", "Look.", parentUuid=None, **side),
        entry(4, "assistant", [{"type": "text", "text": "Seen."}], of="m2", **side),
        entry(5, "user", result(1, "Seen.")),
        entry(6, "assistant", [{"type": "text", "text": "It saw."}], of="m3"),
    ]
    imported, notes = add(lake, folder / "s.jsonl", *entries)

    outcome = yield Outcome(lake, imported, notes)
    assert outcome.rows(
        "SELECT agent_name, conversation_id, user_input, final_answer FROM trajectories "
        "ORDER BY ALL",
    ) == [
        ("claude-code", SESSION, "Ask the other.", "It saw."),
        ("claude-code-subagent", SESSION, "Look.", "Seen."),
    ]


def test_broken_lines_of_a_session_are_named(tmp_path: Path) -> None:
    """A session may end in half a line, when its process was killed."""
    lake = Lake.create(tmp_path / "lake")
    file = tmp_path / "s.jsonl"
    add(lake, file, *session())
    file.write_text(file.read_text() + '[1]\n{"type": "user", "message": 5}\n{"type": "assi')
    notes: list[str] = []
    imported = import_files(lake, [file], notes.append)

    assert [note.split(": ")[0] for note in notes] == [f"{file}:10", f"{file}:12"]
    assert (imported.added.total(), imported.known.total()) == (0, 5)
