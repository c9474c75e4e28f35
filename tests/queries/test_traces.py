"""Odd traces: lost, doubled, circular and nested spans give steps, and never break a build."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.scenes import built_together

from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_queries.build.build import build

from .together import Scene
from .traces import (
    MS,
    Row,
    TraceRows,
    agent,
    land,
    message,
    model,
    request,
    request_of,
    rows,
    span,
    story,
    tool,
)

ZERO = "0000000000000000"


def trajectories(lake: Lake | TraceRows) -> list[tuple[str, str | None]]:
    """Return root span and caller's root span of each trajectory, sorted."""
    found = rows(
        lake,
        "SELECT root_span_id, parent_trajectory_id[-16:] AS parent FROM trajectories ORDER BY ALL",
    )
    return [(row["root_span_id"].lstrip("0"), (row["parent"] or "").lstrip("0")) for row in found]


@built_together
def test_cycle_ends() -> Scene:
    """Spans that are each other's parents are built; the earliest of them is the root."""
    spans = [agent(1, 3), tool(2, 1, at=1), tool(3, 2, at=2, tool_name="u"), tool(4, 4, at=3)]
    lake = yield spans

    assert trajectories(lake) == [("1", "")]
    assert story(lake) == ["tool_call t ok", "tool_call u ok", "tool_call t ok"]


@built_together
def test_trace_without_agent_is_one_trajectory() -> Scene:
    """Seven roots of model and tool spans and no agent: one trajectory with sixteen zeros."""
    lake = yield [tool(number, at=number) for number in range(1, 8)]

    assert rows(lake, "SELECT trajectory_id, tool_call_count, complete FROM trajectories") == [
        {"trajectory_id": f"{1:032x}-{ZERO}", "tool_call_count": 7, "complete": True}
    ]


@built_together
def test_trace_without_operations_has_no_trajectory() -> Scene:
    """HTTP spans, a created agent and an empty workflow are not runs."""
    lake = yield [
        span(1, name="GET /"),
        span(2, gen_ai__operation__name="create_agent", trace=2),
        span(3, gen_ai__operation__name="invoke_workflow", trace=3),
    ]

    assert trajectories(lake) == []


@built_together
def test_missing_parent_keeps_the_run() -> Scene:
    """A tool whose parent never arrived belongs to the only run of its trace."""
    lake = yield [agent(1), tool(2, 99, at=5), tool(3, 98, at=500, tool_name="u")]

    assert story(lake) == ["tool_call t ok", "tool_call u ok"]


@built_together
def test_agent_whose_parent_was_lost_is_of_the_run_around_it() -> Scene:
    """A server's agent is part of the run whose client called it; after that it is a run."""
    spans = [
        span(1, ms=900),
        agent(2, 1, agent_name="client"),
        agent(3, 99, at=5, ms=50, agent_name="server"),
        tool(4, 3, at=6),
        agent(5, 98, at=200, agent_name="next"),
        tool(6, 5, at=201, tool_name="u"),
    ]
    lake = yield spans

    assert trajectories(lake) == [("2", ""), ("5", "")]
    assert story(lake, f"{1:032x}-{2:016x}") == ["tool_call t ok"]


@built_together
def test_tool_beside_the_run_is_not_of_it() -> Scene:
    """A tool that no agent called, after the run has ended, is in no run."""
    spans = [span(1, ms=900), agent(2, 1), tool(3, 2, at=1), tool(4, 1, at=500, tool_name="u")]
    lake = yield spans

    assert story(lake) == ["tool_call t ok"]


@built_together
def test_two_agents_side_by_side_are_two_trajectories() -> Scene:
    """Two agents of one instrumentation that run at the same time are not twins."""
    lake = yield [span(1, ms=200), agent(2, 1), agent(3, 1), tool(4, 2, at=1), tool(5, 3, at=1)]

    assert trajectories(lake) == [("2", ""), ("3", "")]


@built_together
def test_nested_agents_are_one_run() -> Scene:
    """Agent spans with no tool between wrap one another; plain spans between change nothing."""
    spans = [agent(1), span(2, 1), agent(3, 2, agent_name="b", at=1), tool(4, 3, at=2)]
    lake = yield spans

    assert trajectories(lake) == [("1", "")]
    assert rows(lake, "SELECT agent_name FROM steps") == [{"agent_name": "b"}]


@built_together
def test_agent_called_as_a_tool_is_a_child() -> Scene:
    """The child has the calls below its agent, and the parent keeps its own call."""
    spans = [
        agent(1),
        tool(2, 1, at=1, tool_name="ask", ms=50),
        span(3, 2, at=2),
        agent(4, 3, agent_name="expert", at=3, ms=40),
        tool(5, 4, at=4),
    ]
    lake = yield spans

    assert trajectories(lake) == [("1", ""), ("4", "1")]
    assert story(lake, f"{1:032x}-{1:016x}") == ["tool_call ask ok"]
    assert story(lake, f"{1:032x}-{4:016x}") == ["tool_call t ok"]


@built_together
def test_child_knows_the_step_that_called_it() -> Scene:
    """Two spans of one call are one step, with the child below either; a root has none."""
    spans = [
        agent(1),
        tool(2, 1, at=1, tool_name="look"),
        tool(3, 1, at=10, tool_name="ask", ms=50),
        tool(4, 3, at=11, tool_name="ask", ms=45),
        agent(5, 4, agent_name="expert", at=12, ms=40),
        tool(6, 5, at=13, tool_name="ask", ms=20),
        agent(7, 6, agent_name="expert of experts", at=14, ms=10),
    ]
    lake = yield spans

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


@built_together
def test_agent_beside_the_tool_that_called_it_is_a_child() -> Scene:
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
    lake = yield spans

    assert trajectories(lake) == [("1", ""), ("4", "1")]
    assert story(lake, f"{1:032x}-{1:016x}") == ["tool_call ask ok", "tool_call u ok"]
    assert story(lake, f"{1:032x}-{4:016x}") == ["tool_call t ok"]


@built_together
def test_work_beside_the_span_of_a_called_agent_is_that_agents() -> Scene:
    """What a tool does in the time of the agent that it called is of that agent's run."""
    spans = [
        agent(1),
        tool(2, 1, at=1, ms=50, tool_name="ask"),
        agent(3, 2, agent_name="expert", at=2, ms=40),
        span(4, 2, at=3, ms=30),
        tool(5, 4, at=4),
        tool(6, 2, at=45, tool_name="u"),
    ]
    lake = yield spans

    assert story(lake, f"{1:032x}-{1:016x}") == ["tool_call ask ok", "tool_call u ok"]
    assert story(lake, f"{1:032x}-{3:016x}") == ["tool_call t ok"]


@built_together
def test_spans_of_no_time_stand_in_no_circle() -> Scene:
    """Agents beside one another, and their tools, that all start and end at once are built."""
    spans = [agent(1, ms=0), agent(2, 1, ms=0), agent(3, 1, ms=0), tool(4, 2, ms=0)]
    lake = yield [*spans, tool(5, 3, ms=0)]

    assert trajectories(lake) == [("1", "")]


@built_together
def test_hand_over_stays_inside() -> Scene:
    """The agent that took over works in the same run; the hand-over is a step, not a tool call."""
    spans = [
        span(1, gen_ai__operation__name="invoke_workflow", ms=100),
        agent(2, 1, agent_name="triage", ms=10),
        model(3, 2, at=1, said=[message("assistant", request("transfer_to_expert", "c1"))]),
        agent(4, 1, agent_name="expert", at=20, ms=50),
        model(5, 4, at=21, said=[message("assistant", "Done.")]),
    ]
    lake = yield spans

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


@pytest.mark.slow
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


@built_together
def test_sampled_trace_weighs_more() -> Scene:
    """A trace kept with probability one quarter stands for four."""
    sampled = {**agent(1), "traceState": "x=1,ot=rv:1;th:c"}
    lake = yield [sampled, tool(2, 1, at=1)]

    assert rows(lake, "SELECT sample_weight FROM trajectories") == [{"sample_weight": 4.0}]


def _without(span: Row, key: str, *, told: str | None = None) -> Row:
    """Return the span without one of its times, or with what stands for none."""
    return {**span, key: told} if told else {name: span[name] for name in span if name != key}


@built_together
def test_duration_is_unknown_without_a_start_or_an_end() -> Scene:
    """Neither 0 nor the time since 1970."""
    kind: dict[str, Any] = {"openinference__span__kind": "TOOL", "tool__name": "t"}
    lake = yield [
        _without(agent(1, trace=1), "endTimeUnixNano"),
        _without(tool(2, 1, trace=1, at=5), "endTimeUnixNano", told="0"),
        _without(agent(1, trace=2), "startTimeUnixNano"),
        _without(tool(2, 1, trace=2, at=5), "startTimeUnixNano", told="0"),
        _without(span(1, trace=3, at=5, **kind), "endTimeUnixNano"),
    ]
    assert rows(lake, "SELECT DISTINCT duration_ms FROM trajectories") == [{"duration_ms": None}]
    assert rows(lake, "SELECT DISTINCT duration_ms FROM steps") == [{"duration_ms": None}]
