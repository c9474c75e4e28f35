"""Frameworks whose spans follow conventions, written as their sources write them, with their own.

Qwen Code: `packages/core/src/telemetry` of https://github.com/QwenLM/qwen-code, August 2026.
Langflow: `services/tracing/arize_phoenix.py` of https://github.com/langflow-ai/langflow, 2026.
A2A: the Python SDK 1.1.0, `a2a/utils/telemetry.py`, June 2026.
OpenCode: `session/llm.ts`, `session/prompt.ts`, `tool/tool.ts` and `effect/observability.ts` of
https://github.com/anomalyco/opencode, 2026.
Microsoft Foundry: `azure/ai/projects/telemetry` of https://github.com/Azure/azure-sdk-for-python.
"""

import json
from typing import Any, Final

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, agent, message, model, request, response, rows, span, story, tool

QUESTION: Final = "Which files?"
ANSWER: Final = "One file."
ASKED: Final[list[Row]] = [message("user", QUESTION)]
ANSWERED: Final[list[Row]] = [message("assistant", ANSWER)]
RUNS: Final = (
    "SELECT agent_name, conversation_id, user_input, final_answer, llm_call_count, input_tokens, "
    "error_count FROM trajectories WHERE NOT is_fragment ORDER BY trajectory_id"
)


def _runs(lake: Any) -> list[list[Any]]:
    return [list(row.values()) for row in rows(lake, RUNS)]


def _qwen(number: int, parent: int | None, at: float, name: str, **more: Any) -> Row:
    attributes = {"session.id": "s1", **more.pop("attributes", {})}
    given = {key.replace(".", "__"): value for key, value in attributes.items()}
    named = f"qwen-code.{name}"
    return span(number, parent, at=at, name=named, scope="qwen-code", **more, **given)


def _qwen_turn(number: int, parent: int | None, at: float, **more: Any) -> Row:
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "qwen-code",
        "gen_ai.conversation.id": "s1",
        **more.pop("attributes", {}),
    }
    name = more.pop("name", "interaction")
    return _qwen(number, parent, at, name, attributes=attributes, ms=90, **more)


def _qwen_model(
    number: int, parent: int, at: float, heard: list[Row], said: list[Row] | None, **more: Any
) -> Row:
    attributes: Row = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.conversation.id": "s1",
        "gen_ai.input.messages": json.dumps(heard),
        "success": True,
        **more.pop("attributes", {}),
    }
    if said is not None:
        attributes |= {
            "gen_ai.output.messages": json.dumps(said),
            "gen_ai.usage.input_tokens": 50,
        }
    return _qwen(number, parent, at, "llm_request", attributes=attributes, ms=8, **more)


def _qwen_tool(number: int, parent: int, at: float, texts: tuple[str, str], **more: Any) -> Row:
    attributes: Row = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "read_file",
        "gen_ai.tool.call.id": f"c{number}",
        "gen_ai.agent.name": "qwen-code",
        "gen_ai.tool.call.arguments": texts[0],
        "gen_ai.tool.call.result": texts[1],
        **more.pop("attributes", {}),
    }
    return _qwen(number, parent, at, "tool", attributes=attributes, ms=20, **more)


def _qwen_executed(number: int, parent: int, at: float, **more: Any) -> Row:
    attributes = {"gen_ai.tool.name": "read_file", "tool.call_id": f"c{parent}"}
    return _qwen(number, parent, at, "tool.execution", attributes=attributes, ms=10, **more)


def _read(path: str, number: int) -> Row:
    return request("read_file", f"c{number}", path=path)


@built_together
def test_turn_of_qwen_code_is_a_run() -> Scene:
    """A tool has an inner span for its execution, and one for the time a person took."""
    called = message("assistant", _read("a", 3), _read("b", 6))
    replies = [message("tool", response("x", "c3")), message("tool", response("none", "c6"))]
    waited = {"tool.name": "read_file", "tool.call_id": "c3", "decision": "proceed_once"}
    lake = yield [
        _qwen_turn(1, None, 0),
        _qwen_model(2, 1, 1, ASKED, [called]),
        _qwen_tool(3, 1, 10, ('{"path":"a"}', '{"output":"x"}')),
        _qwen(4, 3, 10.5, "tool.blocked_on_user", attributes=waited),
        _qwen_executed(5, 3, 12),
        _qwen_tool(6, 1, 11, ('{"path":"b"}', '{"error":"none"}'), error="none"),
        _qwen_executed(7, 6, 12, error="none"),
        _qwen_model(8, 1, 40, [*ASKED, called, *replies], ANSWERED),
    ]

    assert [line.split(" {")[0] for line in story(lake)] == [
        "tool_call read_file",
        "observation x",
        "tool_call read_file",
        "observation none",
        f"answer {ANSWER}",
    ]
    assert _runs(lake) == [["qwen-code", "s1", QUESTION, ANSWER, 2, 100, 1]]


@built_together
def test_sub_agent_of_qwen_code_is_a_run() -> Scene:
    """It is below the tool that started it."""
    sub = {"gen_ai.agent.name": "Explore", "qwen-code.subagent.depth": 0}
    called = message("assistant", request("task", "c3", prompt="Look."))
    started = {"gen_ai.tool.name": "task"}
    looked = [message("user", "Look.")]
    found = [message("assistant", "Found.")]
    lake = yield [
        _qwen_turn(1, None, 0),
        _qwen_model(2, 1, 1, ASKED, [called]),
        _qwen_tool(3, 1, 10, ('{"prompt":"Look."}', '"Found."'), attributes=started),
        _qwen_turn(4, 3, 11, name="subagent", attributes=sub),
        _qwen_model(5, 4, 12, looked, found),
        _qwen_model(6, 1, 140, [*ASKED, called], ANSWERED),
    ]

    assert [run[:1] + run[2:4] for run in _runs(lake)] == [
        ["qwen-code", QUESTION, ANSWER],
        ["Explore", "Look.", "Found."],
    ]


@built_together
def test_cancelled_turn_of_qwen_code_has_no_answer() -> Scene:
    """The status stays open, and the model call has no output."""
    cancelled = {"qwen-code.turn_status": "cancelled"}
    lake = yield [
        _qwen_turn(1, None, 0, attributes=cancelled),
        _qwen_model(2, 1, 1, ASKED, None, attributes={"success": False}),
    ]

    assert story(lake) == []
    assert _runs(lake) == [["qwen-code", "s1", QUESTION, None, 1, None, 0]]


def _langflow(number: int, parent: int | None, at: float, name: str, **attributes: Any) -> Row:
    scope = "langflow.services.tracing.arize_phoenix"
    given = {key.replace(".", "__"): value for key, value in attributes.items()}
    return span(number, parent, at=at, ms=90 - at, name=name, scope=scope, **given)


def _langchain_calls(parent: int) -> list[Row]:
    """Return a model call, the tool call that it asks for, and the model call that answers."""
    inner: Row = {"scope": "openinference.instrumentation.langchain", "ms": 5}
    heard, said = "llm__input_messages__0__message", "llm__output_messages__0__message"
    called: Row = {
        f"{said}__role": "assistant",
        f"{said}__tool_calls__0__tool_call__id": "c1",
        f"{said}__tool_calls__0__tool_call__function__name": "w",
        f"{said}__tool_calls__0__tool_call__function__arguments": '{"city":"Paris"}',
    }
    answered: Row = {f"{said}__role": "assistant", f"{said}__content": ANSWER}
    model: Row = {
        "openinference__span__kind": "LLM",
        "name": "ChatOpenAI",
        f"{heard}__role": "user",
        f"{heard}__content": QUESTION,
        "llm__model_name": "m",
        "llm__token_count__prompt": 50,
    }
    tool: Row = {
        "openinference__span__kind": "TOOL",
        "tool__name": "w",
        "name": "w",
        "input__value": "{'city': 'Paris'}",
        "output__value": "22C",
    }
    return [
        span(4, parent, at=6, **inner, **model, **called),
        span(5, parent, at=12, **inner, **tool),
        span(6, parent, at=20, **inner, **model, **answered),
    ]


@built_together
def test_flow_of_langflow_is_a_run() -> Scene:
    """Its components have kinds in small letters; LangChain's spans below hold the calls."""
    kind = "openinference.span.kind"
    root = {
        kind: "chain",
        "session.id": "s1",
        "langflow.trace_type": "chain",
        "langflow.flow_name": "Helper",
        "input.value": QUESTION,
        "output.value": ANSWER,
    }
    component = {"input.value": json.dumps({"input_value": QUESTION}), kind: "agent"}
    lake = yield [
        _langflow(1, None, 0, "Langflow", **root),
        _langflow(2, 1, 1, "Chat Input", **{kind: "chain", "input.value": "{}"}),
        _langflow(3, 1, 5, "Agent", **component),
        *_langchain_calls(parent=3),
        _langflow(7, 1, 80, "Chat Output", **{kind: "chain", "input.value": "{}"}),
    ]

    assert story(lake) == [
        'tool_call w {"city":"Paris"} ok',
        "observation 22C",
        f"answer {ANSWER}",
    ]
    assert _runs(lake) == [["Helper", "s1", QUESTION, ANSWER, 2, 100, 0]]


def _a2a(number: int, parent: int, at: float, name: str, ms: float = 40) -> Row:
    return span(number, parent, at=at, ms=ms, scope="a2a-python-sdk", name=f"a2a.{name}")


@built_together
def test_agent_called_over_a2a_is_a_run_below_the_call() -> Scene:
    """Both processes write one trace; the SDK's own spans are neither steps nor runs."""
    called = message("assistant", request("send_message", "c1", text="Look."))
    handler = "server.request_handlers.default_request_handler_v2.DefaultRequestHandlerV2"
    lake = yield [
        agent(1, agent_name="host", gen_ai__conversation__id="context-1"),
        model(2, 1, at=1, heard=ASKED, said=[called]),
        tool(3, 1, at=10, ms=60, tool_name="send_message", gen_ai__tool__call__id="c1"),
        _a2a(4, 3, 11, "client.transports.jsonrpc.JsonRpcTransport.send_message"),
        span(5, 4, at=12, ms=38, name="POST", scope="opentelemetry.instrumentation.httpx"),
        span(6, 5, at=13, ms=36, name="POST /", scope="opentelemetry.instrumentation.fastapi"),
        _a2a(7, 6, 14, f"{handler}.on_message_send", 34),
        _a2a(8, 7, 15, "server.events.event_queue_v2.EventQueueSource.enqueue_event", 1),
        agent(9, 7, at=16, ms=20, agent_name="remote", gen_ai__conversation__id="context-1"),
        model(
            10, 9, at=17, heard=[message("user", "Look.")], said=[message("assistant", "Found.")]
        ),
        model(11, 1, at=80, heard=[*ASKED, called], said=ANSWERED),
    ]

    assert [run[:4] for run in _runs(lake)] == [
        ["host", "context-1", QUESTION, ANSWER],
        ["remote", "context-1", "Look.", "Found."],
    ]
    children = "SELECT count(*) AS found FROM trajectories WHERE parent_trajectory_id IS NOT NULL"
    assert rows(lake, children) == [{"found": 1}]
    assert rows(lake, "SELECT count(*) AS found FROM steps WHERE kind = 'tool_call'") == [
        {"found": 1}
    ]


@built_together
def test_requests_of_a2a_alone_are_no_run() -> Scene:
    """A process whose agent is not traced writes the SDK's spans only."""
    dispatcher = "server.routes.jsonrpc_dispatcher.JsonRpcDispatcher"
    lake = yield [
        span(1, name="POST /", ms=99, scope="opentelemetry.instrumentation.fastapi"),
        _a2a(2, 1, 1, f"{dispatcher}.handle_requests"),
        _a2a(3, 2, 2, "server.events.event_consumer.EventConsumer.consume_all", 1),
        _a2a(4, 2, 3, "client.transports.rest.RestTransport.get_extended_agent_card", 1),
    ]

    assert _runs(lake) == []


def _effect(number: int, parent: int | None, at: float, name: str, ms: float, **more: Any) -> Row:
    return span(number, parent, at=at, ms=ms, scope="opencode", name=name, **more)


def _step(number: int, parent: int, at: float, said: Row, heard: list[Row]) -> list[Row]:
    """Return the two spans of the AI SDK for one step of OpenCode's loop."""
    common: Row = {
        "ai__telemetry__functionId": "session.llm",
        "ai__telemetry__metadata__sessionId": "ses_1",
        "ai__model__id": "m",
        **said,
    }
    inner: Row = {
        "ai__operationId": "ai.streamText.doStream",
        "ai__prompt__messages": json.dumps(heard),
        "ai__usage__inputTokens": 50,
    }
    outer: Row = {"ai__operationId": "ai.streamText", "ai__usage__inputTokens": 50}
    return [
        _effect(number, parent, at, "ai.streamText", 40, **common, **outer),
        _effect(number + 1, number, at + 1, "ai.streamText.doStream", 8, **common, **inner),
    ]


def _file(call_id: str, path: str) -> Row:
    return {"toolCallId": call_id, "toolName": "read", "input": json.dumps({"path": path})}


@built_together
def test_prompt_of_opencode_is_a_run() -> Scene:
    """Each step of its loop is a call of the AI SDK; a tool has two spans with one id."""
    asked: list[Row] = [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]
    requested = {"ai__response__toolCalls": json.dumps([_file("c1", "a"), _file("c2", "b")])}
    named: Row = {"ai__operationId": "ai.toolCall", "ai__toolCall__name": "read"}
    ran: Row = {"tool__name": "read", "session__id": "ses_1", "message__id": "msg_1"}
    first: Row = {"ai__toolCall__args": '{"path":"a"}', "ai__toolCall__result": '"x"'}
    second: Row = {"ai__toolCall__args": '{"path":"b"}'}
    failed: Row = {"error": "none"}
    lake = yield [
        _effect(1, None, 0, "SessionPrompt.prompt", 200),
        _effect(2, 1, 1, "SessionPrompt.loop", 190),
        _effect(3, 2, 2, "SessionPrompt.run", 180),
        _effect(4, 3, 3, "Agent.get", 1),
        *_step(5, 3, 5, requested, asked),
        _effect(7, 5, 20, "ai.toolCall", 5, **named, **first, ai__toolCall__id="c1"),
        _effect(8, 7, 20.5, "Tool.execute", 4, **ran, tool__call_id="c1"),
        _effect(9, 5, 26, "ai.toolCall", 5, **named, **second, **failed, ai__toolCall__id="c2"),
        _effect(10, 9, 26.5, "Tool.execute", 4, **ran, **failed, tool__call_id="c2"),
        *_step(11, 3, 60, {"ai__response__text": ANSWER}, asked),
    ]

    assert story(lake) == [
        'tool_call read {"path":"a"} ok',
        "observation x",
        'tool_call read {"path":"b"} error',
        f"answer {ANSWER}",
    ]
    assert _runs(lake) == [["OpenCode", "ses_1", QUESTION, ANSWER, 2, 100, 1]]


def _foundry(number: int, parent: int | None, at: float, heard: list[Row], said: list[Row]) -> Row:
    attributes: Row = {
        "az.namespace": "Microsoft.CognitiveServices",
        "gen_ai.provider.name": "microsoft.foundry",
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "helper",
        "gen_ai.conversation.id": "conv_1",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": json.dumps(heard),
        "gen_ai.output.messages": json.dumps(said),
        "gen_ai.usage.input_tokens": 50,
    }
    given = {key.replace(".", "__"): value for key, value in attributes.items()}
    return span(number, parent, at=at, ms=8, scope="azure", name="invoke_agent helper", **given)


@built_together
def test_requests_to_an_agent_of_foundry_are_model_calls() -> Scene:
    """The program runs the functions; a second request brings only their results."""
    calls = [message("assistant", _read("a", 1), _read("b", 2))]
    results = [message("tool", response("x", "c1"), response("y", "c2"))]
    lake = yield [
        span(1, at=0, ms=99, name="my app"),
        _foundry(2, 1, 1, ASKED, calls),
        _foundry(3, 1, 40, results, ANSWERED),
    ]

    assert story(lake) == [
        'tool_call read_file {"path":"a"} ok',
        "observation x",
        'tool_call read_file {"path":"b"} ok',
        "observation y",
        f"answer {ANSWER}",
    ]
    assert _runs(lake) == [["helper", "conv_1", QUESTION, ANSWER, 2, 100, 0]]
