"""The agents of a run with several: who started whom, and whose each step and call is."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.queries.together import Scene
from tests.queries.traces import (
    Row,
    TraceRows,
    agent,
    apart,
    built_apart,
    land,
    message,
    model,
    request,
    request_of,
    rows,
    tool,
)
from tests.scenes import built_together

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.costs.pricing import NO_PRICES, Price, update_costs

USED = {"gen_ai__usage__input_tokens": 10, "gen_ai__usage__output_tokens": 5}
TREE = """
SELECT agents.*, parents.agent_name AS parent_name
FROM agents
LEFT JOIN agents AS parents
  ON agents.parent_trajectory_id = parents.trajectory_id
  AND agents.parent_agent_span_id = parents.agent_span_id
ORDER BY agents.start_time, agents.trajectory_id, agents.agent_span_id
"""


def tree(lake: Lake | TraceRows) -> list[tuple[str, str | None, list[int]]]:
    """Return name, parent's name and steps of each agent, in the order of their starts."""
    return [
        (row["agent_name"], row["parent_name"], row["step_indexes"]) for row in rows(lake, TREE)
    ]


def said(*parts: Row | str) -> dict[str, Any]:
    """Return what makes a model span say these parts, and use tokens."""
    return {"said": [message("assistant", *parts)], "gen_ai__request__model": "m", **USED}


@built_together
def test_run_of_one_agent_has_no_agents() -> Scene:
    """Its row in `trajectories` says the same; wrappers and parts of it do not count as agents."""
    spans = [
        agent(1, agent_name="a"),
        agent(2, 1, agent_name="a"),
        agent(3, 2, agent_name=""),
        model(4, 3, at=1, **said(request("look"))),
        tool(5, 3, at=2, tool_name="look"),
    ]
    lake = yield spans

    assert rows(lake, "FROM agents") == []


@built_together
def test_parallel_agents_have_their_own_steps_and_calls() -> Scene:
    """Two agents at the same time, one with a failed call: each has what its own spans say."""
    spans = [
        agent(1, agent_name="lead"),
        agent(2, 1, at=1, ms=20, agent_name="left"),
        model(3, 2, at=2, **said(request("look", "c1"))),
        tool(4, 2, at=4, tool_name="look", error="no such place"),
        agent(5, 1, at=1, ms=20, agent_name="right"),
        model(6, 5, at=3, **said(request("look", "c2"), request("look", "c3"))),
        tool(7, 5, at=5, tool_name="look", gen_ai__tool__call__id="c2"),
        tool(8, 5, at=6, tool_name="look", gen_ai__tool__call__id="c3"),
        model(9, 1, at=30, **said("Done.")),
    ]
    lake = yield spans

    assert tree(lake) == [("lead", None, [3]), ("left", "lead", [0]), ("right", "lead", [1, 2])]
    columns = "agent_name, tool_call_count, error_count, llm_call_count, input_tokens"
    assert [tuple(row.values()) for row in rows(lake, f"SELECT {columns} FROM agents")] == [
        ("lead", 0, 0, 1, 10),
        ("left", 1, 1, 1, 10),
        ("right", 2, 0, 1, 10),
    ]


@built_together
def test_agent_that_took_over_was_started_by_who_handed_over() -> Scene:
    """Below a workflow all agents are next to each other; each hand-over leads to the next."""
    spans = [
        agent(1, agent_name=""),
        agent(2, 1, at=1, ms=9, agent_name="triage"),
        model(3, 2, at=2, **said(request("transfer_to_billing_desk", "h1"))),
        tool(4, 2, at=4, tool_name="transfer_to_billing_desk", gen_ai__tool__call__id="h1"),
        agent(5, 1, at=11, ms=9, agent_name="Billing Desk"),
        model(6, 5, at=12, **said(request("transfer_to_refunds", "h2"))),
        tool(7, 5, at=14, tool_name="transfer_to_refunds", gen_ai__tool__call__id="h2"),
        agent(8, 1, at=21, ms=9, agent_name="refunds"),
        model(9, 8, at=22, **said("Done.")),
    ]
    lake = yield spans

    assert tree(lake) == [
        ("triage", None, [0]),
        ("Billing Desk", "triage", [1]),
        ("refunds", "Billing Desk", [2]),
    ]
    assert [row["tool_call_id"] for row in rows(lake, TREE)] == [None, "h1", "h2"]


@built_together
def test_sub_agent_is_joined_by_its_call() -> Scene:
    """One that was called as a tool is a run of its own, which its caller's call leads to."""
    spans = [
        agent(1, agent_name="lead"),
        agent(2, 1, at=1, ms=50, agent_name="desk"),
        model(3, 2, at=2, **said(request("helper", "c1"))),
        tool(4, 2, at=4, ms=20, tool_name="helper", gen_ai__tool__call__id="c1"),
        agent(5, 4, at=5, ms=10, agent_name="helper"),
        model(6, 5, at=6, **said("Mine.")),
    ]
    lake = yield spans

    assert tree(lake) == [("lead", None, []), ("desk", "lead", [0]), ("helper", "desk", [0])]
    assert rows(
        lake,
        "SELECT agents.agent_name, steps.tool_name FROM agents INNER JOIN steps "
        "ON agents.parent_trajectory_id = steps.trajectory_id "
        "AND agents.tool_call_id = steps.tool_call_id AND steps.kind = 'tool_call'",
    ) == [{"agent_name": "helper", "tool_name": "helper"}]


@built_together
def test_agents_of_one_name_stay_apart() -> Scene:
    """Three workers at once are three agents; a worker below one of them is part of it."""
    spans = [
        agent(1, agent_name="lead"),
        *(agent(number, 1, at=1, ms=50, agent_name="worker") for number in (2, 3, 4)),
        *(model(10 + number, number, at=2, **said("Mine.")) for number in (2, 3, 4)),
        agent(5, 4, at=5, ms=20, agent_name="worker"),
        model(15, 5, at=6, **said("Mine, too.")),
    ]
    lake = yield spans

    counts = "SELECT agent_span_id[-1:] AS span, llm_call_count FROM agents ORDER BY ALL"
    assert [tuple(row.values()) for row in rows(lake, counts)] == [
        ("1", 0), ("2", 1), ("3", 1), ("4", 2),
    ]  # fmt: skip


@built_together
def test_agent_without_a_span_is_known_by_the_spans_that_name_it() -> Scene:
    """A workflow may name the agent on each span alone; its first span stands for it."""
    named: Row = {"gen_ai__agent__name": "helper"}
    spans = [
        agent(1, agent_name="lead"),
        model(2, 1, at=1, **said(request("handoff", "h1", to_agent="helper"))),
        tool(3, 1, at=2, tool_name="handoff", gen_ai__tool__call__id="h1"),
        model(4, 1, at=5, ms=2, **said(request("look", "c1")), **named),
        tool(5, 1, at=8, ms=2, tool_name="look", gen_ai__tool__call__id="c1"),
        model(6, 1, at=12, ms=3, **said("Done."), **named),
    ]
    lake = yield spans

    assert tree(lake) == [("lead", None, [0]), ("helper", "lead", [1, 2])]
    (helper,) = rows(lake, "FROM agents WHERE NOT has_span")
    assert (helper["agent_span_id"][-1], helper["duration_ms"]) == ("4", 10.0)


def test_costs_of_agents_are_those_of_their_run(tmp_path: Path) -> None:
    """Each model call is of one agent, so their costs add up; other prices reach them, too."""
    spans = [
        agent(1, agent_name="lead"),
        agent(2, 1, at=1, ms=20, agent_name="left"),
        model(3, 2, at=2, **said("Mine.")),
        model(4, 1, at=30, **said("Done.")),
    ]
    lake = Lake.create(tmp_path / "lake")
    land(lake, request_of(spans))
    build(lake, prices={"m": Price(1_000_000, 0, 0, 2_000_000, 0)})
    costs = "SELECT cost_usd FROM agents ORDER BY agent_name"
    assert rows(lake, costs) == [{"cost_usd": 2e-5}] * 2
    assert rows(lake, "SELECT cost_usd FROM trajectories") == [{"cost_usd": 4e-5}]

    update_costs(lake, {"m": Price(3_000_000, 0, 0, 0, 0)})
    assert rows(lake, costs) == [{"cost_usd": 3e-5}] * 2

    update_costs(lake, NO_PRICES)
    assert rows(lake, costs) == [{"cost_usd": None}] * 2


def test_agents_of_a_trace_follow_its_new_spans(tmp_path: Path) -> None:
    """A late span replaces the agents of its trace, and leaves those of others."""
    run = [agent(1, agent_name="lead"), agent(2, 1, at=1, agent_name="left")]
    late = agent(3, 1, at=5, agent_name="right")
    lake = built_apart(tmp_path, [run, run])
    before = rows(lake, "FROM agents ORDER BY ALL")

    land(lake, request_of(apart([[late]])), seq=9)
    build(lake)
    after = rows(lake, "FROM agents ORDER BY ALL")

    assert [row["agent_name"] for row in after if row["trace_id"][-1] == "1"] == [
        "lead", "left", "right",
    ]  # fmt: skip
    others = [row for row in before if row["trace_id"][-1] == "2"]
    assert [row for row in after if row["trace_id"][-1] == "2"] == others


NAMES = st.sampled_from(["", "a", "b", "b", "Agent b", "\u202eb"])
KINDS = st.sampled_from(["agent", "agent", "model", "tool"])
SPANS = st.lists(
    st.tuples(KINDS, NAMES, st.integers(0, 12), st.integers(0, 9), st.integers(0, 20)),
    min_size=2,
    max_size=12,
)


def traced(drawn: Iterable[tuple[str, str, int, int, int]]) -> list[Row]:
    """Return spans whose parents may be lost, among themselves, or below them."""
    spans = []
    for number, (kind, name, parent, at, ms) in enumerate(drawn, 1):
        place: dict[str, Any] = {"at": at, "ms": ms}
        if kind == "agent":
            spans.append(agent(number, parent, agent_name=name, **place))
        elif kind == "tool":
            tool_name = f"transfer_to_{name}" if at % 2 else name
            spans.append(tool(number, parent, tool_name=tool_name or "t", **place))
        else:
            asked = request(f"transfer_to_{name}" if name else "t", f"c{number}")
            spans.append(model(number, parent, gen_ai__agent__name=name, **said(asked), **place))
    return spans


CALL_OF_ANOTHER_RUN = [
    *(("model", "", 2, 0, 20), ("agent", "\u202eb", 1, 0, 10), ("model", "b", 3, 8, 9)),
    *(("model", "b", 3, 1, 14), ("tool", "\u202eb", 0, 9, 14), ("model", "a", 6, 4, 0)),
    *(("agent", "b", 11, 9, 6), ("agent", "", 1, 2, 12), ("tool", "b", 9, 0, 17)),
    *(("tool", "", 5, 1, 20), ("tool", "\u202eb", 12, 2, 13), ("model", "", 0, 9, 18)),
]
"""A step whose model call is below an agent of another run."""


@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example([CALL_OF_ANOTHER_RUN])
@given(st.lists(SPANS, min_size=40, max_size=40))
def test_agents_are_trees_and_share_out_their_run(
    tmp_path_factory: Any, drawn: list[list[Any]]
) -> None:
    """No circle in a run, no lost parent; each step and model call is of one agent."""
    lake = built_apart(tmp_path_factory.mktemp("lake"), map(traced, drawn))
    agents = {(row["trajectory_id"], row["agent_span_id"]): row for row in rows(lake, TREE)}
    runs = {row["trajectory_id"]: row for row in rows(lake, "FROM trajectories")}
    assert len(agents) == len(rows(lake, "FROM agents"))

    for row in agents.values():
        seen = set()
        above = row
        while above["parent_trajectory_id"] is not None:
            key = (above["parent_trajectory_id"], above["parent_agent_span_id"])
            assert key in agents
            if key[0] != row["trajectory_id"]:
                break  # malformed spans may call one run from another and back
            assert key not in seen
            seen.add(key)
            above = agents[key]
    for run_id in {row["trajectory_id"] for row in agents.values()}:
        own = [row for row in agents.values() if row["trajectory_id"] == run_id]
        steps = sorted(index for row in own for index in row["step_indexes"])
        assert steps == list(range(runs[run_id]["step_count"]))
        for column in ("tool_call_count", "error_count", "llm_call_count"):
            assert sum(row[column] for row in own) == runs[run_id][column]
        assert sum(row["input_tokens"] or 0 for row in own) == (runs[run_id]["input_tokens"] or 0)
        assert {row["agent_span_id"] for row in own} >= {runs[run_id]["root_span_id"]}
        assert all(re.fullmatch("[0-9a-f]{16}", row["agent_span_id"]) for row in own)
