"""Odd traces: lost, doubled, circular and nested spans give steps, and never break a build."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_queries.build.build import build

from .traces import (
    MS,
    Row,
    agent,
    land,
    land_redacted,
    message,
    model,
    request,
    request_of,
    response,
    rows,
    span,
    story,
    tool,
)

ZERO = "0000000000000000"


def trajectories(lake: Lake) -> list[tuple[str, str | None]]:
    """Return root span and caller's root span of each trajectory, sorted."""
    found = rows(
        lake,
        "SELECT root_span_id, parent_trajectory_id[-16:] AS parent FROM trajectories ORDER BY ALL",
    )
    return [(row["root_span_id"].lstrip("0"), (row["parent"] or "").lstrip("0")) for row in found]


def test_cycle_ends(lake: Lake) -> None:
    """Spans that are each other's parents are built; the earliest of them is the root."""
    spans = [agent(1, 3), tool(2, 1, at=1), tool(3, 2, at=2, tool_name="u"), tool(4, 4, at=3)]
    land(lake, request_of(spans))
    build(lake)

    assert trajectories(lake) == [("1", "")]
    assert story(lake) == ["tool_call t ok", "tool_call u ok", "tool_call t ok"]


def test_trace_without_agent_is_one_trajectory(lake: Lake) -> None:
    """Seven roots of model and tool spans and no agent: one trajectory with sixteen zeros."""
    land(lake, request_of([tool(number, at=number) for number in range(1, 8)]))
    build(lake)

    assert rows(lake, "SELECT trajectory_id, tool_call_count, complete FROM trajectories") == [
        {"trajectory_id": f"{1:032x}-{ZERO}", "tool_call_count": 7, "complete": True}
    ]


def test_trace_without_operations_has_no_trajectory(lake: Lake) -> None:
    """HTTP spans, a created agent and an empty workflow are no runs."""
    spans = [
        span(1, name="GET /"),
        span(2, gen_ai__operation__name="create_agent", trace=2),
        span(3, gen_ai__operation__name="invoke_workflow", trace=3),
    ]
    land(lake, request_of(spans))

    assert build(lake).trajectories == 0


def test_missing_parent_keeps_the_run(lake: Lake) -> None:
    """A tool whose parent never arrived belongs to the only run of its trace."""
    land(lake, request_of([agent(1), tool(2, 99, at=5), tool(3, 98, at=500, tool_name="u")]))
    build(lake)

    assert story(lake) == ["tool_call t ok", "tool_call u ok"]


def test_agent_whose_parent_was_lost_is_of_the_run_around_it(lake: Lake) -> None:
    """A server's agent is part of the run whose client called it; after that it is a run."""
    spans = [
        span(1, ms=900),
        agent(2, 1, agent_name="client"),
        agent(3, 99, at=5, ms=50, agent_name="server"),
        tool(4, 3, at=6),
        agent(5, 98, at=200, agent_name="next"),
        tool(6, 5, at=201, tool_name="u"),
    ]
    land(lake, request_of(spans))
    build(lake)

    assert trajectories(lake) == [("2", ""), ("5", "")]
    assert story(lake, f"{1:032x}-{2:016x}") == ["tool_call t ok"]


def test_tool_beside_the_run_is_not_of_it(lake: Lake) -> None:
    """A tool that no agent called, after the run has ended, is in no run."""
    spans = [span(1, ms=900), agent(2, 1), tool(3, 2, at=1), tool(4, 1, at=500, tool_name="u")]
    land(lake, request_of(spans))
    build(lake)

    assert story(lake) == ["tool_call t ok"]


def test_two_agents_side_by_side_are_two_trajectories(lake: Lake) -> None:
    """Two agents of one instrumentation that run at the same time are no twins."""
    land(
        lake,
        request_of(
            [span(1, ms=200), agent(2, 1), agent(3, 1), tool(4, 2, at=1), tool(5, 3, at=1)]
        ),
    )
    build(lake)

    assert trajectories(lake) == [("2", ""), ("3", "")]


def test_nested_agents_are_one_run(lake: Lake) -> None:
    """Agent spans with no tool between wrap one another; plain spans between change nothing."""
    spans = [agent(1), span(2, 1), agent(3, 2, agent_name="b", at=1), tool(4, 3, at=2)]
    land(lake, request_of(spans))
    build(lake)

    assert trajectories(lake) == [("1", "")]
    assert rows(lake, "SELECT agent_name FROM steps") == [{"agent_name": "b"}]


def test_agent_called_as_a_tool_is_a_child(lake: Lake) -> None:
    """The child has the calls below its agent, and the parent keeps its own call."""
    spans = [
        agent(1),
        tool(2, 1, at=1, tool_name="ask", ms=50),
        span(3, 2, at=2),
        agent(4, 3, agent_name="expert", at=3, ms=40),
        tool(5, 4, at=4),
    ]
    land(lake, request_of(spans))
    build(lake)

    assert trajectories(lake) == [("1", ""), ("4", "1")]
    assert story(lake, f"{1:032x}-{1:016x}") == ["tool_call ask ok"]
    assert story(lake, f"{1:032x}-{4:016x}") == ["tool_call t ok"]


def test_child_knows_the_step_that_called_it(lake: Lake) -> None:
    """Two spans of one call are one step, whichever the child stands below; a root has none."""
    spans = [
        agent(1),
        tool(2, 1, at=1, tool_name="look"),
        tool(3, 1, at=10, tool_name="ask", ms=50),
        tool(4, 3, at=11, tool_name="ask", ms=45),
        agent(5, 4, agent_name="expert", at=12, ms=40),
        tool(6, 5, at=13, tool_name="ask", ms=20),
        agent(7, 6, agent_name="expert of experts", at=14, ms=10),
    ]
    land(lake, request_of(spans))
    build(lake)

    assert rows(
        lake,
        "SELECT trajectories.root_span_id[-1:] AS root, steps.span_id[-1:] AS calling "
        "FROM trajectories LEFT JOIN steps "
        "ON trajectories.parent_trajectory_id = steps.trajectory_id "
        "AND trajectories.parent_step = steps.step_index ORDER BY ALL",
    ) == [
        {"root": "1", "calling": None},
        {"root": "5", "calling": "3"},
        {"root": "7", "calling": "6"},
    ]


def test_agent_beside_the_tool_that_called_it_is_a_child(lake: Lake) -> None:
    """Where only times tell who called an agent, it is the call that was running."""
    spans = [
        agent(1),
        agent(2, 1, agent_name="boss", at=1, ms=50),
        tool(3, 2, at=5, ms=30, tool_name="ask"),
        agent(4, 1, agent_name="expert", at=6, ms=20),
        tool(5, 4, at=7),
        agent(6, 1, agent_name="next", at=60, ms=20),
        tool(7, 6, at=61, tool_name="u"),
    ]
    land(lake, request_of(spans))
    build(lake)

    assert trajectories(lake) == [("1", ""), ("4", "1")]
    assert story(lake, f"{1:032x}-{1:016x}") == ["tool_call ask ok", "tool_call u ok"]
    assert story(lake, f"{1:032x}-{4:016x}") == ["tool_call t ok"]


def test_work_beside_the_span_of_a_called_agent_is_that_agents(lake: Lake) -> None:
    """What a tool does in the time of the agent that it called is of that agent's run."""
    spans = [
        agent(1),
        tool(2, 1, at=1, ms=50, tool_name="ask"),
        agent(3, 2, agent_name="expert", at=2, ms=40),
        span(4, 2, at=3, ms=30),
        tool(5, 4, at=4),
        tool(6, 2, at=45, tool_name="u"),
    ]
    land(lake, request_of(spans))
    build(lake)

    assert story(lake, f"{1:032x}-{1:016x}") == ["tool_call ask ok", "tool_call u ok"]
    assert story(lake, f"{1:032x}-{3:016x}") == ["tool_call t ok"]


def test_spans_of_no_time_stand_in_no_circle(lake: Lake) -> None:
    """Agents beside one another, and their tools, that all start and end at once are built."""
    spans = [agent(1, ms=0), agent(2, 1, ms=0), agent(3, 1, ms=0), tool(4, 2, ms=0)]
    land(lake, request_of([*spans, tool(5, 3, ms=0)]))
    build(lake)

    assert trajectories(lake) == [("1", "")]


def test_agent_that_is_called_without_a_tool_span_was_run(lake: Lake) -> None:
    """A call of an agent whose span stands in the run is no unknown tool that never ran."""
    spans = [
        agent(1, agent_name="manager"),
        model(2, 1, at=1, said=[message("assistant", request("helper", "c1"))]),
        agent(3, 1, at=5, ms=20, agent_name="helper"),
        tool(4, 3, at=6),
        model(5, 1, at=30, said=[message("assistant", "Done.")]),
    ]
    land(lake, request_of(spans))
    build(lake)

    assert story(lake) == ["tool_call helper {} ok", "tool_call t ok", "answer Done."]


def test_hand_over_stays_inside(lake: Lake) -> None:
    """The agent that took over works in the same run; the hand-over is a step, not a tool call."""
    spans = [
        span(1, gen_ai__operation__name="invoke_workflow", ms=100),
        agent(2, 1, agent_name="triage", ms=10),
        model(3, 2, at=1, said=[message("assistant", request("transfer_to_expert", "c1"))]),
        agent(4, 1, agent_name="expert", at=20, ms=50),
        model(5, 4, at=21, said=[message("assistant", "Done.")]),
    ]
    land(lake, request_of(spans))
    build(lake)

    assert story(lake) == ["handoff transfer_to_expert {}", "answer Done."]
    assert rows(lake, "SELECT agent_name, tool_call_count FROM trajectories") == [
        {"agent_name": "triage", "tool_call_count": 0}
    ]


def test_ten_thousand_nested_agents_are_one_run(lake: Lake) -> None:
    """Depth costs rounds by its logarithm, so that a deep trace is built like any other."""
    spans = [agent(1, ms=1e6), *(agent(n, n - 1, at=n) for n in range(2, 10_001))]
    land(lake, request_of([*spans, tool(20_000, 10_000, at=10_001)]))
    build(lake)

    assert trajectories(lake) == [("1", "")]


def test_trace_of_two_hundred_thousand_spans_is_one_run(lake: Lake) -> None:
    """An agent with a hundred times 1,999 tool calls is built as one run."""
    spans = [agent(1, ms=500_000), *(tool(number, 1, at=number) for number in range(2, 2001))]
    land(lake, request_of(spans))
    landed = lake.dataset(RAW_SPANS.name)
    assert landed is not None
    tools = landed.to_table(filter=pc.field("parent_span_id").is_valid())
    copies = []
    for copy in range(1, 100):
        ids = pc.binary_replace_slice(tools["span_id"], 0, 4, f"{copy:04x}")
        starts = pc.add(tools["start_ns"], copy * 2000 * MS)
        ends = pc.add(tools["end_ns"], copy * 2000 * MS)
        made = {"span_id": ids, "start_ns": starts, "end_ns": ends}
        columns = [made.get(name, tools[name]) for name in RAW_SPANS.arrow().names]
        copies.append(pa.table(columns, schema=RAW_SPANS.arrow()))
    lake.append(RAW_SPANS, pa.concat_tables(copies))
    build(lake)

    assert rows(lake, "SELECT root_span_id, tool_call_count FROM trajectories") == [
        {"root_span_id": f"{1:016x}", "tool_call_count": 100 * 1999}
    ]


def test_nested_tool_spans_are_one_call(lake: Lake) -> None:
    """A call seen by two layers is one step, with what either of them knows."""
    outer = {"gen_ai__tool__call__id": "c1"}
    inner = {
        "gen_ai__tool__call__arguments": '{"b": 1.0, "a": 2}',
        "gen_ai__tool__call__result": "r",
    }
    land(lake, request_of([agent(1), tool(2, 1, at=1, **outer), tool(3, 2, at=2, **inner)]))
    build(lake)

    assert rows(lake, "SELECT span_id, tool_call_id, arguments, result FROM steps LIMIT 1") == [
        {"span_id": f"{2:016x}", "tool_call_id": "c1", "arguments": '{"a":2,"b":1}', "result": "r"}
    ]
    assert story(lake) == ['tool_call t {"a":2,"b":1} ok', "observation r"]


def test_tool_within_another_call_is_a_call(lake: Lake) -> None:
    """The same tool inside itself with other arguments is a call of its own."""
    first = {"gen_ai__tool__call__arguments": '{"n": 2}'}
    second = {"gen_ai__tool__call__arguments": '{"n": 1}'}
    land(lake, request_of([agent(1), tool(2, 1, at=1, **first), tool(3, 2, at=2, **second)]))
    build(lake)

    assert story(lake) == ['tool_call t {"n":2} ok', 'tool_call t {"n":1} ok']


def test_reused_call_ids_match_in_order(lake: Lake) -> None:
    """A call id that every model call uses again leads each request to its own execution."""
    told = [message("user", "Go.")]
    spans = [agent(1)]
    for turn in range(3):
        said = [message("assistant", request("t", "same", n=turn))]
        executed = {"gen_ai__tool__call__id": "same", "gen_ai__tool__call__result": f"r{turn}"}
        spans.append(model(10 + turn, 1, at=10 * turn, said=said, heard=told))
        spans.append(tool(20 + turn, 1, at=10 * turn + 5, **executed))
        told = [*told, *said, message("tool", response(f"seen {turn}", "same"))]
    spans.append(model(30, 1, at=40, said=[message("assistant", "Done.")], heard=told))
    land(lake, request_of(spans))
    build(lake)

    assert story(lake) == [
        'tool_call t {"n":0} ok',
        "observation seen 0",
        'tool_call t {"n":1} ok',
        "observation seen 1",
        'tool_call t {"n":2} ok',
        "observation seen 2",
        "answer Done.",
    ]


def test_calls_without_ids_match_by_arguments(lake: Lake) -> None:
    """Executions that finish in another order than requested find their requests."""
    said = [message("assistant", request("t", n=1), request("t", n=2))]
    spans = [
        agent(1),
        model(2, 1, at=1, said=said),
        tool(
            3, 1, at=5, gen_ai__tool__call__arguments='{"n":2}', gen_ai__tool__call__result="two"
        ),
        tool(
            4, 1, at=6, gen_ai__tool__call__arguments='{"n":1}', gen_ai__tool__call__result="one"
        ),
    ]
    land(lake, request_of(spans))
    build(lake)

    assert story(lake) == [
        'tool_call t {"n":1} ok',
        "observation one",
        'tool_call t {"n":2} ok',
        "observation two",
    ]


@pytest.mark.parametrize(
    ("result", "status"),
    [
        ("Error: no such order", "error"),
        ("  exception in x", "error"),
        ('{"isError": true}', "error"),
        ('{"error": {"code": 1}}', "error"),
        ('{"error": null, "rows": 3}', "ok"),
        ('{"error": ""}', "ok"),
        ("no error", "ok"),
    ],
)
def test_result_that_says_error_is_one(lake: Lake, result: str, status: str) -> None:
    """A call whose span is fine failed if its result says so (docs/metrics.md, section 0.7)."""
    land(lake, request_of([agent(1), tool(2, 1, at=1, gen_ai__tool__call__result=result)]))
    build(lake)

    source = "text" if status == "error" else "span"
    assert rows(lake, "SELECT status, status_source FROM steps WHERE kind = 'tool_call'") == [
        {"status": status, "status_source": source}
    ]


def test_calls_of_a_client_alone_are_judged_by_the_response(lake: Lake) -> None:
    """Where no tool is instrumented, a call the model got a response to was executed."""
    said = [message("assistant", request("t", "c1"), request("u", "c2"), request("v", "c3"))]
    heard = [
        message("user", "Go."),
        *said,
        message("tool", response("fine", "c1")),
        message("tool", response("Error: down", "c2")),
    ]
    land(lake, request_of([model(1, said=said), model(2, at=5, said=[], heard=heard)]))
    build(lake)

    assert story(lake) == [
        "tool_call t {} ok",
        "observation fine",
        "tool_call u {} error",
        "observation Error: down",
        "tool_call v {} unknown",
    ]


def test_react_text_is_thought_call_and_answer(lake: Lake) -> None:
    """A model that writes its calls as text makes the same steps as one that requests tools."""
    action = 'Thought: I need it.\nAction: search\nAction Input: {"q": "x"}\nObservation: made up'
    spans = [
        agent(1),
        model(2, 1, at=1, said=[message("assistant", action)]),
        tool(3, 1, at=5, tool_name="search", gen_ai__tool__call__arguments='{"q":"x"}'),
        model(4, 1, at=9, said=[message("assistant", "Thought: I know.\nFinal Answer: 42")]),
    ]
    land(lake, request_of(spans))
    build(lake)

    assert story(lake) == [
        "thought I need it.",
        'tool_call search {"q":"x"} ok',
        "thought I know.",
        "answer 42",
    ]


def test_plan_tool_is_a_plan(lake: Lake) -> None:
    """A todo tool's arguments are the plan; the call is none."""
    said = [message("assistant", request("TodoWrite", "c1", todos=[{"content": "look"}]))]
    land(lake, request_of([agent(1), model(2, 1, at=1, said=said), tool(3, 1, at=5)]))
    build(lake)

    assert rows(lake, "SELECT kind, tool_name, plan FROM steps ORDER BY step_index") == [
        {"kind": "plan", "tool_name": "TodoWrite", "plan": '[{"content":"look"}]'},
        {"kind": "tool_call", "tool_name": "t", "plan": None},
    ]


def test_later_user_messages_open_turns(lake: Lake) -> None:
    """What the user says after the first model call is a message, and turns are counted."""
    first = [message("user", "Hello.")]
    later = [*first, message("assistant", "Hi."), message("user", "And now?")]
    spans = [
        agent(1),
        model(2, 1, at=1, heard=first, said=[message("assistant", "Hi.")]),
        model(3, 1, at=5, heard=later, said=[message("assistant", "Bye.")]),
    ]
    land(lake, request_of(spans))
    build(lake)

    assert rows(lake, "SELECT turn, role, kind, content FROM steps ORDER BY step_index") == [
        {"turn": 0, "role": "assistant", "kind": "answer", "content": "Hi."},
        {"turn": 1, "role": "user", "kind": "message", "content": "And now?"},
        {"turn": 1, "role": "assistant", "kind": "answer", "content": "Bye."},
    ]
    assert rows(lake, "SELECT user_input, final_answer FROM trajectories") == [
        {"user_input": "Hello.", "final_answer": "Bye."}
    ]


def test_hybrid_span_has_the_fields_of_both_dialects(lake: Lake) -> None:
    """A span that an OpenInference processor rewrote in place is read once, with all it says."""
    both = {
        "openinference__span__kind": "TOOL",
        "tool__name": "t",
        "gen_ai__tool__call__id": "c1",
        "input__value": '{"a":1}',
        "gen_ai__tool__call__result": "r",
    }
    land(lake, request_of([agent(1), tool(2, 1, at=1, **both)]))
    build(lake)

    columns = "tool_call_id, arguments, result, dialect"
    assert rows(lake, f"SELECT {columns} FROM steps WHERE kind = 'tool_call'") == [
        {"tool_call_id": "c1", "arguments": '{"a":1}', "result": "r", "dialect": "openinference"}
    ]


def test_sampled_trace_weighs_more(lake: Lake) -> None:
    """A trace kept with probability one quarter stands for four."""
    sampled = {**agent(1), "traceState": "x=1,ot=rv:1;th:c"}
    land(lake, request_of([sampled, tool(2, 1, at=1)]))
    build(lake)

    assert rows(lake, "SELECT sample_weight FROM trajectories") == [{"sample_weight": 4.0}]


def test_text_stands_before_calls_of_its_message(lake: Lake) -> None:
    """The OpenAI client's instrumentation writes calls first; the model said the text first."""
    said = [message("assistant", request("t", "c1"), "One moment.")]
    client = "opentelemetry.instrumentation.genai.openai"
    land(lake, request_of([agent(1), model(2, 1, said=said, scope=client)]))
    build(lake)

    assert story(lake) == ["message One moment.", "tool_call t {} unknown"]


@pytest.mark.parametrize(
    ("texts", "flags"),
    [
        ({"gen_ai__tool__call__arguments": '{"password": "hunter2"}'}, ["redacted"]),
        ({"gen_ai__tool__call__result": "a " * 2000}, ["result_truncated"]),
        (
            {"input__value": "a " * 2000, "output__value": "sk-" + "a" * 20},
            ["result_redacted", "truncated"],
        ),
        ({"http__request__header__authorization": "Basic"}, []),
    ],
)
def test_what_the_collector_replaced_is_flagged(lake: Lake, texts: Row, flags: list[str]) -> None:
    """Arguments and results that are not what was sent; other attributes say nothing of them."""
    land_redacted(lake, request_of([agent(1), tool(2, 1, at=1, **texts), tool(3, 1, at=2)]))
    build(lake)

    found = rows(lake, "SELECT flags FROM steps WHERE kind = 'tool_call' ORDER BY step_index")
    assert [row["flags"] for row in found] == [flags, []]


@pytest.mark.parametrize(
    ("step", "mark", "keys", "flags"),
    [
        ("thought", "truncated", '["tracegrade.thought.content"]', ["truncated"]),
        ("plan", "redacted", '["tracegrade.plan"]', ["redacted"]),
        ("tool_call", "truncated", '["gen_ai.tool.call.arguments"]', ["truncated"]),
        ("tool_call", "redacted", '["gen_ai.tool.call.result"]', ["result_redacted"]),
        (None, "redacted", '["input.value","output.value"]', ["redacted", "result_redacted"]),
    ],
)
def test_cut_and_cleaned_texts_are_flagged(
    lake: Lake, step: str | None, mark: str, keys: str, flags: list[str]
) -> None:
    """A step says which of its texts are not what the agent saw; also another's tool span."""
    texts: Row = {"tracegrade__thought__content": "…", "tracegrade__plan": '[{"id": "a"}]'}
    marked: Row = {
        f"tracegrade__{mark}": keys,
        **({"tracegrade__step__kind": step} if step else {}),
    }
    make = tool if step in (None, "tool_call") else span
    land(lake, request_of([agent(1), make(2, 1, at=1, **texts, **marked), tool(3, 1, at=2)]))
    build(lake)

    found = rows(lake, "SELECT flags FROM steps WHERE kind <> 'observation' ORDER BY step_index")
    assert [row["flags"] for row in found] == [flags, []]


def test_mcp_spans_of_a_tool_call_are_that_call(lake: Lake) -> None:
    """A GenAI tool span, the MCP client's below it and the server's below that are one call."""
    asked: Row = {
        "gen_ai__tool__call__id": "c1",
        "gen_ai__tool__call__arguments": '{"city": "Paris"}',
    }
    mcp: Row = {"mcp__method__name": "tools/call", "tool_name": "get_weather", "ms": 5}
    said = message("assistant", request("get_weather", "c1", city="Paris"))
    land(
        lake,
        request_of(
            [
                agent(1),
                model(2, 1, at=1, said=[said]),
                tool(3, 1, at=5, ms=9, tool_name="get_weather", **asked),
                tool(4, 3, at=6, scope="mcp.client", name="tools/call get_weather", **mcp),
                tool(5, 4, at=6.5, scope="mcp.server", name="tools/call get_weather", **mcp),
            ]
        ),
    )
    build(lake)

    assert story(lake) == ['tool_call get_weather {"city":"Paris"} ok']


def test_output_that_was_not_told_is_read_from_the_next_input(lake: Lake) -> None:
    """What a silent model call said stands in the next input, after what it heard itself."""
    asked = [message("user", "Go.")]
    said = [message("assistant", "Let me see.", request("t", "c1", n=1), request("u", "c2"))]
    told = [*asked, *said, message("tool", response("one", "c1"), response("no u", "c2"))]
    spans = [
        agent(1),
        model(2, 1, at=1, heard=asked),
        tool(3, 1, at=5),
        model(4, 1, at=6, heard=told),
        model(5, 1, at=8, heard=told, said=[message("assistant", "Done.")]),
    ]
    land(lake, request_of(spans))
    build(lake)

    assert story(lake) == [
        "message Let me see.",
        'tool_call t {"n":1} ok',
        "observation one",
        "tool_call u {} not_executed",
        "observation no u",
        "answer Done.",
    ]
