"""A run that goes on with what another waited for has the call, its result and the question."""

import json
from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, agent, message, model, request, response, rows, span, story, tool

BOOKED = [message("assistant", "Booked for 3 May.")]
OPEN: Row = message("assistant", request("ask_client", "c1", q="date"))
RESULT: Row = message("tool", response("3 May", "c1"))
ASKED = message("user", "Book a room.")


def told(lake: Any) -> list[dict[str, Any]]:
    """Return of each run what the user asked, what it answered, and whether it waits."""
    found = "SELECT user_input, final_answer, interrupted FROM trajectories ORDER BY trajectory_id"
    return rows(lake, found)


@built_together
def test_strands_goes_on_with_a_result() -> Scene:
    """Its input begins with the request and the result; nobody asked anything in it."""
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
    """A result of which nothing tells the call is no call."""
    lake = yield [agent(1), model(2, 1, heard=[RESULT], said=BOOKED)]

    assert not [line for line in story(lake) if "tool_call" in line]
