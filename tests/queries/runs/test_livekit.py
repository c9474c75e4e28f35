"""LiveKit's voice agents: each turn is a run of one conversation."""

import json
from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, rows, span, story

CALL = {"id": "x/fnc_0", "type": "function_call", "call_id": "c1", "name": "get_weather"}
ASKED: Row = {"type": "message", "role": "user", "content": ["Weather?", {"type": "image"}]}


def _livekit(number: int, parent: int | None, name: str, at: float, ms: float, **told: Any) -> Row:
    return span(number, parent, name=name, at=at, ms=ms, scope="livekit-agents", **told)


def _session(mark: str) -> list[Row]:
    """Return a session of two turns; names of content have a segment before them."""
    agent = {"gen_ai__operation__name": "invoke_agent", "lk__agent_label": "pkg.Voice"}
    chat = {"gen_ai__operation__name": "chat", "gen_ai__usage__input_tokens": 0}
    spoke = {f"lk__{mark}user_input": "Weather?", f"lk__{mark}response__text": "Sunny."}
    calls = json.dumps([CALL | {"arguments": '{"city": "x"}'}])
    replied = {"type": "function_call_output", "call_id": "c1", "output": "sun", "is_error": False}
    heard = json.dumps({"items": [ASKED, CALL | {"arguments": '{"city": "x"}'}, replied]})
    tool = {
        "lk__function_tool__id": "c1",
        "lk__function_tool__name": "get_weather",
        f"lk__{mark}function_tool__arguments": '{"city": "x"}',
        f"lk__{mark}function_tool__output": "sun",
        "lk__function_tool__is_error": False,
    }
    context = f"lk__{mark}chat_ctx"
    return [
        _livekit(1, None, "agent_session", 0, 99, lk__job_id="j1", lk__agent_name="voice"),
        _livekit(2, 1, "agent_turn", 1, 40, **agent, **spoke),
        _livekit(
            3,
            2,
            "llm_node",
            2,
            9,
            lk__function_tools='["get_weather"]',
            **{
                context: json.dumps({"items": [ASKED]}),
                f"lk__{mark}response__function_calls": calls,
            },
        ),
        _livekit(4, 3, "llm_request", 3, 7, **chat, gen_ai__usage__output_tokens=0),
        _livekit(5, 2, "function_tool", 12, 3, **tool),
        _livekit(
            6, 2, "llm_node", 20, 9, **{context: heard, f"lk__{mark}response__text": "Sunny."}
        ),
        _livekit(7, 6, "llm_request", 21, 7, **chat, gen_ai__usage__output_tokens=0),
        _livekit(8, 1, "agent_turn", 50, 9, **agent, **{f"lk__{mark}response__text": "Bye."}),
    ]


TOLD = [
    'tool_call get_weather {"city":"x"} ok',
    "observation sun",
    "answer Sunny.",
    "answer Bye.",
]
RUNS = """
SELECT agent_name, conversation_id, user_input, final_answer, input_tokens, output_tokens
FROM trajectories ORDER BY start_time
"""


def _runs(lake: Any) -> list[list[Any]]:
    return [list(row.values()) for row in rows(lake, RUNS)]


EXPECTED = [
    ["voice", "j1", "Weather?", "Sunny.", None, None],
    ["voice", "j1", None, "Bye.", None, None],
]


@built_together
def test_turns_are_runs_of_one_conversation() -> Scene:
    """What the model requested stands on the outer span; missing token counts are written as 0."""
    lake = yield _session("")
    assert story(lake) == TOLD
    assert _runs(lake) == EXPECTED


@built_together
def test_names_that_mark_content_are_read() -> Scene:
    """Since 2026, `lk.pii.response.text` stands for `lk.response.text`."""
    lake = yield _session("pii__")
    assert story(lake) == TOLD
    assert _runs(lake) == EXPECTED


@built_together
def test_session_is_no_run_although_it_is_a_workflow() -> Scene:
    """Since 1.8 spans follow the GenAI conventions as well, and name tools and calls twice."""
    workflow = {"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_workflow"}}
    first, *others = _session("pii__")
    call = [{"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": {"city": "x"}}]
    requested = [{"role": "assistant", "parts": call, "finish_reason": "tool_call"}]
    standard = {
        "llm_node": {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.output.messages": json.dumps(requested),
        },
        "function_tool": {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": '{"city": "x"}',
            "gen_ai.tool.call.result": "sun",
        },
    }
    seen: set[str] = set()
    for each in others:
        if each["name"] in standard and each["name"] not in seen:  # the first of each
            seen.add(each["name"])
            each["attributes"] += [
                {"key": key, "value": {"stringValue": text}}
                for key, text in standard[each["name"]].items()
            ]
    lake = yield [first | {"attributes": [*first["attributes"], workflow]}, *others]

    assert story(lake) == TOLD
    assert _runs(lake) == EXPECTED
