"""Pipecat's voice agents: each turn of a conversation is a run, with what its models requested."""

import json
from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, line, rows, span

SCOPE = "pipecat"
ASKED: list[Row] = [{"role": "user", "content": "How cold is it in Oslo?"}]
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "cold", "arguments": '{"in": "Oslo"}'},
}
TOLD: list[Row] = [
    *ASKED,
    {"role": "assistant", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "9"},
]
THANKED = [*TOLD, {"role": "assistant", "content": "Nine."}, {"role": "user", "content": "Thanks"}]
TOOLS = json.dumps([{"type": "function", "function": {"name": "cold"}}])


def turn(number: int, at: float) -> Row:
    """Return a turn of the conversation."""
    told: dict[str, Any] = {"conversation__id": "room", "turn__number": number}
    return span(number, 1, scope=SCOPE, name="turn", at=at, ms=40, **told)


def llm(number: int, parent: int, at: float, heard: list[Row], said: str | None = None) -> Row:
    """Return a model call of a turn."""
    told: dict[str, Any] = {} if said is None else {"output": said}
    return span(
        number,
        parent,
        scope=SCOPE,
        name="llm",
        at=at,
        gen_ai__operation__name="chat",
        gen_ai__request__model="m",
        gen_ai__usage__input_tokens=10,
        gen_ai__usage__output_tokens=2,
        input=json.dumps(heard),
        tools=TOOLS,
        **told,
    )


def story_of_runs(lake: Any) -> list[list[str]]:
    """Return the story of each run, by their ids."""
    stories: dict[str, list[str]] = {}
    for row in rows(lake, "SELECT * FROM steps ORDER BY trajectory_id, step_index"):
        stories.setdefault(row["trajectory_id"], []).append(line(row))
    return list(stories.values())


@built_together
def test_turns_are_runs_of_one_conversation() -> Scene:
    """The next model call's input holds the request; speech is not a model call."""
    speech: dict[str, Any] = {"gen_ai__operation__name": "tts", "gen_ai__request__model": "voice"}
    lake = yield [
        span(1, scope=SCOPE, name="conversation", ms=100, conversation__id="room"),
        turn(2, 1),
        llm(3, 2, 2, ASKED),
        llm(4, 2, 8, TOLD, "Nine."),
        span(5, 2, scope=SCOPE, name="tts", at=10, text="Nine.", **speech),
        turn(6, 50),
        llm(7, 6, 52, THANKED, "Bye."),
    ]

    assert story_of_runs(lake) == [
        ['tool_call cold {"in":"Oslo"} ok', "observation 9", "answer Nine."],
        ["answer Bye."],
    ]
    asked = "SELECT conversation_id, user_input, llm_call_count, input_tokens FROM trajectories"
    assert rows(lake, asked + " ORDER BY trajectory_id") == [
        {
            "conversation_id": "room",
            "user_input": "How cold is it in Oslo?",
            "llm_call_count": 2,
            "input_tokens": 20,
        },
        {
            "conversation_id": "room",
            "user_input": "Thanks",
            "llm_call_count": 1,
            "input_tokens": 10,
        },
    ]


@built_together
def test_messages_of_google_have_parts() -> Scene:
    """Messages are in the form of the model's provider."""
    call = {"functionCall": {"name": "cold", "args": {"in": "Oslo"}}}
    heard: list[Row] = [{"role": "user", "parts": [{"text": "How cold is it?"}]}]
    told = [
        *heard,
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [{"functionResponse": {"name": "cold", "response": {"t": 9}}}]},
    ]
    lake = yield [turn(2, 1), llm(3, 2, 2, heard), llm(4, 2, 8, told, "Nine.")]

    assert story_of_runs(lake) == [
        ['tool_call cold {"in":"Oslo"} ok', 'observation {"t":9}', "answer Nine."]
    ]
