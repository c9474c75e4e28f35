"""Spans of frameworks that do not run here, written as their sources write them."""

import json
from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, message, request, response, rows, span, story

QUESTION = "Weather in Paris?"
ANSWER = "It is 22C."
STORY = ['tool_call w {"city":"Paris"} ok', "observation 22C", f"answer {ANSWER}"]
ARGUMENTS = json.dumps({"city": "Paris"})
RUN = (
    "SELECT agent_name, conversation_id, user_input, final_answer, input_tokens FROM trajectories"
)


def written(number: int, parent: int | None, name: str, at: float, ms: float, **more: Any) -> Row:
    """Return a span whose attributes have their own names, in `attributes`."""
    attributes = {key.replace(".", "__"): value for key, value in more.pop("attributes").items()}
    return span(number, parent, name=name, at=at, ms=ms, **more, **attributes)


# n8n's agents: @n8n/agents 0.18.2, runtime/telemetry/runtime-telemetry.js.


def _n8n_model(number: int, parent: int, at: float, messages: list[Row], said: Row) -> Row:
    common = {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.telemetry.functionId": "helper",
        "ai.prompt.messages": json.dumps(messages),
        "gen_ai.request.model": "m",
        "ai.usage.inputTokens": 50,
    }
    return written(number, parent, "ai.generateText.doGenerate", at, 7, attributes=common | said)


@built_together
def test_tools_of_an_n8n_agent_are_not_its_question() -> Scene:
    """The root span holds a list of the agent's tools where others hold the prompt."""
    tools = {"agent": "helper", "tool_count": 1, "tools": [{"name": "w", "type": "local"}]}
    root = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "helper",
        "gen_ai.conversation.id": "thread",
        "gen_ai.prompt": json.dumps(tools),
    }
    tool = {
        "ai.operationId": "ai.toolCall",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "w",
        "gen_ai.tool.call.id": "c1",
        "ai.toolCall.name": "w",
        "ai.toolCall.id": "c1",
        "ai.toolCall.args": ARGUMENTS,
        "gen_ai.tool.call.arguments": ARGUMENTS,
        "ai.toolCall.result": '"22C"',
        "gen_ai.tool.call.result": '"22C"',
    }
    call = {"toolCallId": "c1", "toolName": "w", "input": ARGUMENTS}
    asked: list[Row] = [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]
    lake = yield [
        written(1, None, "helper.generate", 0, 99, attributes=root),
        _n8n_model(2, 1, 1, asked, {"ai.response.toolCalls": json.dumps([call])}),
        written(3, 1, "execute_tool w", 20, 3, attributes=tool),
        _n8n_model(4, 1, 30, asked, {"ai.response.text": ANSWER}),
    ]

    assert story(lake) == STORY
    assert [list(row.values()) for row in rows(lake, RUN)] == [
        ["helper", "thread", QUESTION, ANSWER, 100]
    ]


# kagent 0.10.0-rc1 on adk-go 2.2: go/adk/pkg/telemetry/attributes.go, model/llm.go.


def _kagent_model(number: int, at: float, contents: list[Row], said: Row) -> Row:
    tools = [{"functionDeclarations": [{"name": "w"}]}]
    config = {"systemInstruction": {"parts": [{"text": "Help."}]}, "tools": tools}
    sent = {"Model": "m", "Contents": contents, "Config": config}
    used = {"promptTokenCount": 50, "candidatesTokenCount": 10, "totalTokenCount": 60}
    received = {"content": said, "usageMetadata": used, "turnComplete": True}
    attributes = {
        "gen_ai.operation.name": "generate_content",
        "gen_ai.request.model": "m",
        "gen_ai.conversation.id": "session",
        "gcp.vertex.agent.llm_request": json.dumps(sent),
        "gcp.vertex.agent.llm_response": json.dumps(received),
    }
    return written(
        number, 3, "generate_content m", at, 8, scope="gcp.vertex.agent", attributes=attributes
    )


@built_together
def test_requests_of_kagent_have_names_of_go() -> Scene:
    """The controller, the invocation and the agent are one run, with its texts and tools."""
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "w",
        "gen_ai.tool.call.id": "c1",
        "gcp.vertex.agent.tool_call_args": ARGUMENTS,
        "gcp.vertex.agent.tool_response": json.dumps({"result": "22C"}),
    }
    asked: Row = {"role": "user", "parts": [{"text": QUESTION}]}
    call = {"functionCall": {"id": "c1", "name": "w", "args": {"city": "Paris"}}}
    result = {"functionResponse": {"id": "c1", "name": "w", "response": {"result": "22C"}}}
    called: Row = {"role": "model", "parts": [call]}
    said: Row = {"role": "model", "parts": [{"text": "Warm.", "thought": True}, {"text": ANSWER}]}
    replied: Row = {"role": "user", "parts": [result]}
    scope = "gcp.vertex.agent"
    lake = yield [
        written(1, None, "invoke_agent", 0, 99, scope="kagent", attributes=agent),
        written(2, 1, "invocation", 1, 97, scope=scope, attributes={"kagent.user_id": "u"}),
        written(3, 2, "invoke_agent helper", 2, 95, scope=scope, attributes=agent),
        _kagent_model(4, 3, [asked], called),
        written(5, 3, "execute_tool w", 20, 3, scope=scope, attributes=tool),
        _kagent_model(6, 30, [asked, called, replied], said),
    ]

    assert story(lake) == [
        STORY[0],
        'observation {"result":"22C"}',
        "thought Warm.",
        f"answer {ANSWER}",
    ]
    assert [list(row.values()) for row in rows(lake, RUN)] == [
        ["helper", "session", QUESTION, ANSWER, 100]
    ]
    offered = rows(lake, "SELECT offered FROM steps WHERE kind = 'tool_call'")
    assert offered == [{"offered": True}]


# LangChain4j 1.19: langchain4j-observation, DefaultChatModelConvention.


@built_together
def test_langchain4j_counts_tokens_under_plain_names() -> Scene:
    """Its spans of model calls have no content; their tokens have names without a prefix."""
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "outcome": "SUCCESS",
        "input_tokens": "50",
        "output_tokens": "10",
    }
    lake = yield [
        written(1, None, "chat m", 0, 9, attributes=told),
    ]

    columns = "llm_call_count, input_tokens, output_tokens"
    assert rows(lake, f"SELECT {columns} FROM trajectories") == [
        {"llm_call_count": 1, "input_tokens": 50, "output_tokens": 10}
    ]


# Microsoft.Extensions.AI 10.8: ChatCompletion/OpenTelemetryChatClient.cs,
# Common/FunctionInvocationProcessor.cs.


@built_together
def test_function_invocation_of_extensions_ai_is_one_run() -> Scene:
    """`orchestrate_tools` has no operation, and repeats the tokens of the calls below it."""
    asked, call = message("user", QUESTION), request("w", "c1", city="Paris")
    called, replied = message("assistant", call), message("tool", response("22C", "c1"))
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 50,
        "gen_ai.tool.definitions": json.dumps([{"type": "function", "name": "w"}]),
    }
    first = chat | {
        "gen_ai.input.messages": json.dumps([asked]),
        "gen_ai.output.messages": json.dumps([called]),
    }
    last = chat | {
        "gen_ai.input.messages": json.dumps([asked, called, replied]),
        "gen_ai.output.messages": json.dumps([message("assistant", ANSWER)]),
    }
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "w",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": ARGUMENTS,
        "gen_ai.tool.call.result": '"22C"',
    }
    scope = "Experimental.Microsoft.Extensions.AI"
    used = {"gen_ai.usage.input_tokens": 100}
    lake = yield [
        written(1, None, "orchestrate_tools", 0, 99, scope=scope, attributes=used),
        written(2, 1, "chat m", 1, 8, scope=scope, attributes=first),
        written(3, 1, "execute_tool w", 20, 3, scope=scope, attributes=tool),
        written(4, 1, "chat m", 30, 8, scope=scope, attributes=last),
    ]

    assert story(lake) == STORY
    assert [list(row.values()) for row in rows(lake, RUN)] == [[None, None, QUESTION, ANSWER, 100]]


# Dify: api/extensions/otel/parser/, August 2026.


@built_together
def test_nodes_of_a_dify_workflow_are_calls() -> Scene:
    """A tool node is a call under its title, and the model node gives question and answer."""
    common = {"gen_ai.framework": "dify", "node.id": "n"}
    tool = common | {
        "gen_ai.span.kind": "TOOL",
        "gen_ai.tool.name": "w",
        "gen_ai.tool.call.arguments": ARGUMENTS,
        "gen_ai.tool.call.result": json.dumps({"text": "22C", "files": []}),
    }
    model = common | {
        "gen_ai.span.kind": "LLM",
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 50,
        "gen_ai.prompt": json.dumps([{"role": "user", "text": QUESTION}]),
        "gen_ai.completion": ANSWER,
        "gen_ai.input.messages": json.dumps([message("user", QUESTION)]),
        "gen_ai.output.messages": json.dumps([message("assistant", ANSWER)]),
    }
    start = common | {"gen_ai.span.kind": "TASK", "input.value": "{}"}
    lake = yield [
        written(1, None, "app", 0, 99, attributes={"dify.app_id": "app"}),
        written(2, 1, "Start", 1, 1, attributes=start),
        written(3, 1, "w", 5, 3, attributes=tool),
        written(4, 1, "LLM", 20, 9, attributes=model),
    ]

    assert story(lake) == [STORY[0], 'observation {"text": "22C", "files": []}', STORY[2]]
    assert [list(row.values()) for row in rows(lake, RUN)] == [[None, None, QUESTION, ANSWER, 50]]


# Rig 0.42: crates/rig-agent/src/agent/runner.rs.


@built_together
def test_tool_of_rig_that_failed_says_so_in_its_outcome() -> Scene:
    """The span itself has no status."""
    root = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
    failed = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "w",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": ARGUMENTS,
        "gen_ai.tool.call.outcome": "error",
        "gen_ai.tool.error.type": "other",
    }
    succeeded = failed | {"gen_ai.tool.call.id": "c2", "gen_ai.tool.call.outcome": "success"}
    lake = yield [
        written(1, None, "invoke_agent", 0, 99, attributes=root),
        written(2, 1, "execute_tool", 20, 3, attributes=failed),
        written(3, 1, "execute_tool", 30, 3, attributes=succeeded),
    ]

    assert story(lake) == ['tool_call w {"city":"Paris"} error', 'tool_call w {"city":"Paris"} ok']
