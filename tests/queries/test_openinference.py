"""OpenInference spans as LangGraph and the Agents SDK really send them."""

import json
from typing import Any

from tests.scenes import built_together

from tracegrade_lake import Lake

from .together import Scene
from .traces import (
    Row,
    TraceRows,
    agent,
    apart,
    message,
    model,
    response,
    rows,
    span,
    story,
    tool,
)
from .traces import request as requested

LANGCHAIN = "openinference.instrumentation.langchain"
AGENTS_SDK = "openinference.instrumentation.openai_agents"
GENAI = "opentelemetry.instrumentation.genai.langchain"


def oi(number: int, parent: int | None, kind: str, scope: str = LANGCHAIN, **fields: Any) -> Row:
    """Return an OpenInference span."""
    return span(number, parent, scope=scope, **{"openinference__span__kind": kind, **fields})


def node(number: int, parent: int | None, kind: str, name: str, at: float, **metadata: str) -> Row:
    """Return a span of LangGraph: 100 ms if it is the graph, else 10 ms."""
    ms = 10 if "langgraph_node" in metadata else 100
    return oi(number, parent, kind, name=name, at=at, ms=ms, metadata=json.dumps(metadata))


def asks(number: int, parent: int, tool_name: str, at: float, **fields: Any) -> Row:
    """Return a model span that requests a tool and sends no arguments, since they are empty."""
    key = "llm__output_messages__0__message__tool_calls__0__tool_call__function__name"
    role = {"llm__output_messages__0__message__role": "assistant"}
    return oi(number, parent, "LLM", at=at, **{key: tool_name, **role, **fields})


def trajectories(lake: Lake | TraceRows) -> list[tuple[str, str | None, bool]]:
    """Return root span, agent and whether another run called it, of each trajectory."""
    found = rows(
        lake,
        "SELECT root_span_id, agent_name, parent_trajectory_id IS NOT NULL AS called "
        "FROM trajectories ORDER BY ALL",
    )
    return [(row["root_span_id"].lstrip("0"), row["agent_name"], row["called"]) for row in found]


@built_together
def test_nodes_named_agent_do_not_split_a_graph() -> Scene:
    """A ReAct graph marks each turn of its node `agent` as an AGENT; it is one run."""
    graph = {"ls_integration": "langgraph"}
    spans = [
        node(1, None, "CHAIN", "LangGraph", 0, **graph),
        node(2, 1, "AGENT", "agent", 1, langgraph_node="agent", **graph),
        asks(3, 2, "now", at=2),
        node(4, 1, "CHAIN", "tools", 20, langgraph_node="tools", **graph),
        oi(5, 4, "TOOL", at=21, tool__name="now", output__value="noon"),
        node(6, 1, "AGENT", "agent", 40, langgraph_node="agent", **graph),
    ]
    lake = yield spans

    assert trajectories(lake) == [("1", None, False)]
    assert story(lake) == ["tool_call now {} ok", "observation noon"]


@built_together
def test_number_beyond_any_list_is_no_index() -> Scene:
    """A message there is last; all else is read, and OpenLLMetry's names are taken apart alike."""
    far = 2**63 - 1
    names = (
        f"llm__output_messages__0__message__contents__{far}__message_content__text",
        f"llm__output_messages__0__message__tool_calls__{far}__tool_call__function__name",
        f"llm__output_messages__{-far - 1}__message__content",
        f"gen_ai__completion__0__tool_calls__{far}__name",
        f"gen_ai__completion__{-far - 1}__content",
    )
    lake = yield [
        oi(1, None, "AGENT", ms=100, agent__name="a"),
        asks(2, 1, "now", at=1, **dict.fromkeys(names, "far")),
    ]

    assert story(lake) == ["tool_call now {} unknown", "message far"]


@built_together
def test_agent_of_any_name_is_an_agent() -> Scene:
    """LangChain's metadata name the agents: here one that another called as a tool."""
    graph = {"ls_integration": "langchain_create_agent"}
    tools = {"langgraph_node": "tools", **graph}
    spans = [
        node(1, None, "CHAIN", "manager", 0, lc_agent_name="manager", **graph),
        asks(2, 1, "ask", at=1),
        oi(3, 1, "TOOL", at=20, ms=50, tool__name="ask", output__value="22C"),
        node(4, 3, "CHAIN", "expert", 21, lc_agent_name="expert", **tools),
        asks(5, 4, "now", at=22),
        oi(6, 4, "TOOL", at=25, tool__name="now", output__value="noon"),
    ]
    lake = yield spans

    assert trajectories(lake) == [("1", "manager", False), ("4", "expert", True)]
    assert story(lake, f"{1:032x}-{1:016x}") == ["tool_call ask {} ok", "observation 22C"]


@built_together
def test_deep_agent_calls_its_agents() -> Scene:
    """A Deep Agent is a graph without a name; what its tool `task` calls are runs of their own."""
    graph = {"ls_integration": "deepagents"}
    expert = {"ls_integration": "langchain_create_agent", "lc_agent_name": "expert"}
    spans = [
        node(1, None, "CHAIN", "LangGraph", 0, **graph),
        node(
            2, 1, "AGENT", "Notify.before_agent", 1, langgraph_node="Notify.before_agent", **graph
        ),
        asks(3, 1, "task", at=12),
        oi(4, 1, "TOOL", at=25, ms=50, tool__name="task", output__value="22C"),
        node(5, 4, "AGENT", "expert", 26, langgraph_node="tools", **expert),
        asks(6, 5, "now", at=27),
        oi(7, 5, "TOOL", at=30, tool__name="now", output__value="noon"),
    ]
    lake = yield spans

    assert trajectories(lake) == [("1", None, False), ("5", "expert", True)]
    assert story(lake, f"{1:032x}-{1:016x}") == ["tool_call task {} ok", "observation 22C"]


@built_together
def test_tool_with_agent_in_its_name_is_a_tool() -> Scene:
    """LangChain marks the tool `ask_agent` as an AGENT; its name as a tool says what it is."""
    spans = [
        node(1, None, "CHAIN", "LangGraph", 0, ls_integration="langgraph"),
        asks(2, 1, "ask_agent", at=1),
        oi(3, 1, "AGENT", at=20, tool__name="ask_agent", output__value="22C"),
    ]
    lake = yield spans

    assert trajectories(lake) == [("1", None, False)]
    assert story(lake) == ["tool_call ask_agent {} ok", "observation 22C"]


@built_together
def test_answer_in_blocks_is_text() -> Scene:
    """Of a last message in blocks, as the Responses API makes it, the answer is its text."""
    blocks = [{"type": "reasoning", "summary": []}, {"type": "text", "text": "22C"}]
    output = json.dumps({"messages": [{"type": "ai", "data": {"content": blocks}}]})
    lake = yield [oi(1, None, "AGENT", name="weather_agent", output__value=output)]

    assert rows(lake, "SELECT final_answer FROM trajectories") == [{"final_answer": "22C"}]


@built_together
def test_empty_arguments_are_not_guessed() -> Scene:
    """Missing arguments are none only where that is known: not where attributes were dropped."""
    spans = [
        oi(1, None, "AGENT", ms=3000, agent__name="a"),
        {**asks(2, 1, "now", at=1), "droppedAttributesCount": 3},
        asks(3, 1, "now", at=2000, scope="openinference.instrumentation.other"),
    ]
    lake = yield spans

    assert story(lake) == ["tool_call now unknown", "tool_call now unknown"]


@built_together
def test_streamed_chat_completion_is_read_from_the_raw_output() -> Scene:
    """The Agents SDK tells what a streamed Chat Completion said in its raw output alone."""
    items = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look."}]},
        {"type": "message", "content": [{"type": "output_text", "text": "A moment."}]},
        {"type": "function_call", "name": "nope", "call_id": "c", "arguments": '{"x": 1}'},
    ]
    output = json.dumps([{"object": "response", "output": items}])
    plain = json.dumps([{"role": "assistant", "content": "No.", "reasoning_content": "Hm."}])
    said = {
        "llm__output_messages__0__message__role": "assistant",
        "llm__output_messages__0__message__content": "No.",
    }
    spans = [
        oi(1, None, "AGENT", AGENTS_SDK, ms=100, agent__name="a"),
        oi(2, 1, "LLM", AGENTS_SDK, at=1, output__value=output),
        oi(3, 1, "LLM", AGENTS_SDK, at=9, output__value=plain, **said),
    ]
    lake = yield spans

    assert story(lake) == [
        "thought Look.",
        "message A moment.",
        'tool_call nope {"x":1} unknown',
        "thought Hm.",
        "answer No.",
    ]


@built_together
def test_fast_tools_recorded_twice_are_matched_by_id() -> Scene:
    """Two records of a call that overlap less than half are one, if they share the call id."""
    calls = [requested("t", "c1", x=1), requested("t", "c2", x=2)]
    answers = [response("r", "c1"), response("r", "c2")]
    told = {"gen_ai__tool__call__result": "r", "scope": GENAI}
    output = [json.dumps({"data": {"content": "r", "tool_call_id": f"c{n}"}}) for n in (1, 2)]
    spans = [
        span(9, ms=200),
        oi(1, 9, "AGENT", ms=100, agent__name="a"),
        oi(2, 1, "TOOL", at=20, ms=1, tool__name="t", output__value=output[0]),
        oi(3, 1, "TOOL", at=22, ms=1, tool__name="t", output__value=output[1]),
        agent(4, 9, at=0.1, scope=GENAI),
        model(5, 4, at=1, said=[message("assistant", *calls)], scope=GENAI),
        tool(6, 4, at=20.7, ms=0.6, gen_ai__tool__call__id="c1", **told),
        tool(7, 4, at=22.7, ms=0.6, gen_ai__tool__call__id="c2", **told),
        model(8, 4, at=30, heard=[message("tool", *answers)], scope=GENAI),
    ]
    lake = yield spans

    assert story(lake) == [
        'tool_call t {"x":1} ok',
        "observation r",
        'tool_call t {"x":2} ok',
        "observation r",
    ]


@built_together
def test_wrapped_tools_below_langchain_are_one_call_each() -> Scene:
    """A wrapper's brief spans, whose parent is not LangChain's span, lie in its spans' time."""
    same = {"tool__name": "t", "input__value": '{"x": 1}', "output__value": "r"}
    inner: Row = {"gen_ai__tool__call__arguments": '{"x": 1}', "scope": "tracegrade", "ms": 0.1}
    spans = [
        agent(1),
        oi(2, 1, "TOOL", at=20, ms=3, **same),
        oi(3, 1, "TOOL", at=21, ms=3, **same),
        oi(4, 1, "TOOL", at=22, ms=3, tool__name="u", input__value="Rome"),
        tool(5, 1, at=22.1, **inner),
        tool(6, 1, at=22.3, **inner),
        tool(7, 1, at=22.5, tool_name="u", **inner),
    ]
    lake = yield spans

    calls = rows(lake, "SELECT tool_name FROM steps WHERE kind = 'tool_call' ORDER BY ALL")
    assert [call["tool_name"] for call in calls] == ["t", "t", "u"]


@built_together
def test_run_that_ends_with_an_unknown_tool_did_not_execute_it() -> Scene:
    """Without offered tools, the Agents SDK's error is what tells that a tool does not exist."""
    spans = [
        oi(1, None, "AGENT", AGENTS_SDK, ms=100, agent__name="a"),
        oi(2, 1, "CHAIN", AGENTS_SDK, ms=50, error="Tool not found: {'tool_name': 'nope'}"),
        asks(3, 2, "nope", at=1, scope=AGENTS_SDK),
        asks(4, 2, "t", at=2, scope=AGENTS_SDK),
    ]
    lake = yield spans

    assert story(lake) == ["tool_call nope {} not_executed", "tool_call t {} unknown"]


@built_together
def test_last_message_of_a_conversation_is_what_its_user_asks() -> Scene:
    """LangChain's agents hear the whole conversation: what was asked now stands at its end."""
    heard = [
        {"type": "human", "content": "And in Paris?"},
        {"type": "ai", "content": "22C"},
        ["user", "And in Rome?"],
    ]
    first = {"llm__input_messages__0__message__content": "And in Paris?"}
    now = {"type": "human", "content": [{"type": "text", "text": "And in Oslo?"}]}
    spans = [
        oi(1, None, "AGENT", name="a", input__value=json.dumps({"messages": heard}), **first),
        oi(2, None, "AGENT", name="b", input__value=json.dumps({"messages": heard[:1]}), at=9),
        oi(
            3,
            None,
            "AGENT",
            name="c",
            input__value=json.dumps({"messages": [now]}),
            at=19,
            **first,
        ),
    ]
    lake = yield spans

    asked = rows(lake, "SELECT user_input FROM trajectories ORDER BY start_time")
    assert [row["user_input"] for row in asked] == [
        "And in Rome?",
        "And in Paris?",
        "And in Oslo?",
    ]


@built_together
def test_graph_is_named_as_its_span_is() -> Scene:
    """A supervisor is a graph of its own name; the agents that it hands over to name no run."""
    graph = {"ls_integration": "langgraph"}
    spans = [
        node(1, None, "CHAIN", "supervisor", 0, **graph),
        node(2, 1, "AGENT", "expert", 5, lc_agent_name="expert", langgraph_node="expert", **graph),
        asks(3, 2, "now", at=6),
    ]
    lake = yield spans

    assert trajectories(lake) == [("1", "supervisor", False)]


ANSWERS: dict[str, Any] = {
    "chat completions": {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "reasoning_content": "Hm.",
                    "tool_calls": [{"id": "c", "function": {"name": "w", "arguments": "{}"}}],
                }
            }
        ]
    },
    "responses": {
        "object": "response",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "function_call", "name": "w", "call_id": "c", "arguments": "{}"},
        ],
    },
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm."},
            {"type": "tool_use", "id": "c", "name": "w", "input": {}},
        ],
    },
    "bedrock": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "Hm."}}},
                    {"toolUse": {"toolUseId": "c", "name": "w", "input": {}}},
                ],
            }
        }
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "Hm.", "thought": True},
                        {"functionCall": {"name": "w", "args": {}}},
                    ],
                }
            }
        ]
    },
}


@built_together
def test_whole_answers_are_read_where_no_message_is_told() -> Scene:
    """Any provider's response as it came tells what a model said, if nothing else of it does."""
    lake = yield apart(
        [
            oi(1, None, "AGENT", ms=100, agent__name="a"),
            oi(2, 1, "LLM", at=1, output__value=json.dumps(answer)),
            oi(3, 1, "LLM", at=5, output__value="No such provider.", error="No."),
        ]
        for answer in ANSWERS.values()
    )

    told = {name: story(lake, f"{trace:032x}") for trace, name in enumerate(ANSWERS, 1)}
    assert told == {name: ["thought Hm.", "tool_call w {} unknown"] for name in ANSWERS}


@built_together
def test_printed_messages_of_smolagents_are_read() -> Scene:
    """The messages of a smolagents model may be in its input as Python prints them."""
    printed = (
        "ChatMessage(role=<MessageRole.TOOL_RESPONSE: 'tool-response'>, "
        "content=[{'type': 'text', 'text': 'Observation:\\nnoon'}], tool_calls=None, raw=None)"
    )
    spans = [
        oi(1, None, "AGENT", ms=100, agent__name="a"),
        asks(2, 1, "now", at=1),
        oi(3, 1, "LLM", at=9, input__value=json.dumps({"messages": [printed]})),
    ]
    lake = yield spans

    assert story(lake) == ["tool_call now {} ok", "observation noon"]


def _prefixed(prefix: str, told: Row) -> Row:
    """Return attributes below a prefix, written as keyword arguments."""
    return {f"{prefix}__{key}": value for key, value in told.items()}


@built_together
def test_results_of_beeai_in_python_have_their_ids_beside_their_texts() -> Scene:
    """Its framework 0.1 in parallel: each of two calls observes its own result."""

    def called(item: int, city: str) -> Row:
        call = {
            "id": f"c{item}",
            "function__name": "w",
            "function__arguments": f'{{"x": "{city}"}}',
        }
        return _prefixed(f"message__tool_calls__{item}__tool_call", call)

    def result(item: int, text: str) -> Row:
        told = {
            "message__role": "tool",
            "message__contents__0__message__tool_call_id": f"c{item}",
            "message__contents__0__message_content__type": "text",
            "message__contents__0__message_content__text": text,
        }
        return _prefixed(f"llm__input_messages__{item}", told)

    asked = {"message__role": "assistant", **called(0, "Paris"), **called(1, "Rome")}
    lake = yield [
        oi(1, None, "AGENT", ms=100, agent__name="a"),
        oi(2, 1, "LLM", at=1, **_prefixed("llm__output_messages__0", asked)),
        oi(3, 1, "LLM", at=9, **result(0, "22C"), **result(1, "30C")),
    ]

    assert story(lake) == [
        'tool_call w {"x":"Paris"} ok',
        "observation 22C",
        'tool_call w {"x":"Rome"} ok',
        "observation 30C",
    ]


@built_together
def test_tool_message_of_langchain_in_javascript_is_its_text() -> Scene:
    """LangChain 1.4 writes the message with its class around it."""
    told = {"content": "22C", "tool_call_id": "c1", "name": "w", "status": "success"}
    path = ["langchain_core", "messages", "ToolMessage"]
    written = {"output": {"lc": 1, "type": "constructor", "id": path, "kwargs": told}}
    lake = yield [
        oi(1, None, "AGENT", ms=100, agent__name="a"),
        oi(2, 1, "TOOL", at=1, name="w", input__value="Paris", output__value=json.dumps(written)),
    ]

    found = rows(lake, "SELECT tool_call_id, result FROM steps WHERE kind = 'tool_call'")
    assert found == [{"tool_call_id": "c1", "result": "22C"}]
