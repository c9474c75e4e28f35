"""Dependency failures by planning quality, and tokens and cost by tool selection."""

import json
from math import isclose
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scoring.report.build import Tables, pages

from tracegrade_scoring.metrics import Scale
from tracegrade_scoring.rendering import words
from tracegrade_scoring.report.as_json import render_json
from tracegrade_scoring.report.bands import (
    COST,
    FAILURE,
    TOKENS,
    BandMean,
    planning_rows,
    selection_rows,
)
from tracegrade_scoring.sql import query
from tracegrade_scoring.statistics.intervals import bootstrap, wilson


def insert(tables: Tables, task: str | None, *, failed: bool | None = False, **facts: Any) -> str:
    """Insert a run with a planning quality, a tool selection and usage."""
    pq, tsa, weight = (facts.pop(name, None) for name in ("pq", "tsa", "weight"))
    run = tables.run(task_id=task, llm_call_count=1, **facts)
    tables.scored(run, task)
    tables.scores[run]["sample_weight"] = weight or 1.0
    if pq is not None:
        tables.score(run, "pq", pq, label="no_plan" if pq == 0 else None)
    if tsa is not None:
        tables.score(run, "tsa", tsa, numerator=tsa * 10, denominator=10.0)
    if failed is not None:
        tables.score(run, "dependency_violation", float(failed))
    return run


def bands(tables: Tables) -> dict[tuple[str, str], BandMean]:
    """Return the means of the only release."""
    (release,) = tables.report().releases
    return {(row.measure, row.band): row for row in release.bands}


def test_share_of_single_runs_has_wilsons_interval() -> None:
    """As in any release score; a killed run is in no band."""
    tables = Tables()
    for place in range(6):
        insert(tables, f"t{place}", pq=4.0, failed=place < 2)
    killed = insert(tables, "t9", pq=4.0, failed=True)
    tables.score(killed, "success", None, reason="killed_run")

    found = bands(tables)[FAILURE, "below 5"]

    assert (found.runs, found.known, found.total, found.tasks) == (6, 6, 2.0, 6)
    assert (found.low, found.high, found.interval_method) == wilson(2, 6)


def test_repeated_runs_have_an_interval_over_tasks() -> None:
    """Runs of a task resemble one another: tasks are resampled, and four have no interval."""
    tables = Tables()
    for place in range(5):
        for trial in range(3):
            insert(tables, f"t{place}", pq=8.0, failed=trial < place, input_tokens=100 * place,
                   tsa=1.0)  # fmt: skip
    for place in (0, 0, 1, 1, 2, 2, 3, 3):
        insert(tables, f"t{place}", pq=5.0, failed=True)

    found = bands(tables)

    expected = bootstrap([0.0, 1.0, 2.0, 3.0, 3.0], [3.0] * 5)
    assert expected == found[FAILURE, "7 and more"][-3:]
    tokens = bootstrap([300.0 * place for place in range(5)], [3.0] * 5)
    assert tokens == found[TOKENS, "above 9"][-3:]
    few = found[FAILURE, "5 to below 7"]
    assert (few.value, few.low, few.tasks) == (1.0, None, 4)


def test_usage_includes_sub_agents_and_unknown_costs_are_no_zeros() -> None:
    """Tokens of a sub-agent are those of its run; one unknown cost leaves a run's unknown."""
    tables = Tables()
    run = insert(tables, "a", tsa=0.6, input_tokens=100, output_tokens=10, cost_usd=0.004)
    insert(tables, "b", tsa=0.9, input_tokens=200, failed=None)
    child = tables.run(parent_trajectory_id=run, input_tokens=40, cost_usd=0.0005)
    tables.scored(child, None)

    found = bands(tables)

    assert found[TOKENS, "6 to 9"].value == 175
    assert (found[COST, "6 to 9"].value, found[COST, "6 to 9"].known) == (0.004 + 0.0005, 1)
    (row,) = selection_rows([*found.values()], "1.0")
    assert row == ("1.0", "6 to 9", "175", "2 runs, 2 tasks", "$0.0045",
                   "1 of 2 runs known, 1 task")  # fmt: skip


def test_runs_without_scores_are_in_no_band() -> None:
    """Neither table is shown, and neither is a table whose amounts are all unknown."""
    tables = Tables()
    insert(tables, "a", failed=True, input_tokens=5)
    insert(tables, "b", pq=9.0, failed=None, tsa=1.0)

    found = [*bands(tables).values()]

    assert [(row.measure, row.known) for row in found] == [(FAILURE, 0), (TOKENS, 0), (COST, 0)]
    assert [*planning_rows(found, "1.0"), *selection_rows(found, "1.0")] == []


def test_every_form_of_a_report_shows_the_bands() -> None:
    """Terminal, HTML, Markdown and JSON have the same numbers."""
    tables = Tables()
    for place in range(5):
        insert(tables, f"t{place}", pq=0.0, failed=place == 0, tsa=0.5, input_tokens=place,
               cost_usd=0.25)  # fmt: skip
    tables.release("pq", 0.0, scored=5, trajectories=5)
    report = tables.report()
    interval = words.interval(*wilson(1, 5)[:2], Scale.SHARE)

    for page in pages(report):
        assert "Dependency failures by planning quality" in page
        assert "Tokens and cost by tool selection" in page
        assert f"20.0% ({interval})" in page
        assert "1 of 5 runs, 5 tasks" in page
        assert "$0.25 (all tasks alike: no interval)" in page
    (release,) = json.loads(render_json(report))["releases"]
    (shown,) = [row for row in release["bands"] if row["measure"] == FAILURE]
    assert (shown["band"], shown["value"], shown["known"]) == ("no plan", 0.2, 5)


RUNS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", None]),
        st.sampled_from([None, 0.0, 4.99, 5.0, 6.99, 7.0, 10.0]),
        st.sampled_from([None, 0.0, 0.59, 0.6, 0.9, 0.91, 1.0]),
        st.sampled_from([None, True, False]),
        st.sampled_from([None, 0, 7, 1000]),
        st.sampled_from([1.0, 4.0]),
    ),
    max_size=12,
)


@settings(max_examples=8)
@given(RUNS)
def test_saved_queries_have_the_numbers_of_the_report(runs: list[tuple[Any, ...]]) -> None:
    """An analyst and a reader of the report see the same shares and means."""
    tables = Tables()
    for task, pq, tsa, failed, tokens, weight in runs:
        insert(tables, task, pq=pq, tsa=tsa, failed=failed, input_tokens=tokens, weight=weight)
    tables.run(task_id="unscored")
    found = bands(tables)

    failures = tables.con.execute(query("dependency_failures_by_planning")).fetchall()
    usages = tables.con.execute(query("usage_by_tool_selection")).fetchall()

    assert {row[3] for row in failures} == {band for measure, band in found if measure == FAILURE}
    for _, _, _, band, count, _, known, failed, share in failures:
        row = found[FAILURE, band]
        assert (row.runs, row.known, row.total or 0) == (count, known, failed)
        assert row.value is share is None or isclose(row.value or 0, share)
    assert {row[3] for row in usages} == {band for measure, band in found if measure == TOKENS}
    for _, _, _, band, count, _, known, mean, priced, usd in usages:
        assert (found[TOKENS, band].runs, found[TOKENS, band].known) == (count, known)
        assert found[TOKENS, band].value == mean
        assert (found[COST, band].known, found[COST, band].value) == (priced, usd)
