"""Tool selection where order is free, and where no call is the right decision."""

from typing import Any

import pytest
from hypothesis import given, settings
from tests.scoring.build import Row, call, connection, scored, scores, specification, trajectory

from tracegrade_scoring.scorers.tool_selection.alignment import (
    ALONE,
    NEVER,
    NO_CALL,
    AlignedPair,
    AlignmentProblem,
    assign,
    decisions,
)

from .test_alignment import tables_of_costs


def assign_by_force(rows: list[list[int]]) -> list[AlignedPair]:
    """Return the pairs of the best of all assignments, by the rule of ties."""
    width = len(rows[0])
    # A point's choice: 0 is alone, then the expectations from the last; the last point first.
    columns = [None, *reversed(range(width))]

    def walks(i: int, free: frozenset[int]) -> list[tuple[int, list[int], list[AlignedPair]]]:
        if i < 0:
            return [(ALONE * len(free), [], [])]
        found = []
        for digit, column in enumerate(columns):
            if column is None:
                rest, cost, pair = free, ALONE, []
            elif column in free and rows[i][column] != NEVER:
                rest, cost, pair = free - {column}, rows[i][column], [AlignedPair(i, column)]
            else:
                continue
            found += [(c + cost, [digit, *w], pair + p) for c, w, p in walks(i - 1, rest)]
        return found

    best = min(walks(len(rows) - 1, frozenset(range(width))), key=lambda walk: walk[:2])
    return sorted(best[2])


@given(tables_of_costs())
@settings(max_examples=400)
def test_assignment_is_the_best_of_all(costs: list[list[int]]) -> None:
    """The Hungarian method finds what trying every assignment finds, also among equal ones."""
    assert assign(costs) == assign_by_force(costs)


def test_many_calls_are_assigned_to_few_expectations() -> None:
    """Of a loop of one thousand equal calls only the first ones can be those expected."""
    costs = [[0, 3, 1], [3, 3, 3]] * 1000

    assert assign(costs) == [AlignedPair(0, 0), AlignedPair(1, 1), AlignedPair(2, 2)]


def run(task: str, *made: str, ended: str | None = None) -> tuple[dict[str, Any], list[Any]]:
    """Return the scores of an attempt of a task, and its decisions."""
    calls: list[Row] = [call("t1", i, name) for i, name in enumerate(made)]
    con = connection(calls, [trajectory("t1", task_id="t")])
    con.execute("CREATE TEMP TABLE endings (trajectory_id TEXT, ending TEXT)")
    if ended:
        con.execute("INSERT INTO endings VALUES ('t1', $ended)", {"ended": ended})
    scored(con, specification(f"tasks: {{t: {{{task}}}}}"), until="conduct")
    rows = con.sql(
        "SELECT picked_tool, expected_tool, correct, counted, missed FROM decision_rows"
    )
    return scores(con), rows.fetchall()


@pytest.mark.parametrize(("matters", "correct", "points"), [("true", 1, 3), ("false", 3, 3)])
def test_order_that_does_not_matter_costs_nothing(matters: str, correct: int, points: int) -> None:
    """The same calls in another order are right where the task says so."""
    task = f"expected: [{{tool: a}}, {{tool: b}}, {{tool: c}}], sequence_matters: {matters}"
    found, _ = run(task, "c", "b", "a")

    assert (found["tsa"].numerator, found["tsa"].denominator) == (correct, points)


def test_no_call_is_right_where_none_is_expected() -> None:
    """An empty list that is complete is one decision, and making no call is the right one."""
    found, rows = run("expected: []")

    assert rows == [(None, None, True, True, False)]
    assert (found["tsa"].numerator, found["tsa"].denominator) == (1, 1)
    assert (found["tsa"].label, found["tsa_source_text"].value) == ("a", 1.0)
    assert found["missed_decisions"].value == 0
    assert found["wrong_call_rate"].reason == "no_decision_point"
    assert found["tool_correctness"].reason == "no_calls"


@pytest.mark.parametrize("complete", ["false", "writes"])
def test_no_call_is_no_decision_where_others_are_free(complete: str) -> None:
    """If other calls are also right, none is not a decision."""
    found, rows = run(f"expected: [], expected_complete: {complete}")

    assert (found["tsa"].status, found["tsa"].reason, rows) == (
        "not_applicable",
        "no_decision_point",
        [],
    )


def test_calls_where_none_is_expected_are_wrong_each() -> None:
    """The calls are picks that stand alone, as always."""
    found, rows = run("expected: []", "a", "b")

    assert rows == [("a", None, False, True, False), ("b", None, False, True, False)]
    assert (found["tsa"].numerator, found["tsa"].denominator) == (0, 2)


@pytest.mark.parametrize("ending", ["crashed", "budget"])
def test_run_that_was_cut_off_did_not_decide_to_make_no_call(ending: str) -> None:
    """It is left out like what such a run missed."""
    found, rows = run("expected: []", ended=ending)

    assert rows == [(None, None, None, False, False)]
    assert (found["tsa"].status, found["tsa"].reason) == ("not_applicable", "no_decision_point")


def test_nothing_expected_and_nothing_made_is_one_decision() -> None:
    """The problem has neither an expectation nor a point."""
    assert decisions(AlignmentProblem(0, complete=True, free_order=True, made=0, pairs=())) == (
        NO_CALL,
    )
