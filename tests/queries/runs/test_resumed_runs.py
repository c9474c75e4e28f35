"""A run that goes on with what another waited for has the call, its result and the question."""

import json
from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import (
    Row,
    agent,
    apart,
    message,
    model,
    request,
    response,
    rows,
    span,
    story,
    story_apart,
    tool,
)

BOOKED = [message("assistant", "Booked for 3 May.")]
OPEN: Row = message("assistant", request("ask_client", "c1", q="date"))
RESULT: Row = message("tool", response("3 May", "c1"))
ASKED = message("user", "Book a room.")
TOKENS: Row = {"gen_ai__usage__input_tokens": 10, "gen_ai__usage__output_tokens": 5}
COUNTS: Row = {"llm__token_count__prompt": 10, "llm__token_count__completion": 5}
IN_CONVERSATION: Row = {"gen_ai__conversation__id": "k", **TOKENS}


def requesting(message_prefix: str) -> Row:
    """Return OpenInference's attributes of a message that requests the tool."""
    call = f"{message_prefix}__message__tool_calls__0__tool_call__"
    return {
        f"{message_prefix}__message__role": "assistant",
        f"{call}id": "c1",
        f"{call}function__name": "ask_client",
        f"{call}function__arguments": '{"q": "date"}',
    }


GIVEN: Row = {
    **requesting("llm__input_messages__0"),
    "llm__input_messages__1__message__role": "tool",
    "llm__input_messages__1__message__tool_call_id": "c1",
    "llm__input_messages__1__message__content": "3 May",
    "llm__output_messages__0__message__role": "assistant",
    "llm__output_messages__0__message__content": "Booked for 3 May.",
}


def claude_request(**attributes: object) -> Row:
    """Return a model call as Claude Code's own tracing tells it."""
    told: Row = {"span__type": "llm_request", "model": "claude", "session__id": "k", **attributes}
    counts: Row = {"input_tokens": 10, "output_tokens": 5}
    scope = "com.anthropic.claude_code.tracing"
    return span(1, name="claude_code.llm_request", scope=scope, **told, **counts)


def used(lake: Any) -> list[tuple[int, int]]:
    """Return of each run its model calls and the tokens that these were given."""
    found = "SELECT llm_call_count, input_tokens FROM trajectories ORDER BY trajectory_id"
    return [tuple(row.values()) for row in rows(lake, found)]


def taken_up(lake: Any) -> list[tuple[list[str], list[str]]]:
    """Return of each run the calls that it left open, and those that it took up."""
    found = "SELECT open_calls, resumed_calls FROM trajectories ORDER BY trajectory_id"
    return [tuple(row.values()) for row in rows(lake, found)]


def told(lake: Any) -> list[dict[str, Any]]:
    """Return of each run what the user asked, what it answered, and whether it waits."""
    found = "SELECT user_input, final_answer, interrupted FROM trajectories ORDER BY trajectory_id"
    return rows(lake, found)


@built_together
def test_strands_goes_on_with_a_result() -> Scene:
    """Its input begins with the request and the result; it has no user message."""
    heard = json.dumps([OPEN, RESULT])
    lake = yield [
        model(1, said=[OPEN], heard=[ASKED]),
        agent(2, at=60, gen_ai__input__messages=heard),
        model(3, 2, at=61, heard=[OPEN, RESULT], said=BOOKED),
    ]

    assert story(lake)[0] == 'tool_call ask_client {"q":"date"} ok'
    calls = rows(lake, "SELECT arguments, result FROM steps WHERE kind = 'tool_call'")
    assert calls == [{"arguments": '{"q":"date"}', "result": "3 May"}]
    assert told(lake) == [
        {"user_input": None, "final_answer": "Booked for 3 May.", "interrupted": False}
    ]


@built_together
def test_deferred_result_comes_with_the_history() -> Scene:
    """The question is the one of the run before, and a tool of this run was executed, too."""
    look = message("assistant", request("look", "c2"))
    offered = json.dumps([{"name": "look"}, {"name": "ask_client"}])
    history = [ASKED, OPEN, RESULT]
    lake = yield [
        agent(1),
        model(2, 1, at=1, heard=history, said=[look], gen_ai__tool__definitions=offered),
        tool(3, 1, at=3, tool_name="look", gen_ai__tool__call__id="c2"),
        model(
            4, 1, at=5, heard=[*history, look, message("tool", response("x", "c2"))], said=BOOKED
        ),
    ]

    calls = "SELECT tool_name, status FROM steps WHERE kind = 'tool_call' ORDER BY step_index"
    assert [tuple(row.values()) for row in rows(lake, calls)] == [
        ("ask_client", "ok"),
        ("look", "ok"),
    ]
    assert told(lake)[0]["user_input"] == "Book a room."


@built_together
def test_openinference_goes_on_with_a_result() -> Scene:
    """Messages in attributes one by one, as of LangGraph, where a run is resumed."""
    kind: Row = {"openinference__span__kind": "LLM"}
    prefix = "llm__input_messages__"
    call = f"{prefix}1__message__tool_calls__0__tool_call__"
    heard: Row = {
        f"{prefix}0__message__role": "user",
        f"{prefix}0__message__content": "Book a room.",
        f"{prefix}1__message__role": "assistant",
        f"{call}id": "c1",
        f"{call}function__name": "ask_client",
        f"{call}function__arguments": '{"q": "date"}',
        f"{prefix}2__message__role": "tool",
        f"{prefix}2__message__tool_call_id": "c1",
        f"{prefix}2__message__content": "3 May",
    }
    said: Row = {
        "llm__output_messages__0__message__role": "assistant",
        "llm__output_messages__0__message__content": "Booked for 3 May.",
    }
    lake = yield [
        span(1, ms=100, name="agent", openinference__span__kind="AGENT"),
        span(2, 1, at=1, **kind, **heard, **said),
    ]

    assert story(lake)[0] == 'tool_call ask_client {"q":"date"} ok'
    assert told(lake)[0]["user_input"] == "Book a room."


@built_together
def test_resumed_run_executes_the_call_itself() -> Scene:
    """An approved call has a span of its own in the run that goes on, and is one call."""
    lake = yield [
        agent(1),
        tool(2, 1, at=1, tool_name="ask_client", gen_ai__tool__call__id="c1"),
        model(3, 1, at=5, heard=[ASKED, OPEN, RESULT], said=BOOKED),
    ]

    assert [line for line in story(lake) if "tool_call" in line] == ["tool_call ask_client ok"]


@built_together
def test_second_turn_of_the_user_is_a_run_of_its_own() -> Scene:
    """Calls of the turn before are history: the user spoke after them."""
    heard = [ASKED, OPEN, RESULT, *BOOKED, message("user", "Thanks.")]
    lake = yield [agent(1), model(2, 1, heard=heard, said=[message("assistant", "Bye.")])]

    assert not [line for line in story(lake) if "tool_call" in line]
    assert told(lake)[0]["user_input"] == "Thanks."


@built_together
def test_sub_agent_that_hears_its_callers_calls() -> Scene:
    """What the run above requested is of that run alone."""
    handed = message("assistant", request("helper", "c1"))
    done = message("tool", response("go on", "c1"))
    lake = yield [
        agent(1),
        model(2, 1, at=1, heard=[ASKED], said=[handed]),
        tool(3, 1, at=3, ms=20, tool_name="helper", gen_ai__tool__call__id="c1"),
        agent(4, 3, at=4, ms=10, agent_name="helper"),
        model(5, 4, at=5, heard=[ASKED, handed, done], said=BOOKED),
    ]

    found = rows(
        lake,
        "SELECT tool_call_id FROM steps WHERE tool_call_id IS NOT NULL AND kind <> 'observation'",
    )
    assert len(found) == 1


@built_together
def test_reply_without_a_request_is_none() -> Scene:
    """A result without a recorded call is not a call."""
    lake = yield [agent(1), model(2, 1, heard=[RESULT], said=BOOKED)]

    assert not [line for line in story(lake) if "tool_call" in line]


@built_together
def test_chat_that_asked_belongs_to_the_run_that_was_given_the_result() -> Scene:
    """Its tokens count, and its input is not the question of a run that began later."""
    lake = yield [
        model(1, said=[OPEN], heard=[ASKED], **TOKENS),
        agent(2, at=60, gen_ai__input__messages=json.dumps([OPEN, RESULT])),
        model(3, 2, at=61, heard=[OPEN, RESULT], said=BOOKED, **TOKENS),
    ]

    assert used(lake) == [(2, 20)]
    assert told(lake)[0]["user_input"] is None
    assert [line for line in story(lake) if "call" in line] == [
        'tool_call ask_client {"q":"date"} ok'
    ]


@built_together
def test_chat_of_openinference_that_asked_belongs_to_the_run() -> Scene:
    """Messages in attributes one by one; the client's span has no parent."""
    lake = yield [
        span(
            1, openinference__span__kind="LLM", **requesting("llm__output_messages__0"), **COUNTS
        ),
        span(2, at=60, ms=100, name="agent", openinference__span__kind="AGENT"),
        span(3, 2, at=61, openinference__span__kind="LLM", **GIVEN, **COUNTS),
    ]

    assert used(lake) == [(2, 20)]
    assert [line for line in story(lake) if "tool_call" in line] == [
        'tool_call ask_client {"q":"date"} ok'
    ]


@built_together
def test_chat_that_asked_for_something_else_is_of_no_run() -> Scene:
    """Nobody was given a result of it."""
    lake = yield [
        model(1, said=[message("assistant", request("look", "c9"))], heard=[ASKED], **TOKENS),
        agent(2, at=60, gen_ai__input__messages=json.dumps([OPEN, RESULT])),
        model(3, 2, at=61, heard=[OPEN, RESULT], said=BOOKED, **TOKENS),
    ]

    assert used(lake) == [(1, 10)]


@built_together
def test_runs_say_which_calls_they_left_open_and_which_they_took_up() -> Scene:
    """A pause, the run that executes the call, and one that is given its result."""
    paused: Row = {"tool_name": "ask_client", "error": "x", "error__type": "ApprovalRequired"}
    call: Row = {"tool_name": "ask_client", "gen_ai__tool__call__id": "c1"}
    lake = yield apart(
        [
            [agent(1), model(2, 1, at=1, heard=[ASKED], said=[OPEN]), tool(3, 1, **call | paused)],
            [agent(1), tool(2, 1, **call), model(3, 1, at=5, heard=[ASKED, OPEN, RESULT])],
            [agent(1), model(2, 1, heard=[ASKED, OPEN, RESULT], said=BOOKED)],
            [agent(1), tool(2, 1, **call)],
            [agent(1), model(2, 1, said=[OPEN]), tool(3, 1, at=2, **call)],
        ],
    )

    assert taken_up(lake) == [
        (["c1"], []),
        ([], ["c1"]),
        ([], ["c1"]),
        ([], []),
        ([], []),
    ]


@built_together
def test_model_calls_alone_take_nothing_up() -> Scene:
    """A client's instrumentation begins a trace with each call: what was said before is history.

    With or without a conversation, and with any id; so no call is a step twice.
    """
    chats = []
    conversation: Row = {"gen_ai__conversation__id": "k"}
    nothing: Row = {}
    for call_id, told in (("c1", conversation), ("call_Z7vQ4mXk2pLs", nothing)):
        asked = message("assistant", request("ask_client", call_id, q="date"))
        heard = [ASKED, asked, message("tool", response("3 May", call_id))]
        chats += [[model(1, heard=[ASKED], said=[asked], **told)]]
        chats += [[model(1, heard=heard, said=BOOKED, **told)]]
    lake = yield apart(chats)

    assert [resumed for _, resumed in taken_up(lake)] == [[], [], [], []]
    calls = [line for story in story_apart(lake, 4) for line in story if "tool_call" in line]
    assert calls == ['tool_call ask_client {"q":"date"} unknown'] * 2


@built_together
def test_model_calls_that_stopped_for_tools_of_which_nothing_is_there() -> Scene:
    """Claude Code's, a client's without content, and OpenInference's; the last ones of each end.

    A conversation's model call without an input may have received results.
    """
    lake = yield apart(
        [
            [claude_request(stop_reason="tool_use")],
            [claude_request(stop_reason="end_turn")],
            [model(1, gen_ai__response__finish_reasons='["tool_calls"]', **IN_CONVERSATION)],
            [model(1, gen_ai__response__finish_reasons='["stop"]', **IN_CONVERSATION)],
            [span(1, openinference__span__kind="LLM", llm__finish_reason="tool_calls")],
            [model(1, heard=[ASKED], gen_ai__response__finish_reasons='["stop"]')],
        ],
    )

    found = "SELECT flags FROM trajectories ORDER BY trajectory_id"
    assert [row["flags"] for row in rows(lake, found)] == [
        ["stopped_for_tools", "unrecorded_calls", "unrecorded_thoughts"],
        ["unrecorded_answer", "unrecorded_calls", "unrecorded_thoughts"],
        ["stopped_for_tools", "unrecorded_calls", "unrecorded_thoughts"],
        ["unrecorded_answer", "unrecorded_calls", "unrecorded_thoughts"],
        ["stopped_for_tools", "unrecorded_calls", "unrecorded_thoughts"],
        ["unrecorded_answer", "unrecorded_thoughts"],
    ]


@built_together
def test_runs_of_one_trace_go_on_with_each_other() -> Scene:
    """What the first left open is a call of the second, and stays open in the first."""
    call: Row = {"tool_name": "ask_client", "gen_ai__tool__call__id": "c1"}
    lake = yield [
        span(9, ms=1000, name="POST /"),
        agent(1, 9),
        model(2, 1, at=1, heard=[ASKED], said=[OPEN]),
        tool(3, 1, at=2, error="x", error__type="ApprovalRequired", **call),
        agent(5, 9, at=500),
        model(6, 5, at=501, heard=[ASKED, OPEN, RESULT], said=BOOKED),
    ]

    assert taken_up(lake) == [(["c1"], []), ([], ["c1"])]
    calls = "SELECT status, result FROM steps WHERE kind = 'tool_call' ORDER BY trajectory_id"
    assert [tuple(row.values()) for row in rows(lake, calls)] == [
        ("interrupted", None),
        ("ok", "3 May"),
    ]


@built_together
def test_agent_that_hears_what_another_did_before_it_takes_nothing_up() -> Scene:
    """The first of the trace got the result, so the call is its own."""
    call: Row = {"tool_name": "ask_client", "gen_ai__tool__call__id": "c1"}
    lake = yield [
        span(9, ms=1000, name="POST /"),
        agent(1, 9),
        model(2, 1, at=1, heard=[ASKED], said=[OPEN]),
        tool(3, 1, at=2, gen_ai__tool__call__result="3 May", **call),
        agent(5, 9, at=500, agent_name="b"),
        model(6, 5, at=501, heard=[ASKED, OPEN, RESULT], said=BOOKED),
    ]

    assert taken_up(lake) == [([], []), ([], [])]
    assert len([line for line in story(lake) if line.startswith("tool_call")]) == 1
