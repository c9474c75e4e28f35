"""Runs whose trace cannot show what the agent thought or planned before its first call."""

from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, agent, message, model, request, rows, span, tool

USED: Row = {"gen_ai__usage__input_tokens": 10, "gen_ai__usage__output_tokens": 5}


def hidden(lake: Any) -> list[bool]:
    """Return of each run, by its id, whether its thoughts are hidden."""
    found = "SELECT list_contains(flags, 'unrecorded_thoughts') AS hidden FROM trajectories "
    return [row["hidden"] for row in rows(lake, f"{found}ORDER BY trajectory_id")]


def own(number: int, parent: int | None = 1, **fields: Any) -> Row:
    """Return a span of our own instrumentation."""
    return span(number, parent, scope="tracegrade", **fields)


def watched(number: int, parent: int | None = 1, **fields: Any) -> Row:
    """Return a span in which the harness records its own observation."""
    return span(number, parent, scope="tracegrade.harness", **fields)


AGENT: Row = {"gen_ai__operation__name": "invoke_agent", "gen_ai__agent__name": "buyer"}
CALL: Row = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "GET /credits"}
TOLD: Row = {"gen_ai__tool__call__arguments": "{}", "gen_ai__tool__call__result": "10"}


@built_together
def test_harness_alone_watched_the_calls() -> Scene:
    """It stood between the agent and its tools, and saw neither its model nor its plan."""
    lake = yield [watched(1, None, **AGENT), watched(2, at=2, **CALL, **TOLD)]
    assert hidden(lake) == [True]


@built_together
def test_root_that_the_harness_sent_in_the_agents_place() -> Scene:
    """Reverse: the calls are the agent's own spans, among which a plan would be."""
    lake = yield [watched(1, None, **AGENT), own(2, at=2, **CALL, **TOLD)]
    assert hidden(lake) == [False]


@built_together
def test_our_instrumentation_with_a_call_alone() -> Scene:
    """Reverse: an agent declares plans and thoughts there, and declared none."""
    lake = yield [own(1, None, **AGENT), own(2, at=2, **CALL, **TOLD)]
    assert hidden(lake) == [False]


@built_together
def test_our_instrumentation_without_content() -> Scene:
    """Neither arguments nor results of any call are here."""
    lake = yield [own(1, None, **AGENT), own(2, at=2, **CALL), own(3, at=5, **CALL)]
    assert hidden(lake) == [True]


@built_together
def test_our_instrumentation_with_one_call_without_content() -> Scene:
    """Reverse: the other call shows that content was captured."""
    lake = yield [own(1, None, **AGENT), own(2, at=2, **CALL), own(3, at=5, **CALL, **TOLD)]
    assert hidden(lake) == [False]


@built_together
def test_tools_of_a_framework_whose_model_is_not_instrumented() -> Scene:
    """There is no model call, so its output is not known."""
    lake = yield [agent(1), tool(2, 1, at=2, **TOLD)]
    assert hidden(lake) == [True]


@built_together
def test_model_whose_words_are_off() -> Scene:
    """It tells its tokens alone; the call has a span of its own, with its arguments."""
    lake = yield [agent(1), model(2, 1, at=1, **USED), tool(3, 1, at=3, **TOLD)]
    assert hidden(lake) == [True]


@built_together
def test_model_that_asked_for_a_call_and_said_nothing() -> Scene:
    """Reverse: what it said is here, and holds no thought."""
    said = [message("assistant", request("t", "c1", a=1))]
    lake = yield [agent(1), model(2, 1, at=1, said=said), tool(3, 1, at=3, **TOLD)]
    assert hidden(lake) == [False]


@built_together
def test_message_whose_text_was_not_captured_beside_its_call() -> Scene:
    """Only the kinds of the parts are recorded."""
    said = [message("assistant", {"type": "tool_call", "name": "t"})]
    lake = yield [agent(1), model(2, 1, at=1, said=said), tool(3, 1, at=3)]
    assert hidden(lake) == [True]


@built_together
def test_thought_that_was_seen() -> Scene:
    """Reverse: another model call before the first call is silent, but not all of them."""
    lake = yield [
        agent(1),
        model(2, 1, at=1, said=[message("assistant", "I look first.")]),
        model(3, 1, at=4, **USED),
        tool(4, 1, at=6, **TOLD),
    ]
    assert hidden(lake) == [False]
