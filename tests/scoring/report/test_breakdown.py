"""Every estimator of pass@k and pass^k, their curve, and a release by category and task."""

import json
from collections.abc import Mapping

import pytest
from tests.scoring.report.build import Tables, pages

from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.rendering.words import NOTHING
from tracegrade_scoring.report.as_json import render_json
from tracegrade_scoring.report.attempts_view import CURVE_WIDTH
from tracegrade_scoring.report.plots import pass_plot
from tracegrade_scoring.report.view import AgentView, agent_views


def fill(
    tables: Tables, outcomes: Mapping[str, tuple[float, ...]], release: str = "1.0", steps: int = 4
) -> None:
    """Insert an attempt for each outcome; a task's category is its first letter."""
    for place, (task, values) in enumerate(sorted(outcomes.items())):
        for trial, value in enumerate(values):
            run = tables.run(release, task_id=task, trial=trial, step_count=steps + place + trial)
            child = tables.run(release, parent_trajectory_id=run, step_count=2)
            tables.scored(run, task)
            tables.scored(child, None)
            tables.scores[run]["task_category"] = task[0]
            tables.score(run, "success", value, numerator=value, denominator=1.0)


def view(tables: Tables) -> AgentView:
    """Return the only agent's view."""
    (found,) = agent_views(tables.report())
    return found


THE_PAPERS = {"math": (1.0, 1.0, 0.0)}
"""Three conversations; two of them are correct [Agentic]."""


def test_formulas_of_the_paper_are_next_to_the_unbiased_ones(tables: Tables) -> None:
    """The paper's own table for p = 2/3: pass@5 .996, pass^5 .132; unbiased ends at three."""
    fill(tables, THE_PAPERS)

    at, hat = view(tables).estimates

    beyond = ["4, extrapolated", "5, extrapolated"]
    assert [row[1] for row in at.rows] == ["1", "2", "3", *beyond]
    assert [row[4] for row in at.rows] == ["66.7%", "88.9%", "96.3%", "98.8%", "99.6%"]
    assert [row[4] for row in hat.rows] == ["66.7%", "44.4%", "29.6%", "19.8%", "13.2%"]
    assert [row[2] for row in at.rows] == ["66.7%", "100.0%", "100.0%", NOTHING, NOTHING]
    assert hat.rows[0][5].startswith("60.0% (")  # the mean of Beta(3, 2)
    for page in pages(tables.report()):
        assert "All k attempts succeed (pass^k)" in page
        assert "13.2%" in page


def test_json_has_every_estimator_by_k(tables: Tables) -> None:
    """The curve as numbers, to k = 10."""
    fill(tables, THE_PAPERS)
    (release,) = json.loads(render_json(tables.report()))["releases"]

    pooled = {
        row["k"]: row["pass_hat_k"]
        for row in release["pass_other_estimators"]
        if row["estimator"] == "pooled"
    }
    assert pooled == pytest.approx({k: (2 / 3) ** k for k in range(1, 11)})


def test_curve_is_of_one_estimator_and_its_gap_grows(tables: Tables) -> None:
    """pass^k falls and pass@k rises; of single attempts the paper's formulas are drawn."""
    fill(tables, {f"a{i}": (1.0, 1.0, 0.0) for i in range(4)})
    ((label, (heading, *lines)),) = view(tables).curve

    assert (label, heading) == ("1.0", f"     0%{'100%':>{CURVE_WIDTH - 1}}")
    assert [line.split()[0] for line in lines] == ["k=1", "k=2", "k=3"]
    gaps = [max(line.find("○") - line.find("●"), 0) for line in lines]
    assert gaps == sorted(gaps)
    assert "∙" not in "".join(lines)


def test_single_attempts_have_no_curve(tables: Tables) -> None:
    """Where no task was tried twice, every chance beyond the first attempt is extrapolated."""
    fill(tables, {"a": (1.0,), "b": (0.0,)})
    found = view(tables)

    assert found.curve == ()
    assert pass_plot(found) is None
    at, _ = found.estimates
    assert [row[1] for row in at.rows][1:] == [f"{k}, extrapolated" for k in range(2, 6)]


def test_curve_by_the_formula_says_so_and_where_it_is_extrapolated(tables: Tables) -> None:
    """Two attempts at each task give the unbiased estimate too few to draw."""
    fill(tables, {"a": (1.0, 0.0), "b": (0.0, 1.0)})
    ((_, (how, _, *lines)),) = view(tables).curve

    assert how.startswith("plug-in estimate")
    assert [line.split()[0] for line in lines] == [f"k={k}" for k in range(1, 6)]
    assert ["extrapolated" in line for line in lines] == [False, False, True, True, True]
    assert pass_plot(view(tables)) is not None
    for page in pages(tables.report()):
        assert "extrapolated" in page
        assert "unbiased estimate." not in page


OUTCOMES = {"a1": (1.0, 0.0), "a2": (1.0, 1.0), "b1": (0.0, 0.0)}


def test_release_alone_has_success_by_category_and_steps_by_task(tables: Tables) -> None:
    """As a comparison shows them of two; the worst task first, steps with those of sub-agents."""
    fill(tables, OUTCOMES)
    found = view(tables)

    assert [row[1:] for row in found.categories] == [
        ("a", "75.0%", "3 of 4 attempts, 2 tasks"),
        ("b", "0.0%", "0 of 2 attempts, 1 task"),
    ]
    assert [row[1:] for row in found.tasks] == [
        ("b1", "0.0%", "0 of 2 attempts", "8.50"),
        ("a1", "50.0%", "1 of 2 attempts", "6.50"),
        ("a2", "100.0%", "2 of 2 attempts", "7.50"),
    ]
    for page in pages(tables.report()):
        assert "Success by task category" in page
        assert "8.50" in page


def test_report_and_comparison_have_the_same_numbers(tables: Tables) -> None:
    """Success and steps of each task, and success by category, of releases that ran the same."""
    fill(tables, OUTCOMES)
    fill(tables, OUTCOMES | {"b1": (1.0, 0.0)}, "1.1", steps=9)
    (compared,) = read_comparisons(tables.con, "lake", "1.0", "1.1").cohorts

    old, new = json.loads(render_json(tables.report()))["releases"]

    for side, release in (("base", old), ("candidate", new)):
        by_task = {row["task_id"]: row for row in release["by_task"]}
        for task in compared.tasks:
            shown = by_task[task.task_id]
            assert shown["success"] == getattr(task, f"{side}_success")
            assert shown["steps_per_run"] == getattr(task, f"{side}_steps")
        for change, row in zip(compared.categories, release["success_by_category"], strict=True):
            assert row["task_category"] == change.category
            assert row["success"] == getattr(change.compared.found, side)


def test_tasks_without_categories_or_success_say_no_more(tables: Tables) -> None:
    """No category: no table of them. No known success: no share, and the task comes last."""
    run = tables.run(task_id="x", step_count=3)
    tables.scored(run, "x")
    tables.score(run, "success", None)
    fill(tables, {"y": (1.0,)})
    tables.scores["t2"]["task_category"] = None
    found = view(tables)

    assert found.categories == ()
    assert [row[1:4] for row in found.tasks] == [
        ("y", "100.0%", "1 of 1 attempt"),
        ("x", NOTHING, "0 of 0 attempts"),
    ]
