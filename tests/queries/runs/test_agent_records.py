"""Coding agents that write log records: a conversation is a run, made of its records alone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest

from tracegrade_collector.encoding.agent_records import spans_in_records
from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.rows.rows import Record, span_rows
from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_queries.build.build import BuildSummary, build
from tracegrade_queries.engine.connection import connect

from ..traces import MS, NOON_NS, Row, land, land_logs, logs_request_of, request_of, span

DETAILS: Final = "gen_ai.client.inference.operation.details"
CONTEXT: Final = "<session_context>\nToday is Monday.\n</session_context>"
FINISHED: Final = {
    "gen_ai.response.finish_reasons": '["stop"]',
    "gen_ai.response.model": "gemini-x",
}


def _record(at: float, name: str, **fields: str) -> Row:
    attributes = {"event.name": name, "event.timestamp": f"{at:09.1f}"}
    attributes |= {key.replace("__", "."): value for key, value in fields.items()}
    return {
        "timeUnixNano": str(NOON_NS + int(at * MS)),
        "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in attributes.items()
        ],
    }


def _answered(at: float, received: list[Row], sent: list[Row], role: str = "main") -> list[Row]:
    """Return the two records that Gemini CLI writes of a model call."""
    counts = {"input_token_count": "100", "output_token_count": "20", "duration_ms": "5"}
    cached = {"cached_content_token_count": "40", "thoughts_token_count": "5"}
    used = {"gen_ai.usage.input_tokens": "100", "gen_ai.usage.output_tokens": "20"}
    texts = {
        "gen_ai.input.messages": json.dumps(received),
        "gen_ai.output.messages": json.dumps(sent),
    }
    total = {"total_token_count": "125", "role": role, "model": "gemini-x"}
    named = {"gen_ai.operation.name": "generate_content", "gen_ai.request.model": "gemini-x"}
    return [
        _record(at, "gemini_cli.api_response", **counts, **cached, **total),
        _record(at, DETAILS, **FINISHED, **used, **texts, **named),
    ]


def _said(role: str, *parts: Row | str) -> Row:
    texts = [
        {"type": "text", "content": each} if isinstance(each, str) else each for each in parts
    ]
    return {"role": role, "parts": texts}


def _asked(path: str, call_id: str) -> Row:
    arguments = json.dumps({"path": path})
    return {"type": "tool_call", "name": "read", "id": call_id, "arguments": arguments}


def _replied(text: str, call_id: str) -> Row:
    return {"type": "tool_call_response", "id": call_id, "response": json.dumps({"output": text})}


def _ran(at: float, path: str, *, success: str = "true", **fields: str) -> Row:
    arguments = json.dumps({"path": path}, indent=2)
    named = {"function_name": "read", "function_args": arguments, "duration_ms": "2"}
    return _record(at, "gemini_cli.tool_call", success=success, **named, **fields)


def _gemini() -> list[Row]:
    """Return two prompts: two parallel calls, one failed; then an answer at once."""
    first = [_said("user", CONTEXT, "Read both.")]
    thought = {"type": "reasoning", "content": "I look."}
    calls = _said("system", thought, _asked("a", "read__read_1_0"), _asked("b", "read__read_1_1"))
    past = _said("system", _asked("a", "read_1_0"), _asked("b", "read_1_1"))
    results = _said("user", _replied("hello", "read_1_0"), _replied("none", "read_1_1"))
    second = [*first, past, results]
    third = [*second, _said("system", "One says hello."), _said("user", "And now?")]
    return [
        _record(0, "gemini_cli.user_prompt", prompt="Read both."),
        _record(1, "gemini_cli.api_error", model="gemini-x", error__message="overloaded"),
        *_answered(
            5, [_said("user", "Which model?")], [_said("system", "flash")], "utility_router"
        ),
        *_answered(10, first, [calls]),
        _ran(20, "a"),
        _ran(21, "b", success="false", error__message="not found", error__type="missing"),
        *_answered(30, second, [_said("system", "One says hello.")]),
        _record(40, "gemini_cli.user_prompt", prompt="And now?"),
        *_answered(50, third, [_said("system", "Done.")]),
    ]


def _codex() -> list[Row]:
    """Return two prompts of Codex: a failed call, and the tokens of each model call."""
    tokens = {"input_token_count": "100", "cached_token_count": "40", "output_token_count": "20"}
    called = {"tool_name": "exec_command", "call_id": "c1", "arguments": '{"cmd": "ls"}'}
    output = "Chunk ID: a1\nProcess exited with code 2\nOutput:\nno such file"
    completed = {"event__kind": "response.completed", "model": "gpt-x"}
    return [
        _record(0, "codex.user_prompt", prompt="List them."),
        _record(4, "codex.sse_event", event__kind="response.output_item.done"),
        _record(5, "codex.sse_event", **completed),
        _record(6, "codex.sse_event", **completed, **tokens),
        _record(9, "codex.tool_result", **called, output=output, success="true", duration_ms="2"),
        _record(12, "codex.sse_event", **completed, **tokens),
        _record(20, "codex.user_prompt", prompt="Again."),
        _record(25, "codex.sse_event", **completed, error__message="stream closed"),
    ]


def _hostile() -> list[Row]:
    """Return records whose values are of no use."""
    broken = {"gen_ai.input.messages": "[" * 5000, "gen_ai.output.messages": '{"role": 1}'}
    return [
        _record(1, "gemini_cli.user_prompt", prompt="x", duration_ms="9" * 400),
        _record(2, DETAILS, **FINISHED, **broken),
        _record(3, "gemini_cli.tool_call", function_name="read", duration_ms="-4"),
    ]


def _of(conversation: str, records: list[Row], agent: str) -> bytes:
    key = {"codex": "conversation.id", "gemini-cli": "session.id"}[agent]
    named = {"key": key, "value": {"stringValue": conversation}}
    given = [each | {"attributes": [*each["attributes"], named]} for each in records]
    return logs_request_of(given, agent)


REQUESTS: Final = [
    _of("g1", _gemini(), "gemini-cli"),
    _of("g2", _hostile(), "gemini-cli"),
    _of("c1", _codex(), "codex"),
    _of("c2", _codex()[3:6:2], "codex"),  # its spans hold the rest
]


def _land_spans(lake: Lake, body: bytes, seq: int) -> bool:
    """Land the spans that a collector makes of log records, and return whether there are any."""
    made = spans_in_records(body, Encoding.JSON)
    if made:
        record = Record(seq, NOON_NS, Signal.TRACES, Encoding.PROTOBUF, "", made[0])
        lake.append(RAW_SPANS, span_rows([record], "records"))
    return bool(made)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, BuildSummary]]:
    """Yield a connection to a lake with all conversations, and the summary of its build."""
    lake = Lake.create(tmp_path_factory.mktemp("records") / "lake")
    land_logs(lake, *REQUESTS)
    for seq, body in enumerate(REQUESTS, 1):
        assert _land_spans(lake, body, seq)
    summary = build(lake)
    with connect(lake) as con:
        yield con, summary


def _story(con: duckdb.DuckDBPyConnection, conversation: str) -> list[tuple[Any, ...]]:
    return con.sql(
        "SELECT kind, coalesce(tool_name, content), status FROM steps "
        "JOIN trajectories USING (trajectory_id) WHERE conversation_id = $id ORDER BY step_index",
        params={"id": conversation},
    ).fetchall()


def test_a_conversation_of_gemini_cli_is_one_run(found: tuple[Any, BuildSummary]) -> None:
    """Ids of calls differ between an answer and the next input; context is not a question."""
    con, _ = found

    assert _story(con, "g1") == [
        ("thought", "I look.", None),
        ("tool_call", "read", "ok"),
        ("observation", "read", None),
        ("tool_call", "read", "error"),
        ("observation", "read", None),
        ("answer", "One says hello.", None),
        ("message", "And now?", None),
        ("answer", "Done.", None),
    ]
    assert con.sql(
        "SELECT agent_name, user_input, final_answer, llm_call_count, tool_call_count, "
        "error_count, input_tokens, output_tokens FROM trajectories WHERE conversation_id = 'g1'"
    ).fetchall() == [("Gemini CLI", "Read both.", "Done.", 4, 2, 1, 300, 75)]


def test_a_conversation_of_codex_is_one_run(found: tuple[Any, BuildSummary]) -> None:
    """Pieces of a stream, and records without tokens, are not model calls."""
    con, _ = found

    assert con.sql(
        "SELECT agent_name, conversation_id, user_input, llm_call_count, tool_call_count, "
        "error_count, input_tokens FROM trajectories WHERE agent_name = 'Codex'"
    ).fetchall() == [("Codex", "c1", "List them.", 3, 1, 1, 200)]
    assert con.sql(
        "SELECT error_message FROM steps JOIN trajectories USING (trajectory_id) "
        "WHERE trajectories.agent_name = 'Codex' AND kind = 'tool_call'"
    ).fetchall() == [("exit code 2",)]


def test_records_that_spans_hold_are_no_run(found: tuple[Any, BuildSummary]) -> None:
    """Codex that sends spans sends the tokens of its model calls outside them."""
    con, summary = found

    assert con.sql("FROM trajectories WHERE conversation_id = 'c2'").fetchall() == []
    assert (summary.unread, summary.unread_logs) == ({}, {})


def test_values_of_no_use_cost_themselves(found: tuple[Any, BuildSummary]) -> None:
    """The run is there, with the call that was read."""
    con, _ = found

    assert _story(con, "g2") == [("tool_call", "read", "ok")]


def test_a_record_that_is_sent_twice_gives_one_span() -> None:
    """The spans of equal records are equal."""
    assert spans_in_records(REQUESTS[0], Encoding.JSON) == spans_in_records(
        REQUESTS[0], Encoding.JSON
    )


def test_codex_that_sends_spans_and_records_is_counted_once(tmp_path: Path) -> None:
    """Its spans hold the prompt and the call; each model call's record has the tokens again."""
    used: Row = {"gen_ai__usage__input_tokens": 100, "gen_ai__usage__output_tokens": 20}
    used["codex__usage__total_tokens"] = 120
    called: Row = {"tool_name": "exec_command", "call_id": "c1", "codex__tool__phase": "dispatch"}
    request: Row = {"name": "model_client.stream_responses_api", "model": "gpt-x"}
    spans = [
        span(1, name="session_task.turn", turn__id="t1", model="gpt-x", scope="codex_cli_rs"),
        span(2, 1, name="try_run_sampling_request", at=1, scope="codex_cli_rs"),
        span(3, 2, at=1, scope="codex_cli_rs", **request),
        span(4, 2, name="completed", at=2, scope="codex_cli_rs", **used),
        span(5, 1, name="exec_command", at=3, scope="codex_cli_rs", **called),
    ]
    prompt, _, _, tokens, result, *_ = _codex()
    in_spans = [
        record | {"traceId": f"{1:032x}", "spanId": f"{number:016x}"}
        for number, record in ((1, prompt), (5, result))
    ]
    lake = Lake.create(tmp_path / "lake")
    land(lake, request_of(spans))
    outside, inside = (_of("both", records, "codex") for records in ([tokens], in_spans))
    land_logs(lake, outside, inside)
    assert [_land_spans(lake, body, 1) for body in (outside, inside)] == [True, False]
    build(lake)

    with connect(lake) as con:
        assert con.sql(
            "SELECT conversation_id, user_input, llm_call_count, tool_call_count, error_count, "
            "input_tokens, output_tokens FROM trajectories"
        ).fetchall() == [("both", "List them.", 1, 1, 1, 100, 20)]
