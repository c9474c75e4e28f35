"""Inspect's logs of all versions, and those with a simulated user that calls tools itself."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.collector.importing.imports import Outcome, imported, written
from tests.collector.importing.together import Scene
from tests.scenes import built_together

Row = dict[str, Any]
EVAL = {"eval_id": "e1", "task": "weather", "created": "2024-01-05T10:00:00+00:00"}
ASKED = {"role": "user", "content": "Weather in Paris?", "source": "input"}
CALL = {"id": "c1", "function": "get_weather", "arguments": {"city": "Paris"}, "type": "function"}
CALLS = {"role": "assistant", "content": "", "tool_calls": [CALL], "source": "generate"}
REPLY = {"role": "tool", "content": "22C", "tool_call_id": "c1"}
ANSWER = {"role": "assistant", "content": "It is 22C.", "source": "generate"}


def log(folder: Path, *samples: Row) -> Outcome:
    """Return what becomes of a log with these samples."""
    named = [{"id": f"s{number}", "epoch": 1, **each} for number, each in enumerate(samples)]
    file = written(folder, {"version": 2, "status": "success", "eval": EVAL, "samples": named})
    return imported(folder, file)


def model(second: int, message: Row, tokens: int, **fields: Any) -> Row:
    """Return the event of a model call that ended at this second."""
    output = {
        "model": "m-1",
        "choices": [{"message": message}],
        "usage": {"input_tokens": tokens, "output_tokens": 1, "total_tokens": tokens + 1},
    }
    time = f"2024-01-05T10:00:{second:02}+00:00"
    return {"event": "model", "model": "p/m", "timestamp": time, "output": output, **fields}


def tool(second: int) -> Row:
    """Return the event of the tool call that ended at this second."""
    return {"event": "tool", "id": "c1", "timestamp": f"2024-01-05T10:00:{second:02}+00:00"}


def told(outcome: Outcome, task: str = "weather/s0") -> Sequence[tuple[Any, ...]]:
    """Return kind, second of its start and end, tokens and model of each step of a sample."""
    return outcome.rows(
        "SELECT kind, tool_name, second(steps.start_time), second(steps.end_time), "
        "steps.input_tokens, steps.output_tokens, steps.model FROM steps "
        f"JOIN trajectories USING (trajectory_id) WHERE task_id = '{task}' ORDER BY step_index"
    )


@built_together
def test_messages_without_ids_are_known_by_what_was_put_out(folder: Path) -> Scene:
    """Equal ones in their order; texts and events stand in `transcript` or beside it."""
    named = ANSWER | {"content": "tc://a1"}
    messages = [ASKED, CALLS, REPLY, ANSWER, ASKED, ANSWER]
    events = [model(2, CALLS, 10), tool(3), model(5, named, 20), model(9, named, 30)]
    transcript = {"events": events, "content": {"a1": "It is 22C."}}
    beside = {"events": events, "attachments": {"a1": "It is 22C."}}
    outcome = yield log(
        folder,
        {"messages": messages, "transcript": transcript},
        {"messages": messages, **beside},
    )

    assert told(outcome) == told(outcome, "weather/s1")
    assert told(outcome) == [
        ("tool_call", "get_weather", 2, 3, 10, 1, "m-1"),
        ("observation", "get_weather", 2, 3, None, None, None),
        ("answer", None, 3, 5, 20, 1, "m-1"),
        ("message", None, 5, 9, None, None, None),
        ("answer", None, 5, 9, 30, 1, "m-1"),
    ]


@built_together
def test_logs_without_events(folder: Path) -> Scene:
    """A sample's only answer is its output; if it has several, the tokens of each are unknown."""
    output = model(0, ANSWER, 7)["output"]
    several = [ASKED, CALLS, REPLY, ANSWER]
    outcome = yield log(
        folder,
        {"messages": [ASKED, ANSWER], "output": output},
        {"messages": several, "output": output},
    )

    assert [tokens for *_, tokens, _, _ in told(outcome)] == [7]
    assert {tokens for *_, tokens, _, _ in told(outcome, "weather/s1")} == {None}


@built_together
def test_error_of_a_tool_in_an_old_log(folder: Path) -> Scene:
    """It was a text of its own name."""
    failed = REPLY | {"content": "", "tool_error": "no such city"}
    outcome = yield log(folder, {"messages": [ASKED, CALLS, failed]})

    assert [(status, text) for *_, text, status in outcome.steps()] == [
        ("error", "no such city"),
        (None, "no such city"),
    ]


@built_together
def test_tool_that_the_provider_ran(folder: Path) -> Scene:
    """Inspect keeps it as one block, whose type is that of a request elsewhere."""
    block = {
        "type": "tool_use",
        "tool_type": "web_search",
        "id": "ws_1",
        "name": "web_search",
        "arguments": '{"query": "x"}',
        "result": "1 hit",
        "error": None,
    }
    hidden = {"type": "reasoning", "reasoning": "gAAAA", "redacted": True, "summary": "I look."}
    content = [
        hidden,
        block,
        block | {"id": "ws_2", "error": "too_many"},
        {"type": "text", "text": "Hi"},
    ]
    outcome = yield log(folder, {"messages": [ASKED, {"role": "assistant", "content": content}]})

    found = outcome.rows(
        "SELECT kind, tool_name, coalesce(result, content), status, executed_by FROM steps "
        "WHERE kind <> 'observation' ORDER BY step_index"
    )
    assert found == [
        ("thought", None, "I look.", None, None),
        ("tool_call", "web_search", "1 hit", "ok", "provider"),
        ("tool_call", "web_search", "1 hit", "error", "provider"),
        ("answer", None, "Hi", None, None),
    ]


TOGGLE = {"id": "u1", "function": "toggle_data", "arguments": {}}
TOGGLES = {"id": "m1", "role": "assistant", "content": "", "tool_calls": [TOGGLE]}
TOGGLED = {"id": "m2", "role": "tool", "content": "on", "tool_call_id": "u1"}
OF_USER = {"id": "m3", "role": "assistant", "content": "Data is on. Weather?"}
HEARD = {"id": "m4", "role": "user", "content": "Data is on. Weather?"}
NAMED_CALLS, NAMED_ANSWER = CALLS | {"id": "m5"}, ANSWER | {"id": "m7"}


@built_together
def test_conversation_of_a_simulated_user(folder: Path) -> Scene:
    """A log of it has the agent's side as inputs of model calls alone, from a pool in new logs."""
    policy = {"id": "m0", "role": "system", "content": "Be kind."}
    users = [TOGGLES, TOGGLED, OF_USER, {"id": "m8", "role": "user", "content": "It is 22C."}]
    by_user = [model(1, TOGGLES, 5, role="user"), model(2, OF_USER, 5, role="user")]
    heard = [policy, HEARD, NAMED_CALLS, REPLY | {"id": "m6"}]
    plain = [model(3, NAMED_CALLS, 10, input=heard[:2]), model(5, NAMED_ANSWER, 20, input=heard)]
    pooled = [
        {**each, "input": [], "input_refs": [[0, 2 * place]]}
        for place, each in enumerate(plain, 1)
    ]
    graded = model(9, {"id": "g", "role": "assistant", "content": "C"}, 40, input=[ASKED])
    outcome = yield log(
        folder,
        {"messages": users, "events": [*by_user, *plain, graded]},
        {
            "messages": users,
            "events": [*by_user, *pooled, graded],
            "events_data": {"messages": heard},
        },
        {"messages": users, "events": [*by_user, *pooled, graded], "message_pool": heard},
    )

    calls = [
        tool
        for task in ("weather/s0", "weather/s1", "weather/s2")
        for kind, tool, *_ in told(outcome, task)
        if kind == "tool_call"
    ]
    assert calls == ["get_weather"] * 3
    assert outcome.rows("SELECT DISTINCT final_answer, user_input FROM trajectories") == [
        ("It is 22C.", "Data is on. Weather?")
    ]
    assert outcome.rows("SELECT DISTINCT input_tokens FROM trajectories") == [(30,)]


@built_together
def test_tools_of_a_simulated_user(folder: Path) -> Scene:
    """In a conversation of both, a model of the role `user` called them, or the reply says so."""
    asked = {"metadata": {"requestor": "user"}}
    both = [ASKED, CALLS, REPLY, TOGGLES, TOGGLED, OF_USER, ANSWER]
    outcome = yield log(
        folder,
        {
            "messages": both,
            "events": [model(1, TOGGLES, 5, role="user"), model(2, OF_USER, 5, role="user")],
        },
        {"messages": [ASKED, CALLS, REPLY, TOGGLED | asked, ANSWER]},
    )

    assert [tool for tool, *_ in outcome.calls()] == ["get_weather"] * 2
    assert outcome.imported.ignored == {
        "replies to tools that the user called": 2,
        "tool calls in messages of role user": 1,
    }
    assert outcome.rows("SELECT DISTINCT final_answer FROM trajectories") == [("It is 22C.",)]


@built_together
def test_answers_that_no_model_call_gave(folder: Path) -> Scene:
    """An answer that no event has keeps no tokens, and takes none of another."""
    outcome = yield log(
        folder,
        {
            "messages": [ASKED, ANSWER | {"content": "Shown."}, ASKED, ANSWER],
            "events": [model(2, ANSWER, 9)],
        },
    )

    assert [tokens for kind, *_, tokens, _, _ in told(outcome) if kind == "answer"] == [None, 9]


def test_real_old_logs(tmp_path: Path, shared_data: Path) -> None:
    """Three forms: without ids in an archive, with a transcript, and of one answer alone."""
    logs = shared_data / "otlp-fixtures" / "inspect-logs" / "tests" / "log" / "test_eval_log"
    names = ("log_streaming.eval", "log_formats.json", "log_length_stop_reason.txt")
    outcome = imported(tmp_path, *(logs / name for name in names), format_="inspect")

    (calls, timed, tokens), *_ = outcome.rows(
        "SELECT count(*), count(*) FILTER (year(end_time) = 2024), count(input_tokens) FROM steps "
        "WHERE kind = 'answer'"
    )
    assert calls == timed == tokens > 0
