"""Session files of Claude Code: subagents, compaction, forks, and lines without a speaker."""

from pathlib import Path

from tests.collector.importing.forms.test_claude_code import (
    SESSION,
    Row,
    call,
    entry,
    result,
    session,
)
from tests.collector.importing.imports import imported, written_lines
from tests.collector.importing.together import Scene
from tests.scenes import built_together

AGENT = "a105cb292c23c3244"


def text(words: str) -> list[Row]:
    """Return a block of text."""
    return [{"type": "text", "text": words}]


def subagent() -> list[Row]:
    """Return the lines of a subagent, as newer versions write them to a file of their own."""
    side: Row = {"isSidechain": True, "agentId": AGENT}
    return [
        entry(3, "user", "Look.", parentUuid=None, **side),
        entry(4, "assistant", call(7, command="cat a"), of="m2", **side),
        entry(5, "user", result(7, "hi"), **side),
        entry(6, "assistant", text("Seen."), of="m3", **side),
    ]


@built_together
def test_a_subagent_has_the_same_ids_in_either_file(folder: Path) -> Scene:
    """Older versions write its lines between those of the session."""
    calls = entry(2, "assistant", call(1, "Agent", prompt="Look."), of="m1")
    main = [entry(1, "user", "Ask."), calls, entry(8, "user", result(1, "Seen."))]
    apart = imported(
        folder,
        written_lines(folder, main, f"{SESSION}.jsonl"),
        written_lines(folder, subagent(), f"agent-{AGENT}.jsonl"),
    )
    again = apart.again(written_lines(folder, [*main[:2], *subagent(), main[2]], "older.jsonl"))
    outcome = yield apart

    assert (apart.notes, again) == ([], 1)  # only the line in the root of the subagent differs
    assert outcome.rows(
        "SELECT agent_name, conversation_id, final_answer, tool_call_count FROM trajectories "
        "ORDER BY ALL"
    ) == [("claude-code", SESSION, None, 1), ("claude-code-subagent", SESSION, "Seen.", 1)]


@built_together
def test_a_compacted_session_continues(folder: Path) -> Scene:
    """The user did not write the summary, the command and its output."""
    rows = [
        *session(),
        {"type": "system", "subtype": "compact_boundary", "sessionId": SESSION},
        entry(20, "user", "This session is being continued.", isCompactSummary=True),
        entry(20, "user", "<command-name>/compact</command-name>"),
        entry(20, "user", "<local-command-stdout>Compacted</local-command-stdout>"),
        entry(21, "user", "<command-name>/fix</command-name> the bug"),
        entry(25, "assistant", text("Fixed."), of="m5"),
    ]
    outcome = yield imported(folder, written_lines(folder, rows))

    assert outcome.imported.ignored == {
        "lines of type 'file-history-snapshot'": 1,
        "lines of type 'system'": 1,
        "summaries by compaction": 1,
        "local commands of the user": 1,
        "messages that the user did not write": 2,
    }
    found = outcome.rows("SELECT turn_count, user_input, final_answer FROM trajectories")
    assert found == [(2, "Count the files.", "Fixed.")]


@built_together
def test_errors_of_the_api_are_no_answers(folder: Path) -> Scene:
    """Claude Code writes them as messages of a model that does not exist."""
    failed = entry(3, "assistant", text("API Error: 529"), of="m9", isApiErrorMessage=True)
    failed["message"]["model"] = "<synthetic>"
    outcome = yield imported(folder, written_lines(folder, [entry(1, "user", "Look."), failed]))

    assert outcome.imported.ignored["messages that the model did not write"] == 1
    assert outcome.rows("SELECT final_answer, llm_call_count FROM trajectories") == [(None, 0)]


@built_together
def test_an_interrupted_call_stays_without_result(folder: Path) -> Scene:
    """A call may be refused, which is a failed result, or the process may end."""
    rows = [
        entry(1, "user", "Look."),
        entry(2, "assistant", [*call(1, command="rm"), *call(2, command="ls")], of="m1"),
        entry(4, "user", result(1, "The user doesn't want to proceed", failed=True)),
        entry(5, "user", text("[Request interrupted by user]")),
    ]
    outcome = yield imported(folder, written_lines(folder, rows))

    found = outcome.rows("SELECT status FROM steps WHERE kind = 'tool_call' ORDER BY step_index")
    assert found == [("error",), ("unknown",)]


def test_a_fork_has_only_its_own_lines(tmp_path: Path) -> None:
    """It begins now, and copies the lines of the other session with their times."""
    queued = {"type": "queue-operation", "sessionId": SESSION}
    branch = {"sessionId": "other", "messageUuid": "u1"}
    rows = [
        {**queued, "timestamp": "2026-03-01T10:00:50.000Z"},
        *(entry(1, "user", "Before."), entry(2, "assistant", text("Done."), of="m1")),
        entry(50, "user", "Copied too.", forkedFrom=branch),
        *(entry(51, "user", "After."), entry(55, "assistant", text("Now."), of="m2")),
    ]
    outcome = imported(tmp_path, written_lines(tmp_path, rows))

    assert outcome.imported.understood["messages"] == 2
    assert outcome.imported.ignored == {
        "lines of type 'queue-operation'": 1,
        "lines copied from the session that was forked": 3,
    }


def test_images_in_results_are_counted(tmp_path: Path) -> None:
    """A screen shot would be megabytes of text; what is next to it stays."""
    image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    shot = [{**result(1, "")[0], "content": [image, *text("a screen")]}]
    rows = [
        entry(1, "user", [image, *text("Look.")]),
        entry(2, "assistant", call(1, "Read"), of="m1"),
        entry(3, "user", shot),
    ]
    outcome = imported(tmp_path, written_lines(tmp_path, rows))

    assert outcome.imported.ignored == {
        "content blocks of type 'image'": 1,
        "images in tool results": 1,
    }
    (found,) = (span for span in outcome.spans() if span["name"] == "execute_tool Read")
    assert "a screen" in str(found)
    assert "AAAA" not in str(found)


def test_a_session_without_messages_is_named(tmp_path: Path) -> None:
    """One that was opened and closed has bookkeeping alone."""
    rows = [{"type": "mode", "mode": "normal", "sessionId": SESSION}]
    outcome = imported(tmp_path, written_lines(tmp_path, rows))

    assert [note.split(": ")[1] for note in outcome.notes] == ["no message of a session is in it"]
    assert outcome.imported.ignored == {"lines of type 'mode'": 1}


def test_a_long_session_is_one_run(tmp_path: Path) -> None:
    """Its calls are found by their ids, however many there are."""
    turns = [
        row
        for n in range(1_500)
        for row in (
            entry(2, "assistant", call(n), of=f"m{n}"),
            entry(3, "user", result(n, "a")),
        )
    ]
    outcome = imported(tmp_path, written_lines(tmp_path, [entry(1, "user", "Go."), *turns]))

    assert outcome.imported.added.total() == 2 * 1_500 + 1


def test_a_session_without_anything_that_is_understood_is_a_fault(tmp_path: Path) -> None:
    """It is of another form, and would be a run without a step."""
    odd = {"type": "assistant", "sessionId": "s", "message": {"role": "assistant", "parts": []}}
    file = written_lines(tmp_path, [odd])
    outcome = imported(tmp_path, file)
    assert outcome.notes == [f"{file}:1: nothing of its 1 messages is understood"]
    assert outcome.imported.understood == {}
