"""Spans of BeeAI: in Python events hang below what they tell of, in JavaScript all are events."""

import json
from typing import Any

from tests.queries.test_openinference import asks, oi
from tests.queries.together import Scene
from tests.queries.traces import Row, rows, story
from tests.scenes import built_together

PYTHON = "openinference.instrumentation.beeai"
JAVASCRIPT = "@arizeai/openinference-instrumentation-beeai"
ASKED = json.dumps({"input": "Is it warm?"})
RUNS = (
    "SELECT agent_name, user_input, final_answer, llm_call_count AS calls, input_tokens AS tokens "
    "FROM trajectories"
)


def event(number: int, parent: int, kind: str, path: str, at: float, **fields: Any) -> Row:
    """Return an event below a span, which has its kind and no length."""
    named = {"name": path.rpartition(".")[2], "metadata__path": path, "ms": 0}
    return oi(number, parent, kind, PYTHON, at=at, **{**named, **fields})


def emitted(number: int, parent: int, kind: str, path: str, at: float, **fields: Any) -> Row:
    """Return a span of an event in JavaScript."""
    return oi(number, parent, kind, JAVASCRIPT, name=f"{path}-1", target=path, at=at, **fields)


@built_together
def test_errors_are_neither_tools_nor_answers() -> Scene:
    """Each stands below the span that failed, of its kind, and in place of its output."""
    error = "ToolError(beeai_framework.tools.errors): down"
    failed: Row = {"error": "down", "output__value": error}
    lake = yield [
        oi(1, None, "AGENT", PYTHON, name="A", ms=100, input__value=ASKED, **failed),
        asks(2, 1, "now", at=1, scope=PYTHON),
        oi(3, 1, "TOOL", PYTHON, name="now", at=5, ms=9, **failed),
        oi(4, 3, "TOOL", PYTHON, name="error", at=6, **failed),
        event(5, 3, "TOOL", "tool.custom.now.retry", 7),
    ]

    assert story(lake) == ["tool_call now error", f"observation {error}"]
    run = rows(lake, "SELECT user_input, final_answer FROM trajectories")
    assert run == [{"user_input": "Is it warm?", "final_answer": None}]


@built_together
def test_events_are_no_runs_and_no_model_calls() -> Scene:
    """Tokens are not calls, answers not agents; the tool that answers returns a fixed text."""
    said: Row = {"llm__token_count__prompt": 10}
    wrapped = json.dumps({"input": {"response": "Yes."}, "options": None})
    lake = yield [
        oi(1, None, "AGENT", PYTHON, name="A", ms=90, input__value=ASKED, output__value="Yes."),
        oi(2, 1, "LLM", PYTHON, name="OpenAIChatModel", at=1, ms=9, **said),
        event(3, 2, "LLM", "backend.openai.chat.new_token", 2),
        event(4, 2, "LLM", "backend.openai.chat.new_token", 3),
        oi(
            *(5, 1, "TOOL", PYTHON),
            name="final_answer",
            tool__name="final_answer",
            at=20,
            input__value=wrapped,
            output__value="Message has been sent",
        ),
        event(
            6, 1, "AGENT", "agent.requirement.final_answer", 30, input__value='{"delta": "Yes."}'
        ),
    ]

    assert story(lake) == ['answer final_answer {"response":"Yes."} Yes.']
    assert rows(lake, RUNS) == [
        {
            "agent_name": "A",
            "user_input": "Is it warm?",
            "final_answer": "Yes.",
            "calls": 1,
            "tokens": 10,
        }
    ]


@built_together
def test_tools_named_like_events_are_tools() -> Scene:
    """A span that is not an event names its class."""
    named: Row = {"metadata__class_name": "FunctionTool", "tool__name": "update"}
    lake = yield [
        oi(1, None, "AGENT", PYTHON, name="A", ms=100, input__value=ASKED),
        oi(2, 1, "TOOL", PYTHON, name="update", at=5, ms=9, output__value="done", **named),
    ]

    assert story(lake) == ["tool_call update ok", "observation done"]


def javascript_run() -> list[Row]:
    """Return a run of a tool and an answer, each call recorded only by its events."""
    call = {"type": "tool-call", "toolCallId": "c1", "toolName": "get_now", "args": {"in": "UTC"}}
    asking = [{"role": "assistant", "content": [call]}]
    pieces = [
        {"role": "assistant", "content": [{"type": "text", "text": text}]} for text in ("Ye", "s.")
    ]
    flat: Row = {"llm__output_messages__0__message__role": "assistant"}
    tokens: Row = {"llm__token_count__prompt": 10, **flat}
    held = json.dumps({"toolCallMsg": call})
    tool: Row = {"metadata": held, "tool__parameters": '{"in": "UTC"}'}
    return [
        oi(
            *(1, None, "AGENT", JAVASCRIPT),
            name="beeai-framework-main",
            source="ToolCallingAgent",
            ms=100,
            input__value="Is it warm?",
            output__value='{"role": "assistant", "text": "Yes."}',
        ),
        emitted(2, 1, "AGENT", "agent.toolCalling.start", 1),
        emitted(3, 2, "LLM", "backend.openai.chat.start", 2),
        emitted(
            *(4, 2, "LLM", "backend.openai.chat.success", 3),
            output__value=json.dumps(asking),
            **tokens,
        ),
        emitted(5, 2, "LLM", "backend.openai.chat.finish", 4),
        emitted(6, 2, "TOOL", "tool.dynamic.getNow.start", 5, **tool),
        emitted(
            7, 2, "TOOL", "tool.dynamic.getNow.success", 6, output__value='{"result": "1"}', **tool
        ),
        emitted(8, 2, "TOOL", "tool.dynamic.getNow.finish", 7, **tool),
        emitted(
            *(9, 2, "LLM", "backend.openai.chat.success", 9),
            output__value=json.dumps(pieces),
            llm__output_messages__0__message__content="Ye",
            llm__output_messages__1__message__role="assistant",
            llm__output_messages__1__message__content="s.",
            **tokens,
        ),
        emitted(10, 1, "AGENT", "agent.toolCalling.success", 10),
    ]


@built_together
def test_javascript_tells_calls_by_their_events() -> Scene:
    """A model call is its success, with the whole output; a tool call its success or its error."""
    lake = yield javascript_run()

    assert story(lake) == ['tool_call get_now {"in":"UTC"} ok', "observation 1", "answer Yes."]
    assert rows(lake, RUNS) == [
        {
            "agent_name": "ToolCallingAgent",
            "user_input": "Is it warm?",
            "final_answer": "Yes.",
            "calls": 2,
            "tokens": 20,
        }
    ]


@built_together
def test_javascript_react_tells_tools_by_the_agents_events() -> Scene:
    """The events of a tool itself do not name it."""
    told: Row = {"tool__name": "now", "tool__parameters": '{"in":"UTC"}'}
    lake = yield [
        oi(1, None, "AGENT", JAVASCRIPT, name="beeai-framework-main", source="ReActAgent", ms=100),
        emitted(2, 1, "AGENT", "agent.react.update", 1, tool__name="now"),
        emitted(3, 1, "TOOL", "agent.react.toolStart", 2, **told),
        emitted(4, 3, "TOOL", "tool.dynamic.now.error", 3, error="down", tool__parameters="{}"),
        emitted(5, 1, "TOOL", "agent.react.toolError", 4, error="down", **told),
        emitted(6, 1, "AGENT", "agent.react.update", 5, **told, output__value="down"),
    ]

    assert story(lake) == ['tool_call now {"in":"UTC"} error', "observation down"]
