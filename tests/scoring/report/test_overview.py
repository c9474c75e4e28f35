"""What a release manager looks at first: T-Score, tiers, failure modes, sub-goal graphs."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scoring.report.build import START, Tables, pages
from tests.scoring.statistics.pcg64 import pcg64
from tests.slow import slow_after

from tracegrade_scoring.pictures.graph import depths, sub_goal_graph
from tracegrade_scoring.rendering.words import DASH
from tracegrade_scoring.report.as_json import render_json
from tracegrade_scoring.report.html import render_html
from tracegrade_scoring.report.model import (
    EVERY_ATTEMPT,
    AttemptPolicy,
    Release,
    Reliability,
    Report,
    ReportOptions,
    SubGoalOutcome,
)
from tracegrade_scoring.report.read import read_report
from tracegrade_scoring.report.texts import render_markdown, render_terminal
from tracegrade_scoring.sql import QUERIES
from tracegrade_scoring.statistics.intervals import percentile
from tracegrade_scoring.statistics.t_score import label_of


def worked_example(tables: Tables, late: float = 5.0) -> Release:
    """Insert the article's worked example, one run and three kills, and return its release."""
    run = tables.run(task_id="files")
    tables.scored(run, "files")
    tables.score(run, "tsa", 0.75, numerator=9.0, denominator=12.0)
    tables.score(run, "pq", 4.375, numerator=4.375, denominator=1.0)
    tables.score(run, "pq_strict", 3.75, numerator=3.75, denominator=1.0)
    ra = (10 + 7 + late) / 3
    tables.score(run, "ra_after_recovery", ra, numerator=ra, denominator=1.0)
    tables.score(run, "late_ra", late, numerator=late, denominator=1.0)
    for metric in ("tsa", "pq", "ra_after_recovery"):
        tables.release(metric, 1.0, numerator=1.0, denominator=1.0)
    (release,) = tables.report().releases
    return release


def test_worked_example_gives_the_published_score(tables: Tables) -> None:
    """TSA 7.5, PQ 3.75 strict, RA 22/3: 5.60 [Triangle]; one task carries no label."""
    release = worked_example(tables)
    document = json.loads(render_json(tables.report()))["releases"][0]["t_score"]

    assert release.axes.tsa == 7.5
    assert release.axes.ra == pytest.approx(22 / 3)
    assert document["strict"]["value"] == pytest.approx(5.600, abs=5e-4)
    assert label_of(document["strict"]["value"]) == "Staging-Only"
    assert document["label"] is None
    assert document["value"] == pytest.approx(3 / (1.2 / 7.5 + 1 / 4.375 + 0.8 * 3 / 22))
    assert document["tasks"][0]["t_score"] == document["value"]


def test_every_page_shows_the_score_and_warns_of_a_late_kill_first(tables: Tables) -> None:
    """The lowest late recovery under 7 comes before any other finding."""
    worked_example(tables)
    report = tables.report()

    for text in (
        render_terminal(report, width=300, color=False),
        render_markdown(report).replace("\\", ""),
        render_html(report),
    ):
        assert "No label" in text
        assert "7.5 of 10" in text
        assert "fter a late kill, files recovers only to 5.0 of 10: fix this before" in text


def test_means_are_over_tasks_and_decisions_are_pooled(tables: Tables) -> None:
    """Two runs of one task weigh as much as one of another; a run of no task is a unit too."""
    runs = (("a", 2.0, 1.0), ("a", 4.0, 1.0), ("b", 9.0, 8.0), (None, 6.0, 0.0))
    for task, quality, right in runs:
        run = tables.run(task_id=task)
        tables.scored(run, task)
        tables.score(run, "pq", quality)
        tables.score(run, "tsa", right / 10, numerator=right, denominator=10.0)
    (release,) = tables.report().releases

    assert release.axes.pq == (3 + 9 + 6) / 3
    assert release.axes.tsa == 10 * 10 / 40
    assert release.t_score.value is None
    assert release.t_score.flags == ("missing_ra",)


def six_tasks(tables: Tables) -> list[tuple[float, float, float, float]]:
    """Insert a run of each of six tasks; return correct and made picks, PQ and RA."""
    facts = [(float(4 + i % 3), 8.0, 4.0 + i, 10.0 - i) for i in range(6)]
    for place, (right, made, quality, rollback) in enumerate(facts):
        task = f"t{place}"
        run = tables.run(task_id=task)
        tables.scored(run, task)
        tables.score(run, "tsa", right / 10, numerator=right, denominator=10.0)
        tables.score(run, "tsa_source_text", right / made, numerator=right, denominator=made)
        tables.score(run, "pq", quality)
        tables.score(run, "pq_strict", quality / 2)
        tables.score(run, "ra_after_recovery", rollback)
    return facts


@pytest.mark.parametrize("literal", slow_after(1, [False, True]))
def test_t_score_has_the_interval_of_resampled_tasks(tables: Tables, literal: bool) -> None:
    """Each draw of six tasks makes three axes and one T-Score, by hand as by the report."""
    facts = six_tasks(tables)
    options = ReportOptions(level=0.9, literal=literal)
    report = read_report(tables.con, "lake", EVERY_ATTEMPT, options)
    (release,) = report.releases
    outputs, drawn = pcg64(0), []
    for _ in range(2_000):
        tasks = [facts[next(outputs) % 6] for _ in range(6)]
        points = sum(made if literal else 10.0 for _, made, _, _ in tasks)
        tsa = 10 * sum(right for right, *_ in tasks) / points
        pq, ra = (sum(task[axis] for task in tasks) / 6 for axis in (2, 3))
        pq /= 2 if literal else 1
        drawn.append(3 / (1.2 / tsa + 1 / pq + 0.8 / ra))
    drawn.sort()

    assert release.t_score_interval is not None
    low, high, method = release.t_score_interval
    assert (low, high) == pytest.approx((percentile(drawn, 0.05), percentile(drawn, 0.95)))
    assert method == "bootstrap"
    document = json.loads(render_json(report))
    assert document["level"] == 0.9
    assert document["releases"][0]["t_score"]["low"] == low
    for text in (render_terminal(report, width=300, color=False), render_html(report)):
        assert "90% interval" in text
        assert ("own formula" in text) == literal


def test_article_formula_leaves_the_scale_for_its_own_presets(tables: Tables) -> None:
    """A perfect agent gets 6.82 with those for infrastructure; missed points do not count."""
    run = tables.run(task_id="a")
    tables.scored(run, "a")
    tables.score(run, "tsa", 0.5, numerator=5.0, denominator=10.0)
    tables.score(run, "tsa_source_text", 1.0, numerator=5.0, denominator=5.0)
    tables.score(run, "pq", 5.0)
    tables.score(run, "pq_strict", 10.0)
    tables.score(run, "ra_after_recovery", 10.0)
    report = read_report(tables.con, "lake", EVERY_ATTEMPT, ReportOptions(literal=True))
    found = json.loads(render_json(report))["releases"][0]["t_score"]

    assert found["value"] == 10.0
    assert found["presets"]["infrastructure"] == pytest.approx(6.82, abs=5e-3)


@pytest.mark.parametrize(("errors", "quality"), [(0, 10.0), (1, None)])
def test_plan_that_no_task_asks_for_counts_as_10(
    tables: Tables, errors: int, quality: float | None
) -> None:
    """But not where it could not be measured."""
    tables.scored(tables.run(), "a")
    tables.release("pq", None, error=errors)
    (release,) = tables.report().releases

    assert release.axes.pq == quality


def test_default_alone_is_no_measurement(tables: Tables) -> None:
    """Where no axis was measured, none of them makes a score of the others."""
    run = tables.run(task_id="a")
    tables.scored(run, "a")
    tables.score(run, "success", 1.0)
    tables.release("pq", None)

    text = render_terminal(tables.report(), width=300, color=False)

    assert "No T-Score: not measured: tool selection, rollback-ability" in text
    assert "only:" not in text


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (("no_plan", "no_plan"), "0 by definition: no plan in 2 runs"),
        (("no_plan", None), "0 by definition: no plan in 1 of 2 runs"),
        ((None, None), None),
    ],
)
def test_quality_of_no_plan_is_explained(
    tables: Tables, labels: tuple[str | None, ...], said: str | None
) -> None:
    """A 0 for want of a plan reads differently from a 0 for a bad one."""
    for label in labels:
        run = tables.run(task_id="a")
        tables.scored(run, "a")
        tables.score(run, "pq", 0.0, label=label)
        tables.score(run, "tsa", 1.0, numerator=1.0, denominator=1.0)
    tables.release("pq", 0.0, scored=2, trajectories=2)

    for page in pages(tables.report()):
        assert ("by definition" in page) == (said is not None)
        assert said is None or said in page


def test_runs_without_planning_quality_are_counted_with_their_reasons(tables: Tables) -> None:
    """In every form of the report; sub-agents' and killed runs are none of them."""
    scores: list[dict[str, Any]] = [
        {"value": None, "reason": "plan_unreadable"},
        {"value": None, "reason": "plan_unreadable"},
        {"value": None, "reason": "two_steps"},
        {"value": 7.5, "source": "judge"},
        {"value": 5.0, "source": "verifier"},
        {"value": None, "reason": "killed_run"},
    ]
    for said in scores:
        run = tables.run(task_id="a")
        tables.scored(run, "a")
        tables.score(run, "pq", **said)
        tables.score(run, "tsa", 1.0, numerator=1.0, denominator=1.0)
    tables.release("tsa", 1.0, scored=5, trajectories=5)
    tables.release("pq", 6.25, scored=2, trajectories=5)

    for page in pages(tables.report()):
        assert "No planning quality in 3 of 5 runs: a plan is written in prose" in page
        assert "without a list (2); a task of two steps" in page
        assert "people or verifiers in 1 run and of judges in 1 run" in page


def test_failure_modes_have_rate_and_evidence(tables: Tables) -> None:
    """Runs that show each, how many of them failed, and the first step that shows it."""
    for place in range(3):
        run = tables.run()
        tables.scored(run, None)
        mode = "unclassified" if place == 2 else "loop_trap"
        tables.insert("failures", trajectory_id=run, mode=mode, release="1.0", success=place == 0,
                      step_index=7, span_id="s", detail="look 3 times")  # fmt: skip
    tables.release("loop_trap", 2 / 3, numerator=2.0, denominator=3.0)
    (release,) = tables.report().releases

    assert [(row.mode, row.runs, row.failed_runs) for row in release.failure_modes] == [
        ("loop_trap", 2, 1),
        ("unclassified", 1, 1),
    ]
    page = render_html(tables.report())
    assert "66.7%" in page
    assert "run t1, step 7" in page


def test_failed_runs_are_grouped_by_reason(tables: Tables) -> None:
    """Each failed run once, under its first reason; what is unexplained comes last."""
    reasons = [("unexplained", None), ("unexplained", None), ("never_called", "pay")]
    for kind, what in reasons:
        run = tables.run()
        tables.scored(run, None)
        for rank, named in ((1, kind), (2, "loop")):
            tables.insert("run_reasons", trajectory_id=run, rank_in_run=rank, kind=named,
                          object=what, sentence=f"\x1b<b>{kind}", release="1.0", success=False,
                          key="k", step_index=7, step_trajectory_id=run)  # fmt: skip
    report = tables.report()

    assert [(row.kind, row.object, row.runs) for row in report.releases[0].reasons] == [
        ("unexplained", None, 2),
        ("never_called", "pay", 1),
    ]
    for page in pages(report):
        assert "1 of 3 failed" in page
        assert page.index("never called pay") < page.index("no step shows why")
        assert "\x1b" not in page
    assert "<b>" not in render_html(report)


def test_tier_and_pass_curves_stand_beside_each_other(tables: Tables) -> None:
    """Six tasks of three successes are too few for a tier; the other estimators are apart."""
    for task in "abcdef":
        for trial in range(3):
            run = tables.run(task_id=task, trial=trial)
            tables.scored(run, task)
            tables.score(run, "success", 1.0, numerator=1.0, denominator=1.0)
    report = tables.report()
    document = json.loads(render_json(report))["releases"][0]

    assert document["tiers"][0]["reason"] == "insufficient_sample"
    assert [row["k"] for row in document["pass"]] == [1, 2, 3]
    assert {row["estimator"] for row in document["pass"]} == {"unbiased"}
    assert "pooled" in {row["estimator"] for row in document["pass_other_estimators"]}
    assert "pass@k and pass^k by k for each release, with 95% bands" in render_html(report)


def test_attempts_are_counted_as_asked(tables: Tables) -> None:
    """Tasks of few attempts are dropped and counted; unknown success is left out or a failure."""
    for task, category, outcomes in (("a", "x", (1, 1, None)), ("b", "y", (1,))):
        for trial, success in enumerate(outcomes):
            run = tables.run(task_id=task, trial=trial)
            tables.scored(run, task)
            tables.score(run, "success", success, reason="success_unknown")
            tables.con.execute(
                "UPDATE trajectory_scores SET task_category = $name WHERE trajectory_id = $run",
                {"name": category, "run": run},
            )

    def cohort(counting: AttemptPolicy) -> Reliability:
        (release,) = read_report(tables.con, "lake", counting).releases
        assert release.reliability is not None
        return release.reliability

    assert [row.pass_at_k for row in cohort(EVERY_ATTEMPT).passes] == [1.0]
    assert [name for name, _ in cohort(EVERY_ATTEMPT).categories] == ["x", "y"]
    assert cohort(AttemptPolicy(min_trials=2)).dropped == 1
    assert [row.k for row in cohort(AttemptPolicy(min_trials=2)).passes] == [1, 2]
    strict = cohort(AttemptPolicy(missing="as-failure", trials=3)).passes
    assert strict[0].pass_at_k == pytest.approx((2 / 3 + 1 / 3) / 2)


def goal(name: str, *deps: str, completed: int = 1, critical: bool = False) -> SubGoalOutcome:
    """Return a sub-goal of two attempts, skipped where it was not completed."""
    return SubGoalOutcome("task", name, critical, deps, 2, completed, completed, 0, 0, None)


def test_graph_draws_each_sub_goal_and_dependency_once() -> None:
    """A diamond has four boxes and four lines; unknown prerequisites are left out."""
    drawing = sub_goal_graph(
        [goal("a"), goal("b", "a"), goal("c", "a", "gone"), goal("d", "b", "c")]
    )

    assert drawing.count("<path") == 4
    assert [drawing.count(f">{name}</text>") for name in "abcd"] == [1, 1, 1, 1]


def test_skipped_critical_sub_goal_is_red() -> None:
    """Its edge and its count are in the color of what is bad, and its name is shown."""
    calm = sub_goal_graph([goal("a", critical=True, completed=2), goal("b", "a")])
    alarm = sub_goal_graph([goal("a", critical=True, completed=1), goal("b", "a")])

    assert 'stroke="var(--bad)"' not in calm
    assert 'stroke="var(--bad)"' in alarm
    assert "critical ones skipped: a" in alarm


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from("abcdefg"), st.lists(st.sampled_from("abcdefgh"))))
def test_depth_never_loops_and_stands_after_its_prerequisites(
    deps: dict[str, list[str]],
) -> None:
    """Whatever depends on what; without a cycle each stands right of all it needs."""
    found = depths(deps)
    forward = {name: [d for d in needs if d in deps and d < name] for name, needs in deps.items()}
    acyclic = depths(forward)

    assert found.keys() == deps.keys()
    assert all(0 <= depth < len(deps) for depth in found.values())
    assert all(acyclic[d] < acyclic[name] for name, needs in forward.items() for d in needs)


def test_every_source_that_a_page_names_is_a_query(sample_report: Report) -> None:
    """`From …` names queries that `tracegrade sql --saved` runs."""
    named = re.findall(r"<p class=\"source\">(.*?)</p>", render_html(sample_report))
    names = {name for line in named for name in re.findall(r"<code>(.*?)</code>", line)}

    assert len(names) > 5
    assert names <= QUERIES.paths.keys()


def test_fewest_steps_that_were_seen_count_as_needed(tables: Tables) -> None:
    """With three successes of a task and no annotation, the shortest is the optimum, unstored."""
    for steps in (4.0, 5.0, 10.0):
        run = tables.run(task_id="a")
        tables.scored(run, "a")
        tables.con.execute("UPDATE trajectory_scores SET sample_weight = 1")
        tables.score(run, "success", 1.0, numerator=1.0, denominator=1.0)
        tables.score(run, "actual_steps", steps, numerator=steps, denominator=1.0)
        tables.score(run, "step_efficiency", None, reason="no_optimum")
    tables.release("step_efficiency", None, not_applicable=3, trajectories=3)
    (release,) = tables.report().releases

    score = release.metrics["step_efficiency"]
    assert score.value == pytest.approx(12 / 19)
    assert (score.scored, score.not_applicable, score.low) == (3, 0, None)


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    slow_after(
        3,
        [
            (1.0, 1.0, "all tasks alike: no interval"),
            (0.9, 1.0, "90-100%"),
            (0.0004, 0.2, "0.04-20.00%"),
            (0.0, 0.0, "all tasks alike: no interval"),
            (0.998, 1.0, "99.8-100.0%"),
            (0.89, 0.9985, "89.0-99.9%"),
            (0.99999, 1.0, "99.999-100.000%"),
        ],
    ),
)
def test_interval_is_never_two_equal_numbers(
    tables: Tables, low: float, high: float, shown: str
) -> None:
    """Without width there is no interval, which is explained; else its ends are distinct."""
    run = tables.run(task_id="a")
    tables.scored(run, "a")
    tables.release("tsa", 1.0, low=low, high=high, numerator=6.0, denominator=6.0)
    report = tables.report()
    text = render_terminal(report, width=100, color=False)

    assert f"100.0%  {shown.replace('-', DASH)}" in text
    assert ("its uncertainty cannot be estimated" in " ".join(text.split())) == (low == high)
    flags = json.loads(render_json(report))["releases"][0]["metrics"]["tsa"]["flags"]
    assert ("no_spread" in flags) == (low == high)


def test_failure_mode_has_its_run_on_one_line_at_80_columns(tables: Tables) -> None:
    """The run can be copied, and what it shows stands below it."""
    run = tables.run(task_id="a")
    tables.scored(run, "a")
    tables.release("loop_trap", 1.0, numerator=1.0, denominator=1.0)
    tables.insert(
        "failures", trajectory_id=run, mode="loop_trap", step_index=4, release="1.0",
        detail="read_csv 3 times with the same arguments and result",
    )  # fmt: skip
    lines = render_terminal(tables.report(), width=80, color=False).splitlines()
    (place,) = (n for n, line in enumerate(lines) if line.startswith("1.0  100.0%  loop trap"))

    assert lines[place].endswith(f"first {run}, step 4")
    assert lines[place + 1].strip() == "read_csv 3 times with the same arguments and result"


@pytest.mark.parametrize(
    ("years", "said"),
    [
        ((2000, 2000), "times not known"),
        ((2000, 2026), "1 November 2026, 09:00 UTC, and 1 run without a known time"),
        ((2026, 2026), "1 November 2026, 09:00 UTC.\n"),
    ],
)
def test_times_that_an_import_made_up_are_not_shown(
    tables: Tables, years: tuple[int, int], said: str
) -> None:
    """A page says when its runs were, or that this is unknown, and never the year 2000."""
    for year in years:
        tables.run(start_time=START.replace(year=year))
    page = render_html(tables.report())

    assert said in page
    assert "2000" not in page[page.index("<body>") : page.index("<section")]


def test_plot_of_many_tasks_says_how_many_it_leaves_out(tables: Tables) -> None:
    """The worst of them are those that went wrong everywhere, not the first by name."""
    for release in ("1.0", "1.1"):
        for place in range(27):
            run = tables.run(release, task_id=f"t{place:02}")
            tables.scored(run, f"t{place:02}")
            right = float(release == "1.1" and place < 26)
            tables.score(run, "tsa", right, numerator=right, denominator=1.0)
    page = render_html(tables.report())

    assert "Tool-selection accuracy of the 25 worst of 27 tasks." in page
    assert page.index(">t26<") < page.index(">t00<")
