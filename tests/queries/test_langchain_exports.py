"""Runs of LangChain and LiteLLM as Traceloop's older spans and LangSmith's exporter tell them."""

import json
from typing import Any

from tests.scenes import built_together

from .together import Scene
from .traces import agent, message, model, rows, span, story

TRACELOOP = "opentelemetry.instrumentation.langchain"


@built_together
def test_graph_that_a_tool_called_is_a_run_of_its_own() -> Scene:
    """Before 0.5x Traceloop calls a graph below a tool a task, as it does any chain there."""
    graph = json.dumps({"outputs": {"messages": []}})
    chain = json.dumps({"outputs": {"text": "22C"}})
    told = [
        (1, None, "workflow", "boss", graph),
        (2, 1, "tool", "ask", "22C"),
        (3, 2, "task", "expert", graph),
        (4, 3, "tool", "now", "noon"),
        (5, 4, "task", "RunnableSequence", chain),
    ]
    spans = [
        span(
            number,
            parent,
            scope=TRACELOOP,
            at=number,
            ms=100 - 2 * number,
            traceloop__span__kind=kind,
            traceloop__entity__name=name,
            traceloop__entity__output=output,
        )
        for number, parent, kind, name, output in told
    ]
    lake = yield spans

    assert rows(
        lake,
        "SELECT t.agent_name, list(s.tool_name) AS tools FROM trajectories AS t "
        "JOIN steps AS s USING (trajectory_id) WHERE s.kind = 'tool_call' GROUP BY 1 ORDER BY 1",
    ) == [{"agent_name": "boss", "tools": ["ask"]}, {"agent_name": "expert", "tools": ["now"]}]


@built_together
def test_last_message_is_what_the_user_of_an_exported_run_asks() -> Scene:
    """LangSmith's run of an agent holds the whole conversation, with the question at its end."""
    heard = [["user", "And in Paris?"], ["assistant", "22C"], ["user", "And in Rome?"]]
    run = span(
        1,
        langsmith__span__kind="chain",
        langsmith__trace__name="a",
        gen_ai__prompt=json.dumps({"messages": heard}),
    )
    lake = yield [run]

    assert rows(lake, "SELECT user_input FROM trajectories") == [{"user_input": "And in Rome?"}]


@built_together
def test_calls_that_litellm_tells_beside_its_messages_are_requests() -> Scene:
    """LiteLLM's own spans number the calls of one answer, as if each were an answer."""
    calls: dict[str, Any] = {
        f"gen_ai__completion__{number}__function_call__{key}": value
        for number, city in enumerate(["Paris", "Rome"])
        for key, value in {"name": "w", "arguments": json.dumps({"city": city})}.items()
    }
    lake = yield [span(1, llm__request__type="completion", **calls)]

    told = rows(lake, "SELECT tool_name, arguments FROM steps ORDER BY step_index")
    assert told == [
        {"tool_name": "w", "arguments": '{"city":"Paris"}'},
        {"tool_name": "w", "arguments": '{"city":"Rome"}'},
    ]


@built_together
def test_text_that_litellm_tells_beside_calls_is_said_before_them() -> Scene:
    """It stands in the conventions' form, without the calls."""
    call: dict[str, Any] = {
        f"gen_ai__completion__0__function_call__{key}": value
        for key, value in {"name": "w", "arguments": "{}"}.items()
    }
    said = [message("assistant", "Let me see.")]
    lake = yield [model(1, llm__request__type="completion", said=said, **call)]

    told = rows(lake, "SELECT kind, content FROM steps ORDER BY step_index")
    assert [step["kind"] for step in told] == ["message", "tool_call"]
    assert told[0]["content"] == "Let me see."


@built_together
def test_what_litellm_leaves_beside_the_parts_of_a_message_is_read() -> Scene:
    """Calls and the ids of their results are where OpenAI has them."""
    calls = [
        {"id": call, "type": "function", "function": {"name": "w", "arguments": arguments}}
        for call, arguments in (("c1", '{"city": "Rome"}'), ("c2", '{"city": "Paris"}'))
    ]
    requested = message("assistant", "Hm.") | {"tool_calls": calls}
    heard = [
        message("user", "Where is it warm?"),
        requested,
        # Not in the order of the calls.
        message("tool", "22C") | {"tool_call_id": "c2"},
        message("tool", "30C") | {"tool_call_id": "c1"},
    ]
    said = [message("assistant", "In Rome.")]
    lake = yield [
        agent(1),
        model(2, 1, at=1, heard=heard[:1], said=[requested]),
        model(3, 1, at=9, heard=heard, said=said),
    ]

    assert story(lake) == [
        "message Hm.",
        'tool_call w {"city":"Rome"} ok',
        "observation 30C",
        'tool_call w {"city":"Paris"} ok',
        "observation 22C",
        "answer In Rome.",
    ]


@built_together
def test_exported_graph_is_named_as_its_run_is() -> Scene:
    """A supervisor is a graph of its own name; the agents that it hands over to name no run."""
    kind: dict[str, Any] = {"langsmith__span__kind": "chain"}
    graph: dict[str, Any] = {"langsmith__metadata__ls_integration": "langgraph", **kind}
    lake = yield [
        span(1, ms=100, langsmith__trace__name="supervisor", **graph),
        span(
            2,
            1,
            at=5,
            langsmith__trace__name="expert",
            langsmith__metadata__lc_agent_name="expert",
            langsmith__metadata__langgraph_node="expert",
            **kind,
        ),
        span(3, 2, at=6, langsmith__span__kind="tool", gen_ai__tool__name="now"),
        span(4, ms=100, trace=2, langsmith__trace__name="LangGraph", **graph),
        span(5, 4, trace=2, langsmith__span__kind="tool", gen_ai__tool__name="now"),
    ]

    names = rows(lake, "SELECT agent_name FROM trajectories ORDER BY trajectory_id")
    assert [row["agent_name"] for row in names] == ["supervisor", None]


@built_together
def test_spans_that_logfire_exports_for_another_are_that_one_s() -> Scene:
    """Logfire adds attributes of its own to spans that are not its own."""
    run = span(1, langsmith__span__kind="tool", gen_ai__tool__name="now", logfire__msg="now")
    lake = yield [run]

    assert rows(lake, "SELECT tool_name FROM steps") == [{"tool_name": "now"}]


@built_together
def test_arguments_by_order_and_by_name_are_all_there() -> Scene:
    """Traceloop's decorators write both lists; neither hides the other."""
    given = [
        {"args": ["Paris"], "kwargs": {}},
        {"args": [], "kwargs": {"city": "Paris"}},
        {"args": ["Paris"], "kwargs": {"days": 3}},
    ]
    lake = yield [
        agent(1),
        *(
            span(
                number,
                1,
                at=number,
                traceloop__span__kind="tool",
                traceloop__entity__name="w",
                traceloop__entity__input=json.dumps(inputs),
            )
            for number, inputs in enumerate(given, 2)
        ),
    ]

    assert story(lake) == [
        'tool_call w ["Paris"] ok',
        'tool_call w {"city":"Paris"} ok',
        'tool_call w {"args":["Paris"],"kwargs":{"days":3}} ok',
    ]
