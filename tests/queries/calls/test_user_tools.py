"""Tools that a simulated user calls are not calls of the agent."""

from typing import Any

from tests.queries.together import Scene
from tests.queries.traces import agent, message, model, request, response, span, story, tool
from tests.scenes import built_together

AGENTS = ['tool_call look {"id":1} ok', "observation found"]
LOOKING: dict[str, Any] = {
    "tool_name": "look",
    "gen_ai__tool__call__id": "a1",
    "gen_ai__tool__call__result": "found",
}


def _kind(kind: str) -> dict[str, Any]:
    return {"openinference__span__kind": kind}


@built_together
def test_execution_that_a_message_of_the_user_requests_is_not_the_agents() -> Scene:
    """The GenAI conventions: the model hears what the user called, and what came of it."""
    asked = message("assistant", request("look", "a1", id=1))
    heard = [message("user", "Hi"), asked, message("tool", response("found", "a1"))]
    toggled = [message("user", request("toggle", "u1")), message("tool", response("on", "u1"))]
    lake = yield [
        agent(1),
        model(2, 1, heard=heard[:1], said=[asked], at=1),
        tool(3, 1, at=3, **LOOKING),
        tool(4, 1, at=5, tool_name="toggle", gen_ai__tool__call__id="u1"),
        model(5, 1, at=7, heard=[*heard, *toggled], said=[message("assistant", "Done.")]),
    ]
    assert story(lake) == [*AGENTS, "answer Done."]


@built_together
def test_openinference_message_of_the_user_that_calls_is_not_the_agents() -> Scene:
    """Indexed keys say the same."""
    calls = "llm__input_messages__0__message__tool_calls__0__tool_call__"
    told: dict[str, Any] = {
        "llm__input_messages__0__message__role": "user",
        f"{calls}id": "u1",
        f"{calls}function__name": "toggle",
        f"{calls}function__arguments": "{}",
        "llm__output_messages__0__message__role": "assistant",
        "llm__output_messages__0__message__content": "Done.",
    }
    toggle: dict[str, Any] = {"tool__name": "toggle", "tool__id": "u1"}
    lake = yield [
        span(1, ms=99, **_kind("AGENT")),
        span(2, 1, at=3, **_kind("TOOL"), **toggle),
        span(3, 1, at=7, **_kind("LLM"), **told),
    ]
    assert story(lake) == ["answer Done."]


@built_together
def test_execution_that_says_so_is_not_the_agents() -> Scene:
    """tau2-bench's `requestor`; the agent's own says that it is."""
    asked = message("assistant", request("look", "a1", id=1))
    lake = yield [
        agent(1),
        model(2, 1, said=[asked], at=1),
        tool(3, 1, at=3, requestor="assistant", **LOOKING),
        tool(4, 1, at=5, tool_name="toggle", tau2__requestor="user"),
    ]
    assert story(lake) == AGENTS


@built_together
def test_simulated_users_own_model_requests_nothing_of_the_agent() -> Scene:
    """It speaks as the user."""
    lake = yield [
        agent(1),
        model(2, 1, said=[message("user", request("toggle", "u1"))], at=1),
        tool(3, 1, at=3, tool_name="toggle", gen_ai__tool__call__id="u1"),
        tool(4, 1, at=5, **LOOKING, gen_ai__tool__call__arguments='{"id": 1}'),
    ]
    assert story(lake) == AGENTS
