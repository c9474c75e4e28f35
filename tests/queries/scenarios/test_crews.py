"""What CrewAI says of its own, around agents and in the user's name."""

import json

from tests.queries.together import Scene
from tests.queries.traces import (
    agent,
    apart,
    message,
    model,
    request,
    rows,
    span,
    story,
    tool,
)
from tests.scenes import built_together

CRITERIA = "This is the expected criteria for your final answer: Brief.\nyou MUST return it."
ENOUGH = "Now it's time you MUST give your absolute best final answer. You'll ignore all."


TASKS = [
    f"\nCurrent Task: Is it warm?\nIn Rome?\n\n{CRITERIA}",
    f"Is it warm?\nIn Rome?\n\n{CRITERIA}\n\nThis is the context you're working with:\nRain.",
    "\nCurrent Task: Is it warm?\nIn Rome?",
    "\nCurrent Task: Is it warm?\nIn Rome?\n\nBegin! This is VERY important to you\nThought:",
    "Is it warm?\nIn Rome?",
]


@built_together
def test_what_is_asked_of_a_crew_is_its_task() -> Scene:
    """What is expected of the answer, and what other tasks gave, is not what the user asked."""
    runs = [[agent(1), model(2, 1, heard=[message("user", told)], said=[])] for told in TASKS]
    lake = yield apart(runs)

    found = rows(lake, "SELECT user_input FROM trajectories")
    assert found == [{"user_input": "Is it warm?\nIn Rome?"}] * len(TASKS)


@built_together
def test_crew_that_asks_for_the_last_answer_is_not_the_user() -> Scene:
    """It does so in the user's name, when the agent ran out of steps."""
    asked = message("user", "Is it warm?")
    spans = [
        agent(1),
        model(2, 1, at=1, heard=[asked], said=[message("assistant", request("look"))]),
        tool(3, 1, at=2, tool_name="look"),
        model(
            4, 1, at=5, heard=[asked, message("user", ENOUGH)], said=[message("assistant", "Yes.")]
        ),
    ]
    lake = yield spans

    assert story(lake) == ["tool_call look {} ok", "answer Yes."]
    assert rows(lake, "SELECT user_input FROM trajectories") == [{"user_input": "Is it warm?"}]


@built_together
def test_result_may_be_a_text_and_a_name_as_python_prints_it() -> Scene:
    """What a model saw is a text of the tool's message; in inputs, quotes stand around names."""
    asked = message("user", "Is it warm?")
    printed = {
        "type": "tool_call",
        "id": "c1",
        "name": "'look'",
        "arguments": '\'{"city": "Rome"}\'',
    }
    heard = [asked, message("assistant", printed), message("tool", "Very.")]
    spans = [
        agent(1),
        model(2, 1, at=1, heard=[asked]),
        model(3, 1, at=5, heard=heard, said=[message("assistant", "Yes.")]),
    ]
    lake = yield spans

    assert story(lake) == ['tool_call look {"city":"Rome"} ok', "observation Very.", "answer Yes."]


@built_together
def test_tool_that_a_span_says_was_not_found_did_not_run() -> Scene:
    """It was not offered, and its span holds the model's result."""
    spans = [
        agent(1),
        model(
            2,
            1,
            at=1,
            said=[message("assistant", request("fly"))],
            gen_ai__tool__definitions='[{"type": "function", "name": "look"}]',
        ),
        tool(3, 1, at=2, tool_name="fly", gen_ai__tool__call__result="Tool not found"),
    ]
    lake = yield spans

    assert story(lake) == ["tool_call fly {} not_executed", "observation Tool not found"]


@built_together
def test_failure_that_is_told_twice_is_one() -> Scene:
    """CrewAI writes a span of the call that failed, and one of the failure."""
    failure = {"tool_name": "look", "error": "down", "crewai__event_name": "tool_failure_detected"}
    spans = [
        agent(1, agent_name="5a87", crewai__agent__role="guide"),
        model(2, 1, at=1, said=[message("assistant", request("look"))]),
        tool(3, 1, at=2, tool_name="look", error="down"),
        tool(4, 1, at=4, **failure),
    ]
    lake = yield spans

    assert story(lake) == ["tool_call look {} error"]
    assert rows(lake, "SELECT agent_name FROM trajectories") == [{"agent_name": "guide"}]


@built_together
def test_crew_that_a_tool_called_is_one_run_with_its_agent() -> Scene:
    """Though the tool has the name of the agent, which stands below the crew."""
    spans = [
        agent(1, agent_name="manager"),
        model(2, 1, at=1, said=[message("assistant", request("helper"))]),
        tool(3, 1, at=2, ms=20, tool_name="helper"),
        agent(4, 3, at=3, ms=15, agent_name=""),
        agent(5, 4, at=4, ms=10, agent_name="helper"),
        model(6, 5, at=5, said=[message("assistant", "Mine.")]),
    ]
    lake = yield spans

    assert rows(lake, "SELECT root_span_id, agent_name FROM trajectories ORDER BY 1") == [
        {"root_span_id": f"{1:016x}", "agent_name": "manager"},
        {"root_span_id": f"{4:016x}", "agent_name": "helper"},
    ]


@built_together
def test_crew_that_a_model_requested_is_one_run_with_its_agent() -> Scene:
    """No tool span tells of the call, and the root of the run is lost, which the crew is not."""
    manager = "You are manager. You help.\nYour personal goal is: To help."
    heard = [message("system", manager), message("user", "Is it warm?")]
    spans = [
        model(2, 1, at=1, heard=heard, said=[message("assistant", request("helper", "c1"))]),
        agent(3, 1, at=3, ms=15, agent_name=""),
        agent(4, 3, at=4, ms=10, agent_name="helper"),
        model(5, 4, at=5, said=[message("assistant", "Mine.")]),
        model(6, 1, at=30, heard=heard, said=[message("assistant", request("jump", "c2"))]),
    ]
    lake = yield spans

    assert rows(lake, "SELECT root_span_id, agent_name FROM trajectories ORDER BY 2") == [
        {"root_span_id": f"{3:016x}", "agent_name": "helper"},
        {"root_span_id": f"{0:016x}", "agent_name": "manager"},
    ]


@built_together
def test_whole_output_may_be_a_list_of_requests() -> Scene:
    """OpenInference's listener of CrewAI's events tells a model's requests in no other way."""
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    spans = [
        span(1, ms=9, openinference__span__kind="AGENT"),
        span(2, 1, at=1, openinference__span__kind="LLM", output__value=json.dumps([call])),
    ]
    lake = yield spans

    assert story(lake) == ["tool_call look {} unknown"]
