"""Koog's spans, written as its source writes them.

`agents-features-opentelemetry` of https://github.com/JetBrains/koog after 0.7.1, 2026.
"""

import json
from typing import Any, Final

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, rows, span, story

QUESTION: Final = "Weather in Paris?"
ANSWER: Final = "It is 22C."
ASKED: Final[list[Row]] = [
    {"role": "System", "parts": [{"type": "text", "content": "Help."}]},
    {"role": "User", "parts": [{"type": "text", "content": QUESTION}]},
]
HIDDEN: Final = "HIDDEN:non-empty"
RUNS: Final = (
    "SELECT agent_name, conversation_id, user_input, final_answer, llm_call_count, input_tokens, "
    "error_count FROM trajectories ORDER BY trajectory_id"
)


def _koog(number: int, parent: int | None, at: float, name: str, **more: Any) -> Row:
    attributes = {"koog.event.id": f"e{number}", **more.pop("attributes", {})}
    given = {key.replace(".", "__"): value for key, value in attributes.items()}
    return span(number, parent, at=at, name=name, scope="ai.koog", **more, **given)


def _agent(number: int, parent: int | None, at: float, **more: Any) -> Row:
    attributes: Row = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.id": more.pop("agent_id", "weather"),
        "gen_ai.conversation.id": "run-1",
        "gen_ai.usage.input_tokens": 0,
        **more.pop("attributes", {}),
    }
    return _koog(number, parent, at, "invoke_agent weather", attributes=attributes, ms=90, **more)


def _model(number: int, parent: int, at: float, heard: Any, said: Any, **more: Any) -> Row:
    def text(value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value)

    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.conversation.id": "run-1",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": text(heard),
        "gen_ai.tool.definitions": text([{"type": "function", "name": "w"}]),
        "gen_ai.usage.input_tokens": 50,
        "gen_ai.output.messages": text(said),
    }
    return _koog(number, parent, at, "chat m", attributes=attributes, ms=8, **more)


def _tool(
    number: int, parent: int, at: float, call_id: str, texts: tuple[str, str], **more: Any
) -> Row:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "w",
        "gen_ai.tool.call.id": call_id,
        "gen_ai.tool.call.arguments": texts[0],
        "gen_ai.tool.call.result": texts[1],
    }
    return _koog(number, parent, at, "execute_tool w", attributes=attributes, ms=5, **more)


def _requested(call_id: str) -> Row:
    part = {"type": "tool_call", "id": call_id, "name": "w", "arguments": {"city": call_id}}
    return {"role": "Tool", "parts": [part]}


def _replied(call_id: str, text: str) -> Row:
    return {
        "role": "Tool",
        "parts": [{"type": "tool_call_response", "id": call_id, "result": text}],
    }


@built_together
def test_run_of_koog_below_nodes_of_its_strategy() -> Scene:
    """Parallel calls, one failed; roles have capitals, and each call is a message of its own."""
    calls = [_requested("Paris"), _requested("Rome")]
    heard = [*ASKED, *calls, _replied("Paris", "22C"), _replied("Rome", "no data")]
    thought = {"role": "Reasoning", "parts": [{"type": "text", "content": "Warm."}]}
    said = [thought, {"role": "Assistant", "parts": [{"type": "text", "content": ANSWER}]}]
    created = {"gen_ai.operation.name": "create_agent", "gen_ai.agent.id": "weather"}
    node = {"koog.node.id": "nodeCallLLM", "koog.node.input": QUESTION}
    failed: Row = {"error": "no data"}
    lake = yield [
        _koog(1, None, 0, "create_agent weather", attributes=created, ms=100),
        _agent(2, 1, 1),
        _koog(3, 2, 2, "strategy single_run", attributes={"koog.strategy.name": "single_run"}),
        _koog(4, 3, 3, "node nodeCallLLM", attributes=node, ms=10),
        _model(5, 4, 4, ASKED, calls),
        _koog(6, 3, 15, "node nodeExecuteTool", attributes={"koog.node.id": "n"}, ms=10),
        _tool(7, 6, 16, "Paris", ('{"city":"Paris"}', '"22C"')),
        _tool(8, 6, 17, "Rome", ('{"city":"Rome"}', '"no data"'), **failed),
        _koog(9, 3, 30, "node nodeSendToolResult", attributes={"koog.node.id": "s"}, ms=10),
        _model(10, 9, 31, heard, said),
    ]

    assert story(lake) == [
        'tool_call w {"city":"Paris"} ok',
        "observation 22C",
        'tool_call w {"city":"Rome"} error',
        "observation no data",
        "thought Warm.",
        f"answer {ANSWER}",
    ]
    assert _runs(lake) == [["weather", "run-1", QUESTION, ANSWER, 2, 100, 1]]


def _runs(lake: Any) -> list[list[Any]]:
    return [list(row.values()) for row in rows(lake, RUNS)]


@built_together
def test_koog_hides_content_behind_a_placeholder() -> Scene:
    """Calls and tokens remain; a random id is not a name."""
    lake = yield [
        _agent(1, None, 0, agent_id="0b1e2d3c-1a2b-4c5d-8e9f-001122334455"),
        _model(2, 1, 1, HIDDEN, HIDDEN),
        _tool(3, 1, 20, "c1", (HIDDEN, HIDDEN)),
        _model(4, 1, 40, HIDDEN, HIDDEN),
    ]

    assert story(lake) == ["tool_call w ok"]
    assert _runs(lake) == [[None, "run-1", None, None, 2, 100, 0]]


@built_together
def test_planner_of_koog_has_plans() -> Scene:
    """The span that made a plan holds it as a text."""
    made = {
        "koog.planner.plan.input": "no plan yet",
        "koog.planner.plan.output": "1. Look\n2. Say",
    }
    executed = {"koog.planner.state.input": "s", "koog.planner.plan.input": "1. Look\n2. Say"}
    lake = yield [
        _agent(1, None, 0),
        _koog(2, 1, 1, "plan creation 0", attributes=made, ms=9),
        _koog(3, 1, 20, "step execution 0", attributes=executed, ms=9),
        _tool(4, 3, 21, "c1", ('{"city":"Paris"}', '"22C"')),
    ]

    assert rows(lake, "SELECT kind, plan FROM steps ORDER BY step_index")[0] == {
        "kind": "plan",
        "plan": '["Look","Say"]',
    }
