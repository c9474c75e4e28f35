"""A drafted answer is what the vendors' own clients read, and asking again always hits."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import many

from tracegrade_harness.conversations.conversation import (
    ModelTurn,
    Part,
    Reasoning,
    Result,
    Text,
    ToolRequest,
)
from tracegrade_harness.proxy.messages import CallNames, ProxiedRequest
from tracegrade_harness.proxy.model_tape import conversation_entry, conversation_key, conversing
from tracegrade_harness.proxy.proxy import HttpProxy
from tracegrade_harness.suite.normalize import Normalized
from tracegrade_harness.tape.normalizing import Normalizer
from tracegrade_harness.tape.player import TapePlayer

if TYPE_CHECKING:
    import openai

ASKED = (Text("system", "Be brief."), Text("user", "Where is A-1?"))
CALLS = ModelTurn(
    (Reasoning("Look."), ToolRequest("find", '{"order": "A-1"}', "c1"), ToolRequest("wait", "{}")),
    "rules",
    7,
    3,
)
SAYS = ModelTurn((Text("assistant", "It is under way."),), "rules", 9, 4)


@contextmanager
def client(told: tuple[Part, ...], turn: ModelTurn) -> Iterator["openai.OpenAI"]:
    """Give OpenAI's own client of a tape, over loopback."""
    import openai  # noqa: PLC0415 - takes a second, which only these tests need

    model = conversing("m", TapePlayer([conversation_entry("m", told, turn)]))
    with (
        HttpProxy(model, CallNames([]), None) as proxy,
        openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="none", max_retries=0) as asking,
    ):
        yield asking


MESSAGES: Any = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where is A-1?"},
]


@pytest.mark.parametrize("stream", [False, True])
def test_chat_completions_are_read_by_their_client(stream: bool) -> None:
    """Calls with their ids, or new ones; streamed, they add up to the same."""
    with client(ASKED, CALLS) as model:
        asking = model.chat.completions
        if stream:
            with asking.stream(model="x", messages=MESSAGES) as events:
                message: Any = events.get_final_completion().choices[0].message
        else:
            message = asking.create(model="x", messages=MESSAGES).choices[0].message

    calls = [(call.function.name, call.function.arguments) for call in message.tool_calls]
    assert calls == [("find", '{"order": "A-1"}'), ("wait", "{}")]
    assert len({call.id for call in message.tool_calls}) == 2


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("turn", [CALLS, SAYS])
def test_responses_are_read_by_their_client(turn: ModelTurn, stream: bool) -> None:
    """The instructions may stand apart, and texts be blocks."""
    told: Any = {
        "model": "x",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Where is A-1?"}]}],
    }
    with client(ASKED, turn) as model:
        if stream:
            with model.responses.stream(**told) as events:
                found: Any = events.get_final_response()
        else:
            found = model.responses.create(**told)

    assert found.output_text == (turn.text or "")
    calls = [(each.name, each.arguments) for each in found.output if each.type == "function_call"]
    assert calls == [(call.tool, call.arguments) for call in turn.calls]
    assert found.usage.input_tokens == turn.input_tokens


words = st.text(max_size=20)
values = st.recursive(st.none() | st.booleans() | st.integers() | words, st.lists, max_leaves=5)
requests = st.builds(
    ToolRequest, words, st.dictionaries(words, values, max_size=3).map(json.dumps), words
)
turns = st.tuples(words, st.lists(st.tuples(requests, words | values.map(json.dumps)), max_size=3))


def told_by(conversation: Any) -> tuple[Part, ...]:
    """Return a conversation out of turns: what the user says, then calls and their results."""
    parts: list[Part] = []
    for said, calls in conversation:
        parts.append(Text("user", said))
        parts += [
            ToolRequest(call.tool, call.arguments, f"{len(parts)}-{i}")
            for i, (call, _) in enumerate(calls)
        ]
        asked = [part.id for part in parts if isinstance(part, ToolRequest)][-len(calls) :]
        parts += [Result(result, ident) for ident, (_, result) in zip(asked, calls, strict=False)]
    return tuple(parts)


def as_chat(parts: tuple[Part, ...]) -> list[dict[str, Any]]:
    """Return a conversation as Chat Completions have it."""
    messages: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case Text():
                messages.append({"role": part.role, "content": part.text})
            case ToolRequest():
                function = {"name": part.tool, "arguments": part.arguments}
                call = {"id": part.id, "type": "function", "function": function}
                messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            case Result():
                messages.append({"role": "tool", "tool_call_id": part.id, "content": part.text})
    return messages


def as_items(parts: tuple[Part, ...]) -> list[dict[str, Any]]:
    """Return a conversation as Responses have it."""
    items: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case Text():
                block = {"type": "input_text", "text": part.text}
                items.append({"role": part.role, "content": [block]})
            case ToolRequest():
                called = {"name": part.tool, "arguments": part.arguments, "call_id": part.id}
                items.append({"type": "function_call", **called})
            case Result():
                told = {"call_id": part.id, "output": part.text}
                items.append({"type": "function_call_output", **told})
    return items


@settings(max_examples=many(25))
@given(st.lists(turns, min_size=1, max_size=3))
def test_the_same_conversation_always_hits(conversation: Any) -> None:
    """For all content, and from every API."""
    parts = told_by(conversation)
    for path, body in (
        ("/v1/chat/completions", {"messages": as_chat(parts)}),
        ("/v1/responses", {"input": as_items(parts)}),
    ):
        player = TapePlayer([conversation_entry("m", parts, SAYS)])
        request = ProxiedRequest("POST", path, "", (), json.dumps(body).encode())
        reply = conversing("m", player)(request)

        assert reply.status == HTTPStatus.OK
        assert player.misses == []


def test_a_conversation_with_another_date_is_the_same_where_a_suite_says_so() -> None:
    """In instructions, in what the user says, and in what tools told."""

    def told(date: str) -> tuple[Part, ...]:
        called = ToolRequest("find", json.dumps({"since": date}), "c1")
        result = Result(json.dumps([{"at": date}]), "c1")
        return (Text("system", f"It is {date}."), Text("user", f"{date}?"), called, result)

    entries = [conversation_entry("m", told("2026-01-02"), SAYS)]
    date = {"pattern": r"\d{4}-\d\d-\d\d", "with": "DATE"}
    key = conversation_key("m", told("2027-11-30"))

    assert (
        TapePlayer(entries, Normalizer([Normalized.model_validate(date)])).take(key)
        == SAYS.as_json()
    )
    assert not TapePlayer(entries).knows(key)
