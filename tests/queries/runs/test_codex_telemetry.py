"""Codex's telemetry: spans tell what ran, and log records the prompt and what the tools gave."""

from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import MS, NOON_NS, Row, rows, span, story

SESSION = "01a22b48-0383-7bd3-b432-458b496482d6"
HEAD = "Chunk ID: a1\nWall time: 0.1 seconds\n"


def _codex(number: int, parent: int | None, name: str, at: float, **fields: Any) -> Row:
    return span(number, parent, name=name, at=at, ms=2, scope="codex_cli_rs", **fields)


def _record(number: int, at: float, name: str, **fields: str) -> Row:
    """Return a log record of a span."""
    attributes = {"event.name": f"codex.{name}", "conversation.id": SESSION, **fields}
    return {
        "spanId": f"{number:016x}",
        "timeUnixNano": str(NOON_NS + int(at * MS)),
        "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in attributes.items()
        ],
    }


def _tool(number: int, at: float, call_id: str, output: str, *, success: str = "true") -> Row:
    """Return the span of a call, with the record of its result on a span below."""
    called: Row = {"tool_name": "exec_command", "call_id": call_id}
    result = {"call_id": call_id, "arguments": '{"cmd": "ls"}', "output": output}
    record = _record(number, at + 2, "tool_result", success=success, **result)
    found = _codex(number, 2, "exec_command", at, codex__tool__phase="dispatch", **called)
    return found | {"records": [record]}


def _turn(prompt: str) -> list[Row]:
    """Return a turn: a request, three calls (two fail), and a request."""
    asked = {"records": [_record(2, 1, "user_prompt", prompt=prompt)]}
    return [
        _codex(1, None, "turn/start", 0),
        _codex(2, 1, "session_task.turn", 1, turn__id="t1", model="gpt-x") | asked,
        _codex(3, 2, "model_client.stream_responses_api", 2, model="gpt-x"),
        _codex(4, 3, "append_items", 3),
        _tool(5, 5, "c1", f"{HEAD}Process exited with code 0\nOutput:\nExit code: 1"),
        _tool(6, 8, "c2", f"{HEAD}Process exited with code 2\nOutput:\nno such file"),
        _tool(7, 11, "c3", "unsupported call: exec_command", success="false"),
        _codex(8, 2, "model_client.stream_responses_websocket", 20, model="gpt-x"),
    ]


@built_together
def test_a_turn_is_a_run_of_its_session() -> Scene:
    """Codex's many inner spans are not steps."""
    lake = yield _turn("Count the files.")

    assert rows(
        lake,
        "SELECT agent_name, conversation_id, user_input, llm_call_count, tool_call_count, "
        "error_count FROM trajectories",
    ) == [
        {
            **{"agent_name": "Codex", "conversation_id": SESSION},
            **{"user_input": "Count the files.", "llm_call_count": 2},
            **{"tool_call_count": 3, "error_count": 2},
        }
    ]
    assert [each for each in story(lake) if each.startswith("tool_call")] == [
        'tool_call exec_command {"cmd":"ls"} ok',
        'tool_call exec_command {"cmd":"ls"} error',
        'tool_call exec_command {"cmd":"ls"} error',
    ]


@built_together
def test_exit_codes_are_read_before_the_output() -> Scene:
    """What a command has printed never fails its call."""
    lake = yield _turn("Count the files.")

    found = rows(lake, "SELECT error_message FROM steps WHERE kind = 'tool_call' ORDER BY span_id")
    assert [row["error_message"] for row in found] == [
        None,
        "exit code 2",
        "unsupported call: exec_command",
    ]


def _requested(first: int, above: int, at: float, used: int) -> list[Row]:
    """Return a request to the model as Codex nests it, with the end of its stream."""
    usage: Row = {
        "gen_ai.usage.input_tokens": used,
        "gen_ai.usage.cache_read.input_tokens": 20,
        "gen_ai.usage.output_tokens": 7,
        "codex.usage.reasoning_output_tokens": 5,
        "codex.usage.total_tokens": used + 7,
    }
    return [
        _codex(first, above, "try_run_sampling_request", at, model="gpt-x"),
        _codex(first + 1, first, "stream_request", at),
        _codex(first + 2, first + 1, "model_client.stream_responses_websocket", at, model="gpt-x"),
        _codex(first + 3, first + 1, "model_client.stream_responses_api", at + 1, model="gpt-x"),
        _codex(first + 4, first, "receiving_stream", at + 2),
        _codex(first + 5, first + 4, "message_from_assistant", at + 3),
        _codex(first + 6, first + 4, "completed", at + 4, **usage),
    ]


@built_together
def test_tokens_of_a_model_call_are_told_by_the_end_of_its_stream() -> Scene:
    """Two agents ask at a time; a connection that is opened in advance is not a model call."""
    warm = {"websocket.warmup": True}
    lake = yield [
        _codex(1, None, "turn/start", 0),
        _codex(2, 1, "session_task.turn", 1, turn__id="t1", model="gpt-x"),
        _codex(3, 2, "model_client.stream_responses_websocket", 2, model="gpt-x", **warm),
        *_requested(10, 2, 10, 100),
        *_requested(20, 2, 11, 300),
    ]

    assert rows(
        lake,
        "SELECT llm_call_count, input_tokens, output_tokens FROM trajectories",
    ) == [{"llm_call_count": 4, "input_tokens": 400, "output_tokens": 14}]
    usage = rows(
        lake,
        "SELECT unnest(model_usage, recursive := true) FROM trajectories",
    )
    cached = {"cache_read_tokens": 40, "reasoning_tokens": 10, "fresh_input_tokens": 360}
    assert [row for row in usage if cached.items() <= row.items()], usage


@built_together
def test_a_redacted_prompt_is_no_prompt() -> Scene:
    """Codex redacts prompts unless `log_user_prompt` allows them."""
    lake = yield _turn("[REDACTED]")

    assert rows(lake, "SELECT user_input FROM trajectories") == [{"user_input": None}]
