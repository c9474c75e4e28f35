"""Which calls an attempt made, in which order, and which of them failed."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.scoring.build import call, connection, prepared, specification, trajectory

from tracegrade_scoring.tasks import Specification

NOON = datetime(2026, 11, 1, 12)  # noqa: DTZ001 - the lake's times are UTC without saying so


def at(second: int) -> datetime:
    """Return a time some seconds after noon."""
    return NOON + timedelta(seconds=second)


def failed_by(columns: dict[str, Any], tools: str = "{}") -> str | None:
    """Return how a call with these columns failed."""
    con = connection([call("t1", 0, "look", **columns)], [trajectory("t1")])
    prepared(con, specification(f"tools: {tools}"))
    ((failed, by),) = con.sql("SELECT failed, failed_by FROM calls").fetchall()
    assert failed == (by is not None)
    return by if by is None else str(by)


FAILURES: list[tuple[dict[str, Any], str | None]] = [
    ({"status": "ok", "result": "fine"}, None),
    ({"status": "unknown"}, None),
    ({"status": "error"}, "status"),
    ({"status": "not_executed"}, "status"),
    ({"result": '{"isError": true}'}, "result"),
    ({"result": '{"isError": false}'}, None),
    ({"result": '{"isError": "true"}'}, None),
    ({"result": '{"error": "no such user"}'}, "result"),
    ({"result": '{"error": {"code": 1}}'}, "result"),
    ({"result": '{"error": ""}'}, None),
    ({"result": '{"error": null}'}, None),
    ({"result": '{"error": []}'}, None),
    ({"result": '{"errors": 1}'}, None),
    ({"result": "Error: user not found"}, "result"),
    ({"result": "EXCEPTION in tool"}, "result"),
    ({"result": "Traceback (most recent call last)"}, "result"),
    ({"result": '"Error: quoted"'}, "result"),
    ({"result": '"\\n Error: \\"no\\" in\\ta line"\n'}, "result"),
    ({"result": '"Traceback (most recent call last):\\n  File \\"a.'}, "result"),
    ({"result": '"error_code","message"\n0,"fine"'}, None),
    ({"result": '{"error": 0.0}'}, None),
    ({"result": '{"error": "0"}'}, "result"),
    ({"result": "no error"}, None),
    ({"result": "{broken"}, None),
]
"""Columns of a call, and how it failed."""


def test_call_failed_by() -> None:
    """A call failed by its status, else by what its result says."""
    steps = [call("t1", i, "look", **columns) for i, (columns, _) in enumerate(FAILURES)]

    con = prepared(connection(steps, [trajectory("t1")]), Specification())
    rows = con.sql("SELECT failed_by FROM calls ORDER BY call_index").fetchall()
    found = [(columns, by) for (columns, _), (by,) in zip(FAILURES, rows, strict=True)]
    assert found == FAILURES
    assert con.sql("SELECT DISTINCT failed = (failed_by IS NOT NULL) FROM calls").fetchall() == [
        (True,)
    ]


def test_call_failed_by_the_pattern_of_its_tool() -> None:
    """The registry knows what a tool says when it fails."""
    tools = "{look: {error_pattern: '^no such'}}"

    assert failed_by({"result": "no such order"}, tools) == "error_pattern"
    assert failed_by({"result": "order: no such luck"}, tools) is None


def test_result_may_come_from_the_observation() -> None:
    """Where only what the model saw is known, that is the result."""
    observed = {
        "trajectory_id": "t1", "step_index": 1, "kind": "observation", "call_step": 0,
        "content": "Error: gone",
    }  # fmt: skip
    con = prepared(
        connection([call("t1", 0, "look"), observed], [trajectory("t1")]), Specification()
    )

    assert con.sql("SELECT result, failed_by FROM calls").fetchall() == [("Error: gone", "result")]


def test_calls_of_sub_agents_are_merged_by_time() -> None:
    """An attempt's calls are those of its root and sub-agents; each keeps its own order."""
    steps = [
        call("root", 0, "a", start_time=at(0)),
        call("root", 1, "b", start_time=at(9)),
        call("root", 2, "c", start_time=at(8)),
        call("sub", 0, "d", start_time=at(5)),
        call("subsub", 0, "e", start_time=at(6)),
        {"trajectory_id": "root", "step_index": 3, "kind": "handoff", "start_time": at(4)},
    ]
    runs = [
        trajectory("root"),
        trajectory("sub", parent_trajectory_id="root"),
        trajectory("subsub", parent_trajectory_id="sub"),
    ]

    con = prepared(connection(steps, runs), Specification())
    rows = con.sql(
        "SELECT attempt_id, call_index, tool_name FROM calls ORDER BY call_index"
    ).fetchall()
    assert rows == [("root", i, tool) for i, tool in enumerate("adebc")]


def test_call_of_a_sub_agent_hands_over_and_is_no_call() -> None:
    """What a run calls an agent by counts only where that agent left no run of its own."""
    steps = [call("root", i, "ask", start_time=at(i)) for i in range(3)]
    steps += [call("sub", 0, "look", start_time=at(1))]
    runs = [
        trajectory("root"),
        trajectory("sub", parent_trajectory_id="root", parent_step=1),
        trajectory("lost", parent_trajectory_id="root", parent_step=-1),
    ]

    con = prepared(connection(steps, runs), Specification())
    rows = con.sql("SELECT trajectory_id, step_index, own_index FROM calls ORDER BY call_index")
    assert rows.fetchall() == [("root", 0, 0), ("sub", 0, 0), ("root", 2, 1)]


def test_run_whose_parent_is_not_here_is_an_attempt() -> None:
    """A sub-agent whose parent never arrived is scored by itself."""
    runs = [trajectory("sub", parent_trajectory_id="lost")]

    con = prepared(connection([call("sub", 0, "a")], runs), Specification())
    assert con.sql("SELECT attempt_id FROM attempts").fetchall() == [("sub",)]


def test_plan_counts_the_calls_before_it() -> None:
    """A plan stands between the calls of its attempt, those of sub-agents too."""
    steps = [
        call("root", 0, "a", start_time=at(0)),
        {
            "trajectory_id": "root", "step_index": 1, "kind": "plan", "plan": "[]",
            "start_time": at(7),
        },
        call("sub", 0, "b", start_time=at(5)),
        {
            "trajectory_id": "sub", "step_index": 1, "kind": "plan", "plan": "[1]",
            "start_time": at(6),
        },
    ]  # fmt: skip
    runs = [trajectory("root"), trajectory("sub", parent_trajectory_id="root")]

    con = prepared(connection(steps, runs), Specification())
    assert con.sql("SELECT plan_index, step_index, calls_before, plan FROM plans").fetchall() == [
        (0, 1, 2, "[]")
    ]


def test_registry_knows_better_than_the_span() -> None:
    """Effect and cost are the registry's where it has them, else the span's."""
    steps = [
        call("t1", 0, "look", effect="write", cost=9.0),
        call("t1", 1, "other", effect="write", cost=9.0),
    ]

    con = prepared(
        connection(steps, [trajectory("t1")]),
        specification("tools: {look: {effect: read, cost: 2}}"),
    )
    assert con.sql("SELECT effect, cost FROM calls").fetchall() == [("read", 2.0), ("write", 9.0)]


MATCHING = r"""
tasks:
  refund: {match: {agent_name: support, user_input: '(?i)refund.*(?P<who>c-\d+)(?P<x>!)?'}}
  greet: {match: {user_input: hello}}
"""


@pytest.mark.parametrize(
    ("columns", "task_id", "source", "ambiguous", "bindings"),
    [
        ({"user_input": "Refund c-7", "agent_name": "support"}, "refund", "match", False, ["c-7"]),
        ({"user_input": "Refund c-7", "agent_name": "sales"}, None, None, False, []),
        ({"user_input": "hello"}, "greet", "match", False, []),
        ({"user_input": "hello, refund c-7", "agent_name": "support"}, None, None, True, []),
        ({"user_input": "refund c-7", "task_id": "other"}, "other", "span", False, []),
        ({"user_input": "refund c-7", "task_id": "refund"}, "refund", "span", False, ["c-7"]),
        ({"user_input": None, "task_id": "refund"}, "refund", "span", False, []),
        ({"user_input": None}, None, None, False, []),
    ],
)
def test_task_is_found_by_span_then_by_match(
    columns: dict[str, Any],
    task_id: str | None,
    source: str | None,
    ambiguous: bool,
    bindings: list[str],
) -> None:
    """The span's task wins, then the only match; two matches are ambiguous, groups bind values."""
    con = prepared(connection([], [trajectory("t1", **columns)]), specification(MATCHING))

    assert con.sql("SELECT task_id, task_source, ambiguous FROM attempts").fetchall() == [
        (task_id, source, ambiguous)
    ]
    assert con.sql("SELECT value FROM attempt_bindings").fetchall() == [(b,) for b in bindings]
