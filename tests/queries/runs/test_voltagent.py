"""VoltAgent's spans, written as version 2.10 sent them in runs with a stand-in for the model."""

import json
from typing import Any, Final

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, rows, span, story

SCOPE: Final = "@voltagent/core"
QUESTION: Final = "What is the weather in Paris?"
RUNS: Final = (
    "SELECT agent_name, user_input, final_answer, llm_call_count, input_tokens, error_count "
    "FROM trajectories ORDER BY start_time"
)


def _runs(lake: Any) -> list[list[Any]]:
    return [list(row.values()) for row in rows(lake, RUNS)]


def _span(
    number: int, parent: int | None, at: float, name: str, attributes: Row, **more: Any
) -> Row:
    given = {key.replace(".", "__"): value for key, value in attributes.items()}
    return span(number, parent, at=at, name=name, scope=SCOPE, **more, **given)


def _agent(number: int, parent: int | None, at: float, name: str, asked: str, said: str) -> Row:
    attributes: Row = {
        "entity.id": name,
        "entity.type": "agent",
        "entity.name": name,
        "input": asked,
        "output": said,
        "agent.state": "completed",
        "ai.model.name": "m",
        "usage.prompt_tokens": 200,
        "usage.completion_tokens": 40,
    }
    if parent is not None:
        attributes |= {"entity.name": "Boss", "entity.id": "Boss", "subagent.name": name}
    return _span(number, parent, at, name, attributes, ms=90 - at)


def _model(number: int, parent: int, at: float, tools: str) -> Row:
    attributes: Row = {
        "entity.type": "agent",
        "entity.id": "Boss",
        "span.type": "llm",
        "llm.operation": "generateText",
        "llm.model": "m",
        "llm.tools": tools,
        "llm.usage.prompt_tokens": 100,
        "llm.usage.completion_tokens": 20,
    }
    return _span(number, parent, at, "llm:generateText", attributes, ms=80 - at)


def _tool(number: int, parent: int, at: float, name: str, given: Row, **more: Any) -> Row:
    attributes: Row = {
        "entity.type": "agent",
        "entity.id": "Boss",
        "span.type": "tool",
        "tool.name": name,
        "tool.call.id": f"c{number}",
        "input": json.dumps(given),
    }
    if "output" in more:
        attributes["output"] = more.pop("output")
    return _span(number, parent, at, f"tool.execution:{name}", attributes, **more)


@built_together
def test_agent_of_voltagent_has_the_tokens_of_all_requests() -> Scene:
    """The model's span holds those of the last one; a title is asked for beside it."""
    lake = yield [
        _agent(1, None, 0, "Weather", QUESTION, "It is 22C."),
        _model(2, 1, 1, "get_weather"),
        _tool(3, 1, 10, "get_weather", {"city": "Paris"}, output='{"temp": "22C"}'),
        _tool(4, 1, 20, "get_weather", {"city": "Atlantis"}, error="no such city"),
        _span(5, 1, 30, "memory.read", {"span.type": "memory", "entity.type": "agent"}),
    ]

    assert story(lake) == [
        'tool_call get_weather {"city":"Paris"} ok',
        'observation {"temp": "22C"}',
        'tool_call get_weather {"city":"Atlantis"} error',
        "answer It is 22C.",
    ]
    assert _runs(lake) == [["Weather", QUESTION, "It is 22C.", 1, 200, 1]]
    assert rows(lake, "SELECT DISTINCT offered FROM steps WHERE kind = 'tool_call'") == [
        {"offered": True}
    ]


@built_together
def test_sub_agent_of_voltagent_is_a_run() -> Scene:
    """Its spans bear the caller's name as the entity; it is asked by messages of the page."""
    asked = [{"role": "user", "parts": [{"type": "text", "text": "Find it."}]}]
    lake = yield [
        _agent(1, None, 0, "Boss", QUESTION, "It is 22C."),
        _model(2, 1, 1, "delegate_task"),
        _tool(3, 1, 10, "delegate_task", {"task": "Find it."}, output="found", ms=70),
        _agent(4, 3, 11, "Finder", json.dumps(asked), "found"),
        _model(5, 4, 12, "search"),
        _tool(6, 4, 20, "search", {"q": "x"}, output="22C"),
    ]

    assert _runs(lake) == [
        ["Boss", QUESTION, "It is 22C.", 1, 200, 0],
        ["Finder", "Find it.", "found", 1, 200, 0],
    ]
