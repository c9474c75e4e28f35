"""A task may expect that an agent is called as a tool, or that it is handed over to."""

from collections.abc import Sequence
from typing import Any

import duckdb
import pytest
from tests.scoring.build import Row, call, connection, scored, scores, specification, trajectory

TASK = """
{tools}
tasks:
  t:
    expected: [{{tool: {expected}}}, {{tool: pay}}]
"""


def scored_runs(
    steps: Sequence[Row], runs: Sequence[Row], expected: str, tools: str = ""
) -> duckdb.DuckDBPyConnection:
    """Return the scores of tools that runs have by a file whose task expects a call."""
    spec = specification(TASK.format(expected=expected, tools=tools))
    return scored(connection(steps, runs), spec, until="tool_correctness")


def handed_over(tool_name: str | None, arguments: str | None = "{}") -> list[dict[str, Any]]:
    """Return the steps of a run that hands over and pays."""
    step = {**call("t1", 0, "x", arguments=arguments, status=None), "kind": "handoff"}
    return [step | {"tool_name": tool_name}, dict(call("t1", 1, "pay"))]


def correctness(steps: list[dict[str, Any]], expected: str, tools: str = "") -> float | None:
    """Return the tool correctness of the run."""
    con = scored_runs(steps, [trajectory("t1", task_id="t")], expected, tools)
    return scores(con)["tool_correctness"].value


@pytest.mark.parametrize(
    ("made", "arguments", "expected"),
    [
        ("transfer_to_billing", "{}", "transfer_to_billing"),
        ("handoff to Billing", None, "transfer_to_billing"),
        ("billing", None, "handoff_to_billing"),
        ("transfer_to_agent", '{"agent_name":"billing"}', "transfer_to_agent"),
        ("transfer_to_agent", '{"agent_name":"billing"}', "billing"),
        ("transfer_to_billing", "{}", "billing"),
    ],
)
def test_expected_hand_off_is_a_call(made: str, arguments: str | None, expected: str) -> None:
    """It meets the expectation under any name of the agent."""
    assert correctness(handed_over(made, arguments), expected) == 1


def test_hand_off_to_another_agent_is_none() -> None:
    """What is expected was not made."""
    assert correctness(handed_over("transfer_to_support"), "transfer_to_billing") == 0.5


def test_hand_off_that_the_file_declares_is_none() -> None:
    """The task file is right, and the reason says what to declare."""
    steps = handed_over("transfer_to_billing")
    declared = "tools: {transfer_to_billing: {kind: handoff}}"
    run = trajectory("t1", task_id="t")
    con = scored_runs(steps, [run], "transfer_to_billing", declared)

    assert scores(con)["tool_correctness"].value == 0.5
    reasons = con.sql("SELECT reason FROM decision_rows WHERE missed").fetchall()
    assert reasons == [
        (
            "no call was made where transfer_to_billing was expected; it is of kind handoff, "
            "declare tools.transfer_to_billing.kind: tool_call",
        )
    ]


def test_hand_off_that_no_task_expects_stays_one() -> None:
    """The step is not a call."""
    assert correctness(handed_over("transfer_to_billing"), "pay") == 0.5


@pytest.mark.parametrize("tools", ["", "tools: {billing: {kind: tool_call}, pay: {}, q: {}}"])
def test_agent_called_as_a_tool_is_a_call(tools: str) -> None:
    """The call that started the sub-agent counts, before those that the sub-agent made."""
    steps = [call("t1", 0, "billing"), call("t2", 0, "pay")]
    child = trajectory("t2", parent_trajectory_id="t1", parent_step=0)
    con = scored_runs(steps, [trajectory("t1", task_id="t"), child], "billing", tools)

    assert scores(con)["tool_correctness"].value == 1
    calls = con.sql("SELECT tool_name FROM calls ORDER BY call_index").fetchall()
    assert [name for (name,) in calls] == ["billing", "pay"]


def test_agent_that_no_task_expects_is_a_hand_off() -> None:
    """The call that started it is none, as before."""
    steps = [call("t1", 0, "billing"), call("t2", 0, "pay")]
    runs = [
        trajectory("t1", task_id="t"),
        trajectory("t2", parent_trajectory_id="t1", parent_step=0),
    ]
    con = scored_runs(steps, runs, "pay")

    calls = con.sql("SELECT tool_name FROM calls").fetchall()
    assert calls == [("pay",)]
