"""Spring AI's spans and log records, written as its source writes them.

Version 2.0.1 and its main branch, August 2026: `observation` of `spring-ai-commons`, of
`spring-ai-model` and of `spring-ai-client-chat`. Micrometer writes all values as texts.
"""

import json
from typing import Any, Final

from tests.scenes import built_together

from ..together import Scene
from ..traces import MS, NOON_NS, Row, rows, span, story

BOOT: Final = "org.springframework.boot"
QUESTION: Final = 'Weather in "Paris", please?'
ANSWER: Final = 'It is 22C.\nTake a "hat", too.'
PARIS: Final = {"city": "Paris"}
RUNS: Final = (
    "SELECT conversation_id, user_input, final_answer, llm_call_count, input_tokens, error_count "
    "FROM trajectories WHERE NOT is_fragment ORDER BY trajectory_id"
)


def _runs(lake: Any) -> list[list[Any]]:
    return [list(row.values()) for row in rows(lake, RUNS)]


def _of_spring(
    number: int, parent: int | None, at: float, attributes: Row, *logged: str, **more: Any
) -> Row:
    """Return a span, and the log records that were written in its context."""
    given = {key.replace(".", "__"): value for key, value in attributes.items()}
    made = span(number, parent, at=at, scope=BOOT, **more, **given)
    records = [
        {
            "timeUnixNano": str(NOON_NS + int((at + 1) * MS) + place),
            "traceId": made["traceId"],
            "spanId": made["spanId"],
            "body": {"stringValue": body},
            "attributes": [],
        }
        for place, body in enumerate(logged)
    ]
    return made | {"records": records}


def _client(number: int, parent: int | None, at: float, *logged: str, ms: float = 90) -> Row:
    attributes = {
        "gen_ai.operation.name": "framework",
        "gen_ai.system": "spring_ai",
        "spring.ai.kind": "chat_client",
        "spring.ai.chat.client.stream": "false",
        "spring.ai.chat.client.conversation.id": "c-7",
        "spring.ai.chat.client.tool.names": '["w"]',
    }
    return _of_spring(number, parent, at, attributes, *logged, name="spring_ai chat_client", ms=ms)


def _advisor(number: int, parent: int, at: float) -> Row:
    attributes = {
        "gen_ai.operation.name": "framework",
        "gen_ai.system": "spring_ai",
        "spring.ai.kind": "advisor",
        "spring.ai.advisor.name": "call",
    }
    return _of_spring(number, parent, at, attributes, name="call", ms=80)


def _model(number: int, parent: int | None, at: float, *logged: str, **more: Any) -> Row:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.system": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "none",
        "gen_ai.response.finish_reasons": '["STOP"]',
        "gen_ai.usage.input_tokens": "50",
        "gen_ai.usage.output_tokens": "10",
        "gen_ai.usage.total_tokens": "60",
        "spring.ai.model.request.tool.names": '["w"]',
    }
    return _of_spring(number, parent, at, attributes, *logged, name="chat m", ms=8, **more)


def _tool(
    number: int, parent: int, at: float, call_id: str, result: str | None, **more: Any
) -> Row:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.system": "spring_ai",
        "spring.ai.kind": "tool_call",
        "spring.ai.tool.type": "function",
        "spring.ai.tool.definition.name": "w",
        "spring.ai.tool.call.id": call_id,
        "spring.ai.tool.call.arguments": json.dumps(PARIS),
    }
    if result is not None:
        attributes["spring.ai.tool.call.result"] = result
    return _of_spring(number, parent, at, attributes, name="execute_tool w", ms=5, **more)


def _prompt(question: str) -> str:
    return f'Chat Client Prompt Content:\n["system":"Be \\"kind\\".", "user":"{question}"]'


def _said(source: str, text: str) -> str:
    return f'Chat {source} Completion:\n["{text}"]'


@built_together
def test_call_of_a_chat_client_is_a_run() -> Scene:
    """Parallel calls, one of them failed; advisors are not steps; texts are log records."""
    prompted = f'Chat Model Prompt Content:\n["Be kind.", "{QUESTION}"]'
    lake = yield [
        span(1, name="http post /ask", ms=99, scope=BOOT, uri="/ask", exception="none"),
        _client(2, 1, 1, _prompt(QUESTION), _said("Client", ANSWER)),
        _advisor(3, 2, 2),
        _model(4, 3, 3, prompted, "Chat Model Completion:\n[]"),
        _tool(5, 3, 20, "c1", '"22C"'),
        _tool(6, 3, 26, "c2", None, error="timeout"),
        _model(7, 3, 40, prompted, _said("Model", ANSWER)),
    ]

    assert story(lake) == [
        'tool_call w {"city":"Paris"} ok',
        "observation 22C",
        'tool_call w {"city":"Paris"} error',
        f"answer {ANSWER}",
    ]
    assert _runs(lake) == [["c-7", QUESTION, ANSWER, 2, 100, 1]]
    assert rows(lake, "SELECT DISTINCT offered FROM steps WHERE kind = 'tool_call'") == [
        {"offered": True}
    ]
    assert rows(lake, "SELECT model FROM steps WHERE kind = 'answer'") == [{"model": "m"}]


@built_together
def test_chat_client_in_a_tool_is_a_sub_agent() -> Scene:
    """The prompt's texts stand in any order."""
    asked = 'Chat Client Prompt Content:\n["user":"Look.", "system":"Be kind."]'
    lake = yield [
        _client(1, None, 0, _prompt(QUESTION), _said("Client", ANSWER), ms=200),
        _model(2, 1, 1),
        _tool(
            3,
            1,
            20,
            "c1",
            "Found.",
        ),
        _client(4, 3, 21, asked, _said("Client", "Found."), ms=3),
        _model(5, 4, 22, _said("Model", "Found.")),
        _model(6, 1, 150, _said("Model", ANSWER)),
    ]

    assert _runs(lake) == [
        ["c-7", QUESTION, ANSWER, 2, 100, 0],
        ["c-7", "Look.", "Found.", 1, 50, 0],
    ]


@built_together
def test_spring_ai_without_content_keeps_calls_and_tokens() -> Scene:
    """A stream has the same spans; nothing is logged unless a property asks for it."""
    call = _tool(3, 1, 20, "c1", None)
    hidden = [each for each in call["attributes"] if "arguments" not in each["key"]]
    lake = yield [
        _client(1, None, 0),
        _model(2, 1, 1),
        call | {"attributes": hidden},
        _model(4, 1, 40),
    ]

    assert story(lake) == ["tool_call w ok"]
    assert _runs(lake) == [["c-7", None, None, 2, 100, 0]]


@built_together
def test_chat_model_without_a_client_is_a_run() -> Scene:
    """A call that fails has no answer."""
    lake = yield [
        span(1, name="http post /ask", ms=99, scope=BOOT, uri="/ask"),
        _model(2, 1, 1),
        _tool(3, 1, 20, "c1", '"22C"'),
        _model(4, 1, 40, error="overloaded"),
    ]

    assert story(lake) == ['tool_call w {"city":"Paris"} ok', "observation 22C"]
    assert [run[2:4] for run in _runs(lake)] == [[None, 2]]
