"""Sessions that OpenCode has exported become trajectories."""

import json
from pathlib import Path
from typing import Any

from tests.collector.importing.imports import imported, written, written_lines
from tests.collector.importing.together import Scene
from tests.scenes import built_together

Row = dict[str, Any]
SESSION = "ses_dd4c63bfeffeT4C8BRFzAXNFtV"
START_MS = 1_788_256_800_000


def at(second: float) -> int:
    """Return a time as OpenCode writes it."""
    return START_MS + int(second * 1000)


def export(*messages: Row, **info: Any) -> Row:
    """Return an exported session."""
    return {"info": {"id": SESSION, "version": "1.18.33", **info}, "messages": [*messages]}


def prompt(second: float, *parts: Row) -> Row:
    """Return a message of the user."""
    return {"info": {"role": "user", "time": {"created": at(second)}}, "parts": [*parts]}


def answer(second: float, *parts: Row, **info: Any) -> Row:
    """Return a message of the model that ended at a second."""
    times = {"created": at(second - 1), "completed": at(second)}
    named = {"role": "assistant", "modelID": "m", "time": times, **info}
    return {"info": named, "parts": [*parts]}


def text(words: str, **fields: Any) -> Row:
    """Return a part of text."""
    return {"type": "text", "text": words, **fields}


def thought(words: str) -> Row:
    """Return a part of reasoning."""
    return {"type": "reasoning", "text": words}


def tool(number: int, start: float, end: float, name: str = "bash", **state: Any) -> Row:
    """Return a call with its state: one that succeeded, unless told otherwise."""
    times = {"start": at(start), "end": at(end)}
    done = {"status": "completed", "input": {"command": "ls"}, "output": "a", "time": times}
    return {"type": "tool", "tool": name, "callID": f"call_{number}", "state": {**done, **state}}


def finish(given: int, output: int) -> Row:
    """Return the end of a step with its tokens, which are counted apart."""
    tokens = {"input": given, "output": output, "reasoning": 2, "cache": {"read": 3, "write": 1}}
    return {"type": "step-finish", "tokens": tokens | {"total": given + output + 6}}


STEP: Row = {"type": "step-start"}


def plain() -> Row:
    """Return a session of two messages of the model, with a step each."""
    return export(
        prompt(0, text("Count the files."), text("Called the tool", synthetic=True)),
        answer(4, STEP, thought("List them."), tool(1, 3, 5, output="a b"), finish(10, 5)),
        answer(9, STEP, text("Two files."), finish(20, 7)),
    )


@built_together
def test_a_session_is_a_trajectory(folder: Path) -> Scene:
    """A model call ends before its tools begin."""
    outcome = yield imported(folder, written(folder, plain()))

    assert outcome.notes == []
    assert outcome.imported.ignored == {"texts that the user did not write": 1}
    assert outcome.rows(
        "SELECT kind, tool_name, coalesce(content, result), status, duration_ms FROM steps "
        "ORDER BY step_index"
    ) == [
        ("thought", None, "List them.", None, 3000),
        ("tool_call", "bash", "a b", "ok", 2000),
        ("observation", "bash", "a b", None, 2000),
        ("answer", None, "Two files.", None, 4000),
    ]
    assert outcome.rows(
        "SELECT agent_name, release, conversation_id, user_input, final_answer, "
        "llm_call_count, input_tokens, output_tokens FROM trajectories"
    ) == [
        ("opencode", "1.18.33", SESSION, "Count the files.", "Two files.", 2, 38, 16),
    ]


@built_together
def test_steps_of_one_message_are_model_calls(folder: Path) -> Scene:
    """Older versions write all steps of a turn into one message, and no total of tokens."""
    older = {**finish(10, 5), "tokens": {**finish(10, 5)["tokens"], "total": None}}
    steps = [STEP, tool(1, 2, 3), older, STEP, text("Seen."), older]
    outcome = yield imported(
        folder, written(folder, export(prompt(0, text("Look.")), answer(5, *steps)))
    )

    found = outcome.rows("SELECT llm_call_count, input_tokens, output_tokens FROM trajectories")
    assert found == [(2, 28, 10)]


@built_together
def test_parallel_and_failed_calls(folder: Path) -> Scene:
    """A refused, unknown or broken call failed; a call that still runs has no result."""
    unknown = {"tool": "nope_tool", "error": "unavailable tool"}
    calls = [
        tool(1, 2, 6, output="slow"),
        tool(2, 2, 4, status="error", error="rejected permission"),
        tool(3, 2, 4, output="no", metadata={"exit": 2}),
        tool(4, 2, 4, name="invalid", input=unknown, output="no such tool"),
        tool(5, 2, 2, status="running"),
    ]
    outcome = yield imported(
        folder, written(folder, export(prompt(0, text("Try.")), answer(6, STEP, *calls)))
    )

    assert outcome.rows(
        "SELECT tool_name, result, status, error_message FROM steps WHERE kind = 'tool_call' "
        "ORDER BY tool_call_id"
    ) == [
        ("bash", "slow", "ok", None),
        ("bash", "rejected permission", "error", "rejected permission"),
        ("bash", "no", "error", "exit code 2"),
        ("nope_tool", "no such tool", "error", "unavailable tool"),
        ("bash", None, "unknown", None),
    ]


@built_together
def test_a_plan_and_a_subagent(folder: Path) -> Scene:
    """A subagent's session names its parent, in whose conversation it is."""
    todos = [{"content": "Look", "status": "pending", "priority": "high"}]
    planned = tool(1, 2, 3, name="todowrite", input={"todos": todos}, output="[]")
    main = export(prompt(0, text("Ask.")), answer(3, STEP, planned))
    info = {"id": "ses_child", "parentID": SESSION}
    child = export(prompt(1, text("Look.")), answer(2, STEP, text("Seen.")), **info)
    files = [written(folder, main), written(folder, child, "child.json")]
    outcome = yield imported(folder, *files)

    ((plan,),) = outcome.rows("SELECT plan FROM steps WHERE kind = 'plan'")
    assert json.loads(plan) == todos
    assert outcome.rows(
        "SELECT agent_name, conversation_id, final_answer FROM trajectories ORDER BY ALL"
    ) == [("opencode", SESSION, None), ("opencode-subagent", SESSION, "Seen.")]


@built_together
def test_an_interrupted_and_a_compacted_session(folder: Path) -> Scene:
    """A summary is not an answer."""
    aborted = {"name": "MessageAbortedError", "data": {"message": "stopped"}}
    compacted = prompt(5, {"type": "compaction", "auto": True})
    outcome = yield imported(
        folder,
        written(
            folder,
            export(
                prompt(0, text("Look.")),
                answer(3, STEP, text("I"), error=aborted),
                compacted,
                answer(7, STEP, text("So far."), finish(30, 9), summary=True),
            ),
        ),
    )

    assert outcome.imported.ignored == {
        "errors of type 'MessageAbortedError'": 1,
        "parts of type 'compaction'": 1,
        "summaries by compaction": 1,
    }
    assert outcome.rows("SELECT final_answer, llm_call_count FROM trajectories") == [("I", 1)]


def test_files_are_counted(tmp_path: Path) -> None:
    """An image of a prompt stays out of the lake; unknown parts are counted by kind."""
    image = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"}
    rows = [prompt(0, text("Look."), image), answer(2, STEP, {"type": "patch"}, text("Seen."))]
    outcome = imported(tmp_path, written(tmp_path, export(*rows)))

    assert outcome.imported.ignored == {"parts of type 'file'": 1, "parts of type 'patch'": 1}
    assert "AAAA" not in json.dumps(outcome.spans(), default=str)


def test_broken_and_empty_exports_cost_themselves(tmp_path: Path) -> None:
    """Several exports may stand in a file, one on a line."""
    rows = [plain(), export(projectID="global"), {"info": {}}, '{"info": {"id"']
    file = written_lines(tmp_path, rows)
    outcome = imported(tmp_path, file)

    assert [note.removeprefix(f"{file}:").split(": ", 1) for note in outcome.notes] == [
        ["2", "no message of a session is in it"],
        ["3", "no exported session"],
        ["4", outcome.notes[2].split(": ", 1)[1]],
    ]
    assert outcome.imported.understood["trajectories"] == 1


def test_a_long_session_is_one_run(tmp_path: Path) -> None:
    """Thousands of calls are found by their ids."""
    turns = [answer(3, STEP, tool(n, 2, 3)) for n in range(1_500)]
    outcome = imported(tmp_path, written(tmp_path, export(prompt(0, text("Go.")), *turns)))

    assert outcome.imported.added.total() == 2 * 1_500 + 1
