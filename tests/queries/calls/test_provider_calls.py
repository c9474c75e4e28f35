"""Tools that the model's provider runs are calls, with their results, for every writer."""

import json
from typing import Any

from tests.queries.together import Scene
from tests.queries.traces import Row, agent, message, model, rows, span, story, tool
from tests.scenes import built_together

SEARCHED = ['tool_call web_search {"query":"x"} ok', "observation 1 hit", "answer Found it."]
BY_PROVIDER = [{"executed_by": "provider"}]
ANTHROPIC: list[Row] = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": "1 hit"},
    {"type": "text", "text": "Found it."},
]
RESPONSES: list[Row] = [
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "x"}},
    {
        "type": "mcp_call",
        "id": "mcp_1",
        "name": "roll",
        "server_label": "dice",
        "arguments": '{"sides": 6}',
        "output": "4",
    },
    {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "dice", "tools": []},
    {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "status": "failed",
        "code": "1/0",
        "outputs": None,
    },
    {"type": "file_search_call", "id": "fs_1", "status": "in_progress", "queries": ["a"]},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Found it."}],
    },
]
ITEMS = [
    'tool_call web_search {"query":"x"} ok',
    'tool_call roll {"sides":6} ok',
    "observation 4",
    'tool_call code_interpreter {"code":"1/0"} error',
    'tool_call file_search {"queries":["a"]} unknown',
    "answer Found it.",
]
EXECUTED_BY = "SELECT DISTINCT executed_by FROM steps WHERE kind = 'tool_call'"


def said(*parts: Row | str, **fields: Any) -> list[Row]:
    """Return a run of one model call that says these parts."""
    return [agent(1), model(2, 1, said=[message("assistant", *parts)], **fields)]


def told_by(dialect: str, output: object, **attributes: Any) -> list[Row]:
    """Return a run whose only model call has this output, as Langfuse or OpenInference has it."""
    text = json.dumps(output)
    if dialect == "langfuse":
        kind = {"langfuse.observation.type": "generation", "langfuse.observation.output": text}
    else:
        kind = {"openinference.span.kind": "LLM", "output.value": text}
    plain: Row = {key.replace(".", "__"): value for key, value in kind.items()}
    return [agent(1), span(2, 1, **plain, **attributes)]


@built_together
def test_part_of_the_conventions() -> Scene:
    """What the provider ran has two parts; the answer stands behind them."""
    lake = yield said(
        {
            "type": "server_tool_call",
            "id": "s1",
            "name": "web_search",
            "server_tool_call": {"type": "web_search", "query": "x"},
        },
        {
            "type": "server_tool_call_response",
            "id": "s1",
            "server_tool_call_response": {"type": "web_search", "response": "1 hit"},
        },
        "Found it.",
    )

    assert story(lake) == SEARCHED
    assert rows(lake, EXECUTED_BY) == BY_PROVIDER


@built_together
def test_builtin_tool_of_pydantic_ai() -> Scene:
    """Its parts are those of any call, but marked, and the result stands in the output."""
    lake = yield said(
        {
            "type": "tool_call",
            "id": "s1",
            "name": "web_search",
            "builtin": True,
            "arguments": {"query": "x"},
        },
        {
            "type": "tool_call_response",
            "id": "s1",
            "name": "web_search",
            "builtin": True,
            "result": "1 hit",
        },
        "Found it.",
    )

    assert story(lake) == SEARCHED
    assert rows(lake, EXECUTED_BY) == BY_PROVIDER


@built_together
def test_blocks_of_anthropic_in_the_parts() -> Scene:
    """Instrumentations that copy blocks into the parts of the conventions are read, too."""
    lake = yield said(*ANTHROPIC)

    assert story(lake) == SEARCHED


@built_together
def test_blocks_of_anthropic_on_a_platform() -> Scene:
    """A platform keeps the answer of the client as it came."""
    lake = yield told_by("langfuse", {"role": "assistant", "content": ANTHROPIC})

    assert story(lake) == SEARCHED


@built_together
def test_blocks_of_anthropic_beside_indexed_keys() -> Scene:
    """The keys name the call, the whole output tells the result: it is one call."""
    key = "llm__output_messages__0__message__"
    lake = yield told_by(
        "openinference",
        {"type": "message", "role": "assistant", "content": ANTHROPIC},
        **{
            f"{key}role": "assistant",
            f"{key}content": "Found it.",
            f"{key}tool_calls__0__tool_call__id": "srvtoolu_1",
            f"{key}tool_calls__0__tool_call__function__name": "web_search",
            f"{key}tool_calls__0__tool_call__function__arguments": '{"query": "x"}',
        },
    )

    assert story(lake) == SEARCHED
    assert rows(lake, EXECUTED_BY) == BY_PROVIDER


@built_together
def test_indexed_keys_alone() -> Scene:
    """Its id says that the provider ran it; its result is not known, which is not a failure."""
    key = "llm__output_messages__0__message__"
    named: Row = {
        f"{key}role": "assistant",
        f"{key}tool_calls__0__tool_call__id": "ws_68",
        f"{key}tool_calls__0__tool_call__function__name": "web_search_call",
    }
    lake = yield [
        agent(1),
        span(
            2,
            1,
            openinference__span__kind="LLM",
            **named,
        ),
        tool(3, 1, at=5, tool_name="other"),
    ]

    assert story(lake) == ["tool_call web_search unknown", "tool_call other ok"]


@built_together
def test_items_of_responses() -> Scene:
    """Each item is a call with its own status; a list of tools is none."""
    lake = yield told_by("openinference", {"object": "response", "output": RESPONSES})

    assert story(lake) == ITEMS
    assert rows(lake, EXECUTED_BY) == BY_PROVIDER


@built_together
def test_items_of_responses_in_logfire() -> Scene:
    """Logfire keeps them as they came."""
    lake = yield [
        agent(1),
        span(
            2,
            1,
            scope="logfire.openai_agents",
            logfire__msg_template="Responses API with {gen_ai.request.model!r}",
            response=json.dumps({"output": RESPONSES}),
        ),
    ]

    assert story(lake) == ITEMS


@built_together
def test_whole_answer_of_responses_on_a_platform() -> Scene:
    """Platforms keep answers and requests as the client has them; reasoning comes first."""
    thought: Row = {"type": "reasoning", "id": "rs_1", "summary": []}
    answer = {"object": "response", "model": "m", "output": [thought, *RESPONSES], "tools": []}
    asked = {"model": "m", "input": "Find x.", "tools": [{"type": "web_search"}]}
    lake = yield [
        agent(1),
        span(
            2,
            1,
            mlflow__spanType=json.dumps("CHAT_MODEL"),
            mlflow__spanInputs=json.dumps(asked),
            mlflow__spanOutputs=json.dumps(answer),
        ),
    ]

    assert story(lake) == ITEMS
    assert rows(lake, "SELECT user_input FROM trajectories") == [{"user_input": "Find x."}]


@built_together
def test_items_after_reasoning_on_a_platform() -> Scene:
    """The first item of a list does not determine the others; null values are kept."""
    call = {"type": "web_search_call", "id": "ws_1", "action": {"query": "x", "sources": None}}
    items = [{"type": "reasoning", "summary": [], "content": None}, call | {"status": "completed"}]
    lake = yield told_by("langfuse", [*items, RESPONSES[-1]])

    assert story(lake) == [
        'tool_call web_search {"query":"x","sources":null} ok',
        "answer Found it.",
    ]


@built_together
def test_whole_answer_of_google_on_a_platform() -> Scene:
    """Its candidates hold the parts."""
    parts = [
        {"executable_code": {"code": "1/0", "language": "PYTHON"}},
        {"code_execution_result": {"outcome": "OUTCOME_FAILED", "output": "ZeroDivisionError"}},
        {"text": "It failed."},
    ]
    lake = yield told_by(
        "langfuse", {"candidates": [{"content": {"role": "model", "parts": parts}}]}
    )

    assert story(lake) == [
        'tool_call code_execution {"code":"1/0","language":"PYTHON"} error',
        "observation ZeroDivisionError",
        "answer It failed.",
    ]


@built_together
def test_tool_of_bedrock_that_its_type_marks() -> Scene:
    """Nova's own tools are uses like others but for their type, with results beside them."""
    use = {"toolUseId": "t1", "name": "web_search", "input": {"query": "x"}}
    blocks: list[Row] = [
        {"toolUse": use | {"type": "server_tool_use"}},
        {"toolResult": {"toolUseId": "t1", "status": "success", "content": [{"text": "1 hit"}]}},
        {"text": "Found it."},
    ]
    lake = yield told_by("langfuse", {"role": "assistant", "content": blocks})

    assert story(lake) == SEARCHED
    assert rows(lake, EXECUTED_BY) == BY_PROVIDER


@built_together
def test_result_of_pydantic_ai_that_is_an_error() -> Scene:
    """Its type says so, as Anthropic names it."""
    lake = yield said(
        {"type": "tool_call", "id": "c1", "name": "code", "arguments": {}, "builtin": True},
        {
            "type": "tool_call_response",
            "id": "c1",
            "name": "code",
            "result": {"type": "code_execution_tool_result_error", "error_code": "unavailable"},
            "builtin": True,
        },
    )

    assert story(lake)[0] == "tool_call code {} error"


@built_together
def test_calls_in_a_field_of_their_own_come_before_the_text() -> Scene:
    """LiteLLM writes beside the parts what Anthropic ran before it said them."""
    call = {"id": "srvtoolu_1", "function": {"name": "web_search", "arguments": '{"query": "x"}'}}
    whole = message("assistant", "Found it.") | {"tool_calls": [call]}
    lake = yield [agent(1), model(2, 1, said=[whole])]

    assert story(lake) == ['tool_call web_search {"query":"x"} unknown', "answer Found it."]


@built_together
def test_items_that_the_client_runs() -> Scene:
    """A shell, the screen and a tool of its own are run by the client: requests like others."""
    lake = yield told_by(
        "langfuse",
        [
            {"type": "computer_call", "call_id": "c1", "id": "cu_1", "action": {"type": "click"}},
            {"type": "local_shell_call", "call_id": "c2", "action": {"command": ["ls"]}},
            {"type": "custom_tool_call", "call_id": "c3", "name": "sql", "input": "SELECT 1"},
        ],
    )

    assert story(lake) == [
        'tool_call computer {"type":"click"} unknown',
        'tool_call local_shell {"command":["ls"]} unknown',
        'tool_call sql {"input":"SELECT 1"} unknown',
    ]
    assert rows(lake, EXECUTED_BY) == [{"executed_by": None}]


@built_together
def test_code_that_google_runs() -> Scene:
    """Code and its result name no id: the result is of the code before it."""
    lake = yield said(
        {"executable_code": {"language": "PYTHON", "code": "1 + 1"}},
        {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "2"}},
        {"executableCode": {"language": "PYTHON", "code": "1 / 0"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "division by zero"}},
        {"text": "It is 2."},
        {"functionCall": {"name": "save", "args": {"n": 2}}},
    )

    assert story(lake) == [
        'tool_call code_execution {"code":"1 + 1","language":"PYTHON"} ok',
        "observation 2",
        'tool_call code_execution {"code":"1 / 0","language":"PYTHON"} error',
        "observation division by zero",
        "message It is 2.",
        'tool_call save {"n":2} unknown',
    ]


@built_together
def test_parts_of_google_without_a_type() -> Scene:
    """What names no type is read by its key, in inputs as well."""
    heard = [
        {"role": "user", "parts": [{"text": "Save 2."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "save", "args": {"n": 2}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "save", "response": {"a": 1}}}]},
    ]
    lake = yield [
        agent(1),
        model(2, 1, said=heard[1:2], heard=heard[:1]),
        model(3, 1, at=5, said=[{"role": "model", "parts": [{"text": "Saved."}]}], heard=heard),
    ]

    assert story(lake) == ['tool_call save {"n":2} ok', 'observation {"a":1}', "answer Saved."]
    assert rows(lake, "SELECT user_input FROM trajectories") == [{"user_input": "Save 2."}]


@built_together
def test_call_that_the_ai_sdk_marks() -> Scene:
    """Vercel's SDK says of a call, and of its result, that the provider executed it."""
    call = {"toolCallId": "c1", "toolName": "web_search", "input": {"query": "x"}}
    marked = {**call, "providerExecuted": True}
    lake = yield [
        agent(1),
        span(
            2,
            1,
            ai__operationId="ai.generateText.doGenerate",
            ai__response__text="Found it.",
            ai__response__toolCalls=json.dumps([marked]),
        ),
        tool(3, 1, at=5, tool_name="other"),
    ]

    assert 'tool_call web_search {"query":"x"} unknown' in story(lake)
    assert story(lake).index("answer Found it.") > 0
    assert rows(lake, EXECUTED_BY + " AND tool_name = 'web_search'") == BY_PROVIDER
    assert "answer Found it." in story(lake)


@built_together
def test_blocks_of_langchain() -> Scene:
    """Its standard blocks are read wherever its messages are, and a failure as what it is."""
    content = [
        {"type": "server_tool_call", "id": "s1", "name": "run", "args": {"code": "1/0"}},
        {"type": "server_tool_result", "tool_call_id": "s1", "status": "error", "output": "no"},
        {"type": "text", "text": "It failed."},
    ]
    lake = yield told_by("langfuse", {"type": "ai", "content": content})

    assert story(lake) == [
        'tool_call run {"code":"1/0"} error',
        "observation no",
        "answer It failed.",
    ]


@built_together
def test_reply_of_a_tool_that_names_its_role_as_type() -> Scene:
    """Messages of LangChain have a type and no role."""
    called = {"id": "c1", "name": "save", "args": {"n": 2}}
    heard = [
        {"type": "human", "content": "Save 2."},
        {"type": "ai", "content": "", "tool_calls": [called]},
        {"type": "tool", "tool_call_id": "c1", "content": "saved"},
    ]
    lake = yield [
        agent(1),
        span(
            2,
            1,
            langfuse__observation__type="generation",
            langfuse__observation__input=json.dumps(heard[:1]),
            langfuse__observation__output=json.dumps(heard[1]),
        ),
        span(
            3,
            1,
            at=5,
            langfuse__observation__type="generation",
            langfuse__observation__input=json.dumps(heard),
            langfuse__observation__output=json.dumps({"type": "ai", "content": "Done."}),
        ),
    ]

    assert story(lake) == ['tool_call save {"n":2} ok', "observation saved", "answer Done."]


@built_together
def test_span_of_such_a_call_is_the_same_call() -> Scene:
    """An instrumentation that makes a span of what the provider ran tells one call twice."""
    told = {
        "gen_ai__tool__call__arguments": '{"query": "x"}',
        "gen_ai__tool__call__result": "1 hit",
    }
    lake = yield [*said(*ANTHROPIC), tool(3, 1, at=0.5, tool_name="web_search", **told)]

    assert story(lake) == SEARCHED
    assert rows(lake, "SELECT span_id FROM steps WHERE kind = 'tool_call'") == [
        {"span_id": f"{3:016x}"}
    ]


@built_together
def test_clients_tool_of_the_same_name_is_another_call() -> Scene:
    """The client's own search has its own id and input."""
    told = {
        "gen_ai__tool__call__id": "c2",
        "gen_ai__tool__call__arguments": '{"query": "y"}',
        "gen_ai__tool__call__result": "none",
    }
    lake = yield [*said(*ANTHROPIC), tool(3, 1, at=5, tool_name="web_search", **told)]

    assert [line for line in story(lake) if line.startswith("tool_call")] == [
        'tool_call web_search {"query":"x"} ok',
        'tool_call web_search {"query":"y"} ok',
    ]


@built_together
def test_missing_executions_are_none_of_the_providers() -> Scene:
    """A run that records the executions of its tools lacks none of what the provider ran."""
    definitions = json.dumps([{"type": "function", "name": "save"}])
    lake = yield [
        *said(ANTHROPIC[0], "Found it.", gen_ai__tool__definitions=definitions),
        tool(3, 1, at=5, tool_name="save"),
    ]

    statuses = "SELECT status, offered FROM steps WHERE tool_name = 'web_search'"
    assert rows(lake, statuses) == [{"status": "unknown", "offered": True}]
