"""One page, one number: what figures of one name are over, and which attempts count."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from tests.scoring.report.build import Tables, as_text, pages

from tracegrade_scoring.compare.attempts import DeclaredTask
from tracegrade_scoring.report.as_json import render_json
from tracegrade_scoring.report.html import render_html
from tracegrade_scoring.report.model import (
    AS_TIERS,
    AttemptPolicy,
    Reliability,
    Report,
    ReportOptions,
)
from tracegrade_scoring.report.read import read_report
from tracegrade_scoring.report.view import agent_views

Outcomes = Mapping[str, Iterable[float | None]]
"""Success of each attempt, by task; None: unknown."""


def fill(tables: Tables, release: str, outcomes: Outcomes, **facts: Any) -> None:
    """Insert one run for each outcome."""
    for task, values in outcomes.items():
        for trial, success in enumerate(values):
            run = tables.run(release, task_id=task, trial=trial, **facts)
            tables.scored(run, task)
            tables.score(run, "success", success, numerator=success, denominator=success and 1.0)


def reliability(tables: Tables, counting: AttemptPolicy = AS_TIERS) -> dict[str, Reliability]:
    """Return the reliability of each release."""
    report = read_report(tables.con, "lake", counting)
    return {str(r.key.release): r.reliability for r in report.releases if r.reliability}


STEADY: Outcomes = {"a": (1.0, 1.0, 1.0), "b": (1.0, 1.0, 0.0), "c": (0.0, 0.0, 0.0)}
"""Every attempt of three tasks ended."""
CRASHING: Outcomes = {"a": (1.0, 1.0, 1.0), "b": (1.0, None)}
"""The same agent, which crashed in half of its other runs: some sent no trace at all."""


def test_release_that_crashes_more_does_not_look_better(tables: Tables) -> None:
    """With missing attempts as failures, those of tasks that it never finished count as well."""
    fill(tables, "1.0", STEADY)
    fill(tables, "1.1", CRASHING)

    found = reliability(tables, AttemptPolicy(missing="as-failure", trials=3))

    steady, crashing = found["1.0"], found["1.1"]
    assert [row.tasks for row in (*steady.passes, *crashing.passes)] == [3] * 6
    assert [row.pass_at_k for row in crashing.passes] == pytest.approx(
        [(1 + 1 / 3) / 3, (1 + 2 / 3) / 3, 2 / 3]
    )
    for base, candidate in zip(steady.passes, crashing.passes, strict=True):
        assert candidate.pass_at_k <= base.pass_at_k
        assert candidate.pass_hat_k <= base.pass_hat_k
    assert (crashing.tier.pass_at_1 or 0) < (steady.tier.pass_at_1 or 0)
    assert (crashing.attempts, crashing.valid, crashing.invalid, crashing.missing) == (9, 4, 1, 4)


def test_tasks_of_the_task_files_count_where_no_release_tried_them(tables: Tables) -> None:
    """Of these every attempt is missing; a task of another agent is none of these."""
    fill(tables, "1.0", {"a": (1.0,)}, agent="files")
    fill(tables, "1.0", {"x": (1.0,)}, agent="mails")
    declared = [
        DeclaredTask(name, agent, None)
        for name, agent in (("a", None), ("b", None), ("c", "files"), ("d", "mails"), ("x", None))
    ]
    counting = AttemptPolicy(missing="as-failure", trials=1)

    report = read_report(tables.con, "lake", counting, declared=declared)

    files, mails = (r.reliability for r in report.releases)
    assert files is not None
    assert mails is not None
    assert (files.passes[0].tasks, files.missing, files.passes[0].pass_at_k) == (3, 2, 1 / 3)
    assert (mails.passes[0].tasks, mails.missing) == (3, 2)


def test_attempts_that_are_missing_are_said_where_they_are_left_out(tables: Tables) -> None:
    """Left out, what crashed leaves fewer tasks: the page says that these cannot be compared."""
    fill(tables, "1.0", STEADY)
    fill(tables, "1.1", CRASHING)
    report = tables.report()

    sentence = "1.1: reliability and tier are without 2 tasks that count for another release"
    assert sentence in " ".join(as_text(report).split())
    assert [r["pass"][0]["uncounted_tasks"] for r in _releases(report)] == [0, 2]


def test_attempts_shown_are_those_counted(tables: Tables) -> None:
    """Attempts of omitted tasks are not mentioned; failures for want of an attempt are named."""
    fill(tables, "1.0", {"a": (1.0, 1.0, None), "b": (1.0,)})

    strict = reliability(tables, AttemptPolicy(missing="as-failure", trials=4))["1.0"]
    left_out = reliability(tables, AttemptPolicy(min_trials=2))["1.0"]

    assert (strict.attempts, strict.valid, strict.invalid, strict.missing) == (8, 3, 1, 4)
    assert (left_out.attempts, left_out.invalid, left_out.dropped) == (2, 1, 1)
    page = as_text(read_report(tables.con, "lake", AttemptPolicy(missing="as-failure", trials=4)))
    assert "2 tasks, 8 attempts, 5 of them missing or of unknown outcome, counted as" in page


def test_tier_and_table_stand_on_the_same_tasks(tables: Tables) -> None:
    """A task tried once keeps neither from k = 3; the page says that it is left out."""
    fill(tables, "1.0", {"a": (1.0, 1.0, 1.0), "b": (0.0, 0.0, 0.0, 0.0), "c": (1.0,)})
    report = tables.report()
    (release,) = _releases(report)
    found = reliability(tables)["1.0"]

    assert [row["k"] for row in release["pass"]] == [1, 2, 3]
    assert {row["tasks"] for row in release["pass"]} == {release["tiers"][0]["tasks"]} == {2}
    assert release["pass"][0]["pass_at_k"] == release["tiers"][0]["pass_at_1"] == 0.5
    assert (found.dropped, found.attempts) == (1, 7)
    page = " ".join(as_text(report).split())
    assert "k ends at 3: the task with the fewest attempts has 3; 1 task with fewer than 3" in page
    assert "Means over tasks, and each task counts the same" in page
    everything = reliability(tables, AttemptPolicy(min_trials=1))["1.0"]
    assert [(row.k, row.tasks) for row in everything.passes] == [(1, 3)]


READY = re.compile("production-ready|autonomous production", re.IGNORECASE)


def test_small_sample_carries_no_tier(tables: Tables) -> None:
    """Thirteen perfect runs of five tasks: no page and no JSON calls the agent ready."""
    fill(tables, "1.0", {f"t{i}": (1.0,) * (3 if i < 3 else 2) for i in range(5)})
    small = tables.report()

    for page in (*pages(small), render_json(small)):
        assert not READY.search(page)
    assert "No tier: a tier takes at least 10 tasks and 20 attempts" in pages(small)[0]
    tier = _releases(small)[0]["tiers"][0]
    assert (tier["tier"], tier["reason"], tier["pass_at_1"]) == (None, "insufficient_sample", 1.0)


def test_tier_is_the_one_that_the_sample_carries(tables: Tables) -> None:
    """Ten perfect tasks carry less than forty; pages and JSON say the same."""
    fill(tables, "1.0", {f"t{i}": (1.0, 1.0, 1.0) for i in range(10)})
    fill(tables, "1.1", {f"t{i}": (1.0, 1.0, 1.0) for i in range(40)})
    report = tables.report()
    ten, forty = (release["tiers"][0] for release in _releases(report))

    assert (ten["tier"], ten["tier_at_least"]) == ("Needs improvement", True)
    assert (forty["tier"], forty["tier_at_least"]) == ("Production-ready", False)
    for page in pages(report):
        assert "Needs improvement or better" in page
        assert len(READY.findall(page)) == 1


def _with_axes(tables: Tables, tasks: int, release: str = "1.0", **flags: Any) -> None:
    """Insert a perfect run of each task, with all three axes."""
    for task in range(tasks):
        run = tables.run(release, task_id=f"t{task}")
        tables.scored(run, f"t{task}")
        tables.score(run, "success", 1.0, numerator=1.0, denominator=1.0)
        for metric, value in (("tsa", 1.0), ("pq", 10.0), ("ra_after_recovery", 10.0)):
            tables.score(run, metric, value, numerator=5 * value, denominator=5.0)
    for metric, value in (("tsa", 1.0), ("pq", 10.0), ("ra_after_recovery", 10.0)):
        tables.release(metric, value, release=release, **flags)


def test_small_sample_carries_no_label(tables: Tables) -> None:
    """A T-Score of 10 from four tasks has no label, and the page says what a label takes."""
    _with_axes(tables, 4, flags=["insufficient_sample"])
    report = tables.report()

    for page in (*pages(report), render_json(report)):
        assert not READY.search(page)
    assert "No label: a label takes at least 10 tasks on each axis" in pages(report)[0]
    found = _releases(report)[0]["t_score"]
    assert (found["value"], found["label"], found["label_reason"]) == (
        pytest.approx(10),
        None,
        "insufficient_sample",
    )


def test_label_is_the_one_that_the_sample_carries(tables: Tables) -> None:
    """Twelve perfect tasks carry 7.57, forty 9.12; each with what the article says of it."""
    _with_axes(tables, 12)
    _with_axes(tables, 40, "1.1")
    report = tables.report()
    twelve, forty = (release["t_score"] for release in _releases(report))

    assert (twelve["label"], twelve["label_at_least"]) == ("Supervised Production", True)
    assert twelve["typical_failure"] == "Occasional wrong-tool retries or thin rollback docs"
    assert (forty["label"], forty["label_at_least"]) == ("Production-Ready", False)
    for page in pages(report):
        assert "Supervised Production or better" in page
        assert "Typical failure: Rare; usually edge-case tool configs" in page


def test_one_ladder_on_a_page(tables: Tables) -> None:
    """If any release has a T-Score no tier is shown; without one, no label of the T-Score."""
    _with_axes(tables, 40)
    fill(tables, "1.1", {f"t{i}": (1.0, 1.0, 1.0) for i in range(40)})

    for page in pages(tables.report()):
        assert "Tier" not in page
        assert "Production-ready" not in page


@pytest.mark.parametrize(("literal", "axis"), [(False, "5.0 of 10"), (True, "10.0 of 10")])
def test_axis_in_the_table_is_that_of_the_t_score(
    tables: Tables, axis: str, *, literal: bool
) -> None:
    """By the article's text it leaves missed decision points out, in the card and in the table."""
    run = tables.run()
    tables.scored(run, "a")
    tables.score(run, "tsa", 0.5, numerator=1.0, denominator=2.0)
    tables.score(run, "tsa_source_text", 1.0, numerator=1.0, denominator=1.0)
    tables.release("tsa", 0.5)

    options = ReportOptions(literal=literal)
    (agent,) = agent_views(read_report(tables.con, "lake", options=options))

    (row,) = (row for row in agent.rows if row.metric.name == "tsa_axis")
    assert row.cells[0].value == agent.cards[0].axes[0].value == axis
    assert bool(row.cells[0].counts) == literal


def test_verdicts_that_disagree_are_counted(tables: Tables) -> None:
    """All must say yes; how often they did not agree stands out."""
    for label in ("verdicts_disagree", None):
        run = tables.run()
        tables.scored(run, "a")
        tables.score(run, "success", 0.0, label=label)
    tables.insert("sub_goals", trajectory_id=run, sub_goal="x", verdicts_disagree=True)
    report = tables.report()

    assert "Verdicts disagree on the success of 1 run and 1 sub-goal: all" in as_text(report)
    assert _releases(report)[0]["remarks"]["disputed"] == 1


def test_runs_on_a_page_are_those_that_it_counts(tables: Tables) -> None:
    """Neither superseded runs nor sub-agents' are among the runs, nor is what they used."""
    for _ in range(2):
        run = tables.run(task_id="a", trial=1, tool_call_count=5, input_tokens=10)
        tables.scored(run, "a")
        child = tables.run(parent_trajectory_id=run, tool_call_count=1)
        tables.scored(child, None)
    report = tables.report()

    (release,) = report.releases
    assert (release.runs.runs, release.runs.tool_calls, release.runs.input_tokens) == (1, 6, 10)
    assert "2 runs from lake" in " ".join(render_html(report).split())


def test_runs_beside_a_trials_are_counted_apart_from_killed_ones(tables: Tables) -> None:
    """They are not attempts, and were not killed; their sub-agents' runs go with them."""
    for kill_point in (None, "several_runs", "late"):
        run = tables.run(task_id="a", trial=1, tool_call_count=5, kill_point=kill_point)
        tables.scored(run, "a")
        reason = {"several_runs": "several_runs", "late": "killed_run"}.get(kill_point or "")
        tables.score(run, "success", None if kill_point else 1.0, reason=reason)
        if kill_point == "several_runs":
            child = tables.run(parent_trajectory_id=run, tool_call_count=1)
            tables.scored(child, None)
            tables.score(child, "success", None, reason=reason)
    report = tables.report()

    (release,) = report.releases
    assert (release.runs.runs, release.runs.killed, release.runs.beside) == (1, 1, 1)
    assert release.runs.tool_calls == 5
    assert release.reliability is not None
    assert (release.reliability.attempts, release.reliability.superseded) == (1, 0)
    text = " ".join(as_text(report).split())
    assert "1 killed run apart" in text
    assert "1 second run apart" in text
    page = " ".join(render_html(report).split())
    assert "1 of them killed on purpose, 1 of them sent beside the run of a trial, from" in page


def test_killed_run_is_counted_apart(tables: Tables) -> None:
    """It supersedes no attempt at the same trial, and is in no number of the page but its own."""
    for killed in (False, True):
        run = tables.run(
            task_id="a", trial=1, tool_call_count=5, kill_point="late" * killed or None
        )
        tables.scored(run, "a")
        reason = "killed_run" if killed else None
        tables.score(run, "success", None if killed else 1.0, reason=reason)
    report = tables.report()

    (release,) = report.releases
    assert (release.runs.runs, release.runs.killed, release.runs.tool_calls) == (1, 1, 5)
    assert release.reliability is not None
    assert (release.reliability.attempts, release.reliability.superseded) == (1, 0)
    assert "1 killed run apart" in as_text(report)
    assert "2 runs, 1 of them killed on purpose, from lake" in " ".join(
        render_html(report).split()
    )


def _releases(report: Report) -> list[dict[str, Any]]:
    """Return the releases of a report for programs."""
    found: list[dict[str, Any]] = json.loads(render_json(report))["releases"]
    return found
