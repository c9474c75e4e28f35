"""What changed between two releases: over which runs, by how much, and how sure that is."""

import json
from pathlib import Path

import pytest
from tests.headers import bare, columns_of, header, parameters_used, relations_read
from tests.scoring.report.build import Tables

from tracegrade_scoring.compare.as_json import render_json
from tracegrade_scoring.compare.attempts import KNOWN_ALONE, AttemptCounting, DeclaredTask
from tracegrade_scoring.compare.fail_on_rules import parse_rules
from tracegrade_scoring.compare.mocked import read_mocked_calls
from tracegrade_scoring.compare.model import Comparison
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.rule_outcomes import apply_rules
from tracegrade_scoring.compare.texts import render_markdown, render_terminal
from tracegrade_scoring.compare.view import cohort_view
from tracegrade_scoring.errors import NothingToCompare
from tracegrade_scoring.sql import QUERIES

COMPARING = [
    path for path in QUERIES.paths.values() if path.parts[-3:-1] == ("compare", "queries")
]


@pytest.mark.usefixtures("found")
@pytest.mark.parametrize("path", COMPARING, ids=lambda path: path.stem)
def test_header_is_true(compared: Tables, path: Path) -> None:
    """It names the columns with their types, the parameters that are used, and what is read."""
    sql = path.read_text()
    said, used = header(sql), parameters_used(sql)
    known = {"base": "1.0", "candidate": "1.1", "means": ["pq"], "compared": ["arm"], "least": 0.1}
    given = {name[1:]: known[name[1:]] for name in used}
    result = compared.con.sql(bare(sql), params=given or None)

    assert said.columns == columns_of(result)
    assert said.parameters == used
    assert said.reads == relations_read(sql)


def test_only_tasks_that_both_ran_are_compared(files: Comparison) -> None:
    """Six tasks are; one of either side and a run of no task are counted and left out."""
    cohort = files.cohort

    assert (cohort.tasks, cohort.base_only_tasks, cohort.candidate_only_tasks) == (6, 1, 1)
    assert (cohort.base_runs, cohort.candidate_runs, cohort.candidate_runs_of_no_task) == (
        *(13, 14, 1),
    )
    assert files.metrics["tsa"].found.tasks == 6


def test_rates_are_pooled_over_the_tasks(files: Comparison) -> None:
    """Σ numerators / Σ denominators on either side: 90 and 104 of 120 first picks."""
    tsa = files.metrics["tsa"].found

    assert (tsa.base, tsa.candidate) == (90 / 120, 104 / 120)
    assert tsa.difference == pytest.approx(14 / 120)
    assert tsa.low is not None
    assert 0 < tsa.low < 14 / 120


def test_success_counts_attempts(files: Comparison) -> None:
    """8 of 12 attempts before, 9 of 12 after."""
    success = files.metrics["success"].found

    assert (success.base, success.candidate) == (8 / 12, 9 / 12)
    assert success.p_method == "sign_flips"


def test_reliability_is_the_mean_of_tasks(files: Comparison) -> None:
    """pass^2: 3 of 6 tasks succeed twice before, 4 after; pass@2: 5 and 5 at least once."""
    assert (files.metrics["pass^2"].found.base, files.metrics["pass^2"].found.candidate) == (
        *(3 / 6, 4 / 6),
    )
    assert (files.metrics["pass@2"].found.base, files.metrics["pass@2"].found.candidate) == (
        *(5 / 6, 5 / 6),
    )


def test_pass_at_4_is_enough_for_a_first_look(tables: Tables) -> None:
    """Six attempts: up to k = 4 before all else, the rest after it; programs get all of them."""
    for release, gain in (("1", 0), ("2", 1)):
        for place in range(12):
            run_id = tables.run(release, task_id=f"t{place % 2}", trial=place // 2)
            tables.scored(run_id, f"t{place % 2}")
            success = float(place // 2 < 2 + gain + place % 2)
            tables.score(run_id, "success", success, numerator=success, denominator=1.0)
    found = read_comparisons(tables.con, "lake", "1", "2")
    view = cohort_view(found.cohorts[0], found)

    passes = [f"pass{kind}{k}" for k in range(2, 7) for kind in "@^"]
    assert [row.label for row in view.rows if row.label.startswith("pass")] == passes[:6]
    assert [row.label for row in view.more_rows] == passes[6:]
    assert set(passes) < set(found.cohorts[0].metrics)


def test_counts_are_of_the_tasks_that_a_metric_is_over(tables: Tables) -> None:
    """A task without a value on one side is in neither the value nor the runs behind it."""
    failures = {"1": {"a": (3, 4), "b": (1, 1), "c": (0, 0)}, "2": {"a": (1, 2), "b": (0, 0)}}
    failures["2"]["c"] = (0, 1)
    for release, tasks in failures.items():
        for task, (answered, failed) in tasks.items():
            for trial in range(2):
                run_id = tables.run(release, task_id=task, trial=trial)
                tables.scored(run_id, task)
                tables.score(run_id, "success", 1.0, numerator=1.0, denominator=1.0)
                if failed:
                    tables.score(run_id, "replan_given_failure", answered / failed,
                                 numerator=float(answered), denominator=float(failed))  # fmt: skip
    found = read_comparisons(tables.con, "lake", "1", "2")

    (cohort,) = found.cohorts
    replanned = cohort.metrics["replan_given_failure"]
    assert (replanned.found.base, replanned.found.candidate) == (0.75, 0.5)
    assert (replanned.found.tasks, replanned.base_runs, replanned.candidate_runs) == (1, 2, 2)
    rows = {row.label: row.basis for row in cohort_view(cohort, found).rows}
    assert rows["Replanned after a failure"] == "1 of 3 tasks, 2 and 2 runs"
    assert rows["Success"] == "3 tasks, 6 and 6 attempts"


def test_release_that_crashes_more_does_not_compare_better(tables: Tables) -> None:
    """With missing attempts as failures, what a crash left out counts, whole tasks included."""
    steady = {"a": (1.0, 1.0, 1.0), "b": (1.0, 0.0, 0.0), "c": (0.0, 0.0, 0.0)}
    crashing = {"a": (1.0, 1.0, 1.0), "b": (1.0, None)}
    for release, tasks in (("1", steady), ("2", crashing)):
        for task, outcomes in tasks.items():
            for trial, outcome in enumerate(outcomes):
                run_id = tables.run(release, task_id=task, trial=trial)
                tables.scored(run_id, task)
                tables.score(
                    run_id, "success", outcome, numerator=outcome, denominator=outcome and 1.0
                )

    def success(counting: AttemptCounting) -> tuple[float | None, float | None]:
        (cohort,) = read_comparisons(tables.con, "lake", "1", "2", counting=counting).cohorts
        return cohort.metrics["success"].found[:2]

    assert success(KNOWN_ALONE) == (4 / 6, 4 / 4)
    assert success(AttemptCounting("as-failure")) == (4 / 6, 4 / 5)
    assert success(AttemptCounting("as-failure", 3)) == (4 / 9, 4 / 9)
    declared = [DeclaredTask("d", None, None), DeclaredTask("e", "another", None)]
    assert success(AttemptCounting("as-failure", 3, declared)) == (4 / 12, 4 / 12)
    assert success(AttemptCounting("as-failure", 0, declared)) == (4 / 6, 4 / 5)
    old = tables.run("0", task_id="f", trial=0)
    tables.scored(old, "f")
    tables.score(old, "success", 1.0, numerator=1.0, denominator=1.0)
    assert success(KNOWN_ALONE) == (4 / 6, 4 / 4)
    assert success(AttemptCounting("as-failure", 3, declared)) == (4 / 15, 4 / 15)
    found = read_comparisons(
        tables.con, "lake", "1", "2", counting=AttemptCounting("as-failure", 4, declared[1:])
    )
    (cohort,) = found.cohorts
    assert cohort.missing_attempts == (7, 12)
    page = render_terminal(apply_rules(found, []), width=300, color=False)
    assert "count as failures in success, pass@k and pass^k: 7 (1) and 12 (2)." in page


def test_what_a_number_does_not_tell_is_said(tables: Tables) -> None:
    """Zeros of runs without a plan, and successes on which verdicts disagree, of both sides."""
    for release, labels in (("1", ("no_plan", None)), ("2", ("no_plan", "no_plan"))):
        for trial, label in enumerate(labels):
            run_id = tables.run(release, task_id="a", trial=trial)
            tables.scored(run_id, "a")
            tables.score(run_id, "pq", 0.0, label=label)
            disputed = "verdicts_disagree" if release == "2" and trial else None
            tables.score(run_id, "success", 0.0, numerator=0.0, denominator=1.0, label=disputed)
    found = read_comparisons(tables.con, "lake", "1", "2")

    page = render_terminal(apply_rules(found, []), width=300, color=False)
    assert "0 by definition of runs that show no plan: 1 (1) and 2 (2)." in page
    assert "Verdicts disagree on the success of runs, and all must say yes: 0 (1) and 1" in page


def test_runs_without_planning_quality_are_said_of_both_sides(tables: Tables) -> None:
    """How many of how many, and why; and whose verdicts that of others rests on."""
    given = {
        "1": ({"reason": "plan_unreadable"}, {"source": "verifier"}),
        "2": ({"reason": "plan_unreadable"}, {"reason": "not_judged: scope_control"}),
    }
    for release, scores in given.items():
        for trial, said in enumerate(scores):
            run_id = tables.run(release, task_id="a", trial=trial)
            tables.scored(run_id, "a")
            value = None if "reason" in said else 5.0
            tables.score(run_id, "pq", value, **said)
            tables.score(run_id, "success", 1.0, numerator=1.0, denominator=1.0)
    found = read_comparisons(tables.con, "lake", "1", "2")

    page = render_terminal(apply_rules(found, []), width=400, color=False)
    assert "1: No planning quality in 1 of 2 runs: a plan is written in prose" in page
    assert "1: Planning quality rests on verdicts of people or verifiers in 1 run." in page
    assert "2: No planning quality in 2 of 2 runs: a person or a judge has to decide" in page


def test_pass_rates_are_of_the_tasks_that_tiers_go_by(tables: Tables) -> None:
    """Tasks with fewer than three attempts on a side are in success alone, as rows say."""
    for release, right in (("1", 0), ("2", 1)):
        for task, trials in (("a", 3), ("b", 3), ("c", 1)):
            for trial in range(trials):
                run_id = tables.run(release, task_id=task, trial=trial)
                tables.scored(run_id, task)
                success = float(task != "b" or right)
                tables.score(run_id, "success", success, numerator=success, denominator=1.0)
    found = read_comparisons(tables.con, "lake", "1", "2")

    (cohort,) = found.cohorts
    assert cohort.metrics["success"].found.base == 4 / 7
    assert [cohort.metrics[f"pass@{k}"].found.base for k in (1, 2, 3)] == [0.5] * 3
    rows = {row.label: row.basis for row in cohort_view(cohort, found).rows}
    assert rows["Success"] == "3 tasks, 7 and 7 attempts"
    assert rows["pass@1"] == rows["pass^3"] == "2 of 3 tasks, 6 and 6 attempts"


def test_new_failure_mode_is_named_with_its_run(files: Comparison) -> None:
    """A mode that the base never showed, with the first run and span of the candidate."""
    (mode,) = files.failure_modes

    assert (mode.mode, mode.is_new, mode.rose) == ("loop_trap", True, True)
    assert mode.compared.found.candidate == 2 / 12
    assert mode.span_id == f"s{mode.trajectory_id}"


def untold(tables: Tables, release: str, outcomes: str, mode: str | None = None) -> None:
    """Insert a run without a task for each outcome: 1, 0 or - for unknown."""
    for outcome in outcomes:
        run_id = tables.run(release, run_mode=mode, step_count=10)
        tables.scored(run_id, None)
        value = None if outcome == "-" else float(outcome)
        facts = {} if value is None else {"numerator": value, "denominator": 1.0}
        tables.score(run_id, "success", value, **facts)
        tables.score(run_id, "loop_trap", 0.0, numerator=0.0, denominator=1.0)
        points = {"numerator": 2.0 + float(outcome == "1"), "denominator": 4.0}
        tables.score(run_id, "parameter_validity", points["numerator"] / 4, **points)


def test_runs_of_no_task_are_compared_unpaired(tables: Tables) -> None:
    """Shares by Newcombe's interval, ratios by the delta method, and every page says so."""
    untold(tables, "1", "1" * 12 + "0" * 12 + "-")
    untold(tables, "2", "1" * 23 + "0")
    found = read_comparisons(tables.con, "lake", "1", "2")
    (comparison,) = found.cohorts
    success, valid = (comparison.metrics[m] for m in ("success", "parameter_validity"))

    assert (success.found.base, success.found.candidate) == (12 / 24, 23 / 24)
    assert (success.base_scored, success.base_runs, success.flags) == (24, 25, ("unpaired",))
    assert success.found.interval_method == "newcombe"
    assert success.direction == 1
    assert valid.found.interval_method == "delta"
    assert valid.found.difference == pytest.approx((2 * 24 + 23) / 96 - (2 * 25 + 12) / 100)
    text = render_terminal(apply_rules(found, []), width=200, color=False)
    assert "No task is known that both ran, so runs are not paired" in text
    assert "Scores of 25 and 24 runs without a task, not paired" in text
    outcomes = apply_rules(found, parse_rules(["success.low<0", "tsa<0"])).outcomes[0]
    assert [each.verdict for each in outcomes] == ["held", "unjudged"]


def test_t_score_needs_no_pairs(tables: Tables) -> None:
    """Pooled picks, mean rollback-ability, planning by default; else the page says why not."""
    for release, gain in (("1", 0.0), ("2", 1.0)):
        for place in range(6):
            run_id = tables.run(release)
            tables.scored(run_id, None)
            right = 2.0 + gain + place % 2
            tables.score(run_id, "tsa", right / 4, numerator=right, denominator=4.0)
            tables.score(run_id, "ra_after_recovery", 6.0 + gain + place % 3)
            tables.score(run_id, "pq", None, reason="no_required_steps")
    found = read_comparisons(tables.con, "lake", "1", "2")
    (comparison,) = found.cohorts
    compared = comparison.metrics["t_score"]

    assert compared.found.base == pytest.approx(3 / (1.2 / 6.25 + 1.0 / 10 + 0.8 / 7))
    assert compared.found.candidate == pytest.approx(3 / (1.2 / 8.75 + 1.0 / 10 + 0.8 / 8))
    assert compared.found.interval_method == "delta"
    assert compared.direction == 1
    text = render_terminal(apply_rules(found, []), width=200, color=False)
    assert "planning quality counts as 10 in the T-Score" in text
    tables.con.execute("UPDATE trajectory_scores SET ra_after_recovery = NULL")
    without = read_comparisons(tables.con, "lake", "1", "2")
    assert "t_score" not in without.cohorts[0].metrics
    page = render_terminal(apply_rules(without, []), width=200, color=False)
    assert "No T-Score: not measured in both releases: rollback-ability." in page


@pytest.mark.parametrize(
    ("status", "score"), [("not_applicable", 3 / (0.2 + 0.1 + 0.125)), ("error", None)]
)
def test_planning_that_no_task_asks_for_counts_as_10_in_pairs_too(
    tables: Tables, status: str, score: float | None
) -> None:
    """As in a report; not where a run's planning could not be measured."""
    for release in ("1", "2"):
        run_id = tables.run(release, task_id="a")
        tables.scored(run_id, "a")
        tables.score(run_id, "tsa", 0.6, numerator=6.0, denominator=10.0)
        tables.score(run_id, "ra_after_recovery", 6.4)
        tables.score(run_id, "pq", None, status=status)
    (comparison,) = read_comparisons(tables.con, "lake", "1", "2").cohorts

    compared = comparison.metrics.get("t_score")
    assert (compared and compared.found.base) == (score and pytest.approx(score))
    assert comparison.missing_axes == (() if score else ("pq",))


def test_conversation_is_one_attempt_without_pairs_too(tables: Tables) -> None:
    """It succeeded if each turn did; what one turn does not say is not known of it."""
    for release in ("1", "2"):
        for turns in ((1.0, 1.0), (1.0, 0.0), (1.0, None)):
            for turn in turns:
                run_id = tables.run(release, conversation_id=f"{release}{turns}")
                tables.scored(run_id, None)
                facts = {} if turn is None else {"numerator": turn, "denominator": 1.0}
                tables.score(run_id, "success", turn, **facts)
    (comparison,) = read_comparisons(tables.con, "lake", "1", "2").cohorts

    assert comparison.metrics["success"].found.base == 1 / 2
    assert comparison.metrics["success"].found.low is None


def test_superseded_run_is_counted_and_nothing_else(tables: Tables) -> None:
    """Only the later of two runs of a trial has scores and costs in a comparison."""
    for release, outcomes in (("1", (0.0, 1.0)), ("2", (1.0,))):
        for steps, outcome in enumerate(outcomes, start=1):
            run_id = tables.run(release, task_id="a", trial=1, step_count=10 * steps)
            tables.scored(run_id, "a")
            tables.score(run_id, "loop_trap", outcome, numerator=outcome, denominator=1.0)
            tables.score(run_id, "success", outcome, numerator=outcome, denominator=1.0)
    found = read_comparisons(tables.con, "lake", "1", "2")
    (comparison,) = found.cohorts

    assert (comparison.cohort.base_runs, comparison.cohort.base_superseded) == (1, 1)
    metrics = ("success", "loop_trap", "steps_per_run")
    assert [comparison.metrics[name].found.base for name in metrics] == [1, 1, 20]
    assert "same trial, 1 (1) and 0 (2)" in render_markdown(apply_rules(found, [])).replace(
        "\\", ""
    )


def test_run_that_waits_is_no_attempt_of_a_comparison(tables: Tables) -> None:
    """Nobody knows how it ends: it is a run, neither replaced nor in any rate of success."""
    for release in ("1", "2"):
        for outcome in (1.0, None):
            run_id = tables.run(release, task_id="a", trial=1, interrupted=outcome is None)
            tables.scored(run_id, "a")
            tables.score(run_id, "success", outcome, numerator=outcome, denominator=1.0)
    (comparison,) = read_comparisons(tables.con, "lake", "1", "2").cohorts

    assert (comparison.cohort.base_runs, comparison.cohort.base_superseded) == (2, 0)
    success = comparison.metrics["success"].found
    assert (success.base, success.candidate) == (1, 1)


def test_optimum_is_observed_over_the_compared_releases_alone(tables: Tables) -> None:
    """A run of a third release that needed fewer steps says nothing here."""
    for release, steps in (("1", 4), ("1", 8), ("2", 4), ("2", 4), ("3", 1), ("3", 1), ("3", 1)):
        run_id = tables.run(release, task_id="a")
        tables.scored(run_id, "a")
        tables.score(run_id, "success", 1.0, numerator=1.0, denominator=1.0)
        tables.score(run_id, "actual_steps", float(steps), numerator=float(steps))
        tables.score(run_id, "step_efficiency", None, reason="no_optimum")
    (comparison,) = read_comparisons(tables.con, "lake", "1", "2").cohorts
    found = comparison.metrics["step_efficiency"].found

    assert (found.base, found.candidate) == (8 / 12, 1.0)


@pytest.mark.parametrize("level", [0.8, 0.99])
def test_level_of_intervals_is_as_asked(compared: Tables, level: float) -> None:
    """A higher level, a wider interval; headings and JSON name it."""
    found = read_comparisons(compared.con, "lake", "1.0", "1.1", level=level)
    usual = read_comparisons(compared.con, "lake", "1.0", "1.1")
    ours, theirs = (each.cohorts[0].metrics["tsa"].found for each in (found, usual))
    ruled = apply_rules(found, [])

    assert ours.low is not None
    assert theirs.low is not None
    assert (ours.low < theirs.low) == (level > 0.95)
    assert f"{level * 100:g}% interval" in render_terminal(ruled, width=200, color=False)
    assert json.loads(render_json(ruled))["level"] == level


def test_trade_off_and_opposite_ranks_are_named(files: Comparison) -> None:
    """Tools better, plans worse; on one task success fell while more sub-goals were reached."""
    assert files.trade_off == "tsa_up_pq_down"
    assert [task.task_id for task in files.tasks if task.ranked_oppositely] == ["t4"]
    assert not files.ranked_oppositely


def test_usage_and_categories_are_compared(files: Comparison) -> None:
    """Tokens and steps for each run; success for each category of tasks."""
    assert files.metrics["tokens_per_run"].found.difference == 20.0
    assert files.metrics["steps_per_run"].found.difference == 5.0
    assert "cost_usd_per_run" not in files.metrics
    found = [(row.category, row.compared.found) for row in files.categories]
    assert [(category, of.base, of.candidate) for category, of in found] == [
        ("even", 4 / 6, 3 / 6),
        ("odd", 4 / 6, 1.0),
    ]


def test_one_metric_of_many_is_no_answer(tables: Tables) -> None:
    """A change that its own interval calls sure may be one of many: nothing calls it so."""
    others = (
        "parameter_validity",
        "tool_allowed_rate",
        "step_efficiency",
        "replans_per_100_calls",
    )
    for place in range(12):
        for side, release in enumerate(("1", "2")):
            task = f"t{place}"
            run_id = tables.run(release, task_id=task)
            tables.scored(run_id, task)
            tables.con.execute("UPDATE trajectory_scores SET sample_weight = 1")
            # Most tasks rise and some fall: the interval is above 0, but not by far.
            tsa = 0.5 + side * (0.2 if place >= 3 else -0.15)
            up_and_down = 0.5 + side * (0.1 if place % 2 else -0.1)
            for metric, value in {"tsa": tsa, **dict.fromkeys(others, up_and_down)}.items():
                tables.score(run_id, metric, value, numerator=10 * value, denominator=10.0)
    ruled = apply_rules(read_comparisons(tables.con, "lake", "1", "2"), [])
    (comparison,) = ruled.comparisons.cohorts

    text = render_terminal(ruled, width=150, color=False)
    compared = comparison.metrics["tsa"]
    assert compared.found.low is not None
    assert compared.found.low > 0
    assert compared.found.p_value is not None
    assert compared.found.p_value < 0.05 < (compared.p_adjusted or 0)
    assert compared.direction == 0
    assert "beyond chance, over" in text


def test_run_modes_are_never_pooled(tables: Tables) -> None:
    """A task that one release ran live and the other mocked is in no pair."""
    for release, mode in (("1", "live"), ("1", "mocked"), ("2", "live"), ("2", "mocked")):
        run_id = tables.run(release, task_id="a", run_mode=mode)
        tables.scored(run_id, "a")
        value = float(mode == "live")
        tables.score(run_id, "success", value, numerator=value, denominator=1.0)
    found = read_comparisons(tables.con, "lake", "1", "2")

    assert [
        (c.cohort.run_mode, c.metrics["success"].found.base) for c in found.cohorts
    ] == [("live", 1.0), ("mocked", 0.0)]  # fmt: skip
    tables.scored(tables.run("3", task_id="a", run_mode="production"), "a")
    with pytest.raises(NothingToCompare, match="scored releases: '1', '2', '3'"):
        read_comparisons(tables.con, "lake", "1", "3")


def test_an_error_names_the_first_of_many_releases(tables: Tables) -> None:
    """Where each request has a release of its own, a line that names them all is of no use."""
    for number in range(250):
        tables.scored(tables.run(f"{number:03}", task_id="a"), "a")
    with pytest.raises(NothingToCompare, match="'019' and 230 more"):
        read_comparisons(tables.con, "lake", "1", "2")


def test_mocked_calls_are_held_against_live_ones(tables: Tables) -> None:
    """Equal, other values, other shape, no live call of equal arguments, content missing."""
    live, mocked = (tables.run("1", run_mode=mode) for mode in ("live", "mocked"))
    results = {
        "same": ('{"a":1}', '{"a":1}'),
        "values": ('{"a":1}', '{"a":2}'),
        "shape": ('{"a":1}', '{"b":"x"}'),
        "text": ("fine", "not fine"),
        "same JSON": ('{"a":1,"b":[2.5]}', '{ "b": [2.5], "a": 1.0 }'),
        "another number": ('{"a":1,"b":-2}', '{"b":0.5,"a":1}'),
        "deep": ("[" * 150 + "1" + "]" * 150, "[" * 150 + "2" + "]" * 150),
        "miss": (None, '{"a":1}'),
        "cut": ('{"a":1}', None),
    }
    for index, (name, (real, mock)) in enumerate(results.items()):
        for run_id, result in ((live, real), (mocked, mock)):
            if run_id == mocked or real is not None:
                tables.insert("steps", trajectory_id=run_id, step_index=index, kind="tool_call",
                              tool_name="look", arguments=f'{{"for":"{name}"}}', result=result,
                              status="ok", flags=[])  # fmt: skip
    (row,) = read_mocked_calls(tables.con, "1", "2")

    # calls, content missing, misses, matched, other shape, other values
    assert tuple(row.values()) == ("files", "look", 9, 1, 1, 7, 1, 4)


def test_mocked_calls_are_tool_calls_and_what_the_model_saw_of_them(tables: Tables) -> None:
    """A log of messages has no executions; a call that started a sub-agent is none."""
    for mode in ("live", "mocked"):
        run_id = tables.run("1", run_mode=mode)
        for index, name in enumerate(("look", "ask_helper")):
            tables.insert("steps", trajectory_id=run_id, step_index=index, kind="tool_call",
                          tool_name=name, arguments="{}", status="unknown", flags=[])  # fmt: skip
        tables.insert("steps", trajectory_id=run_id, step_index=2, kind="observation",
                      call_step=0, content=mode)  # fmt: skip
        tables.run("1", parent_trajectory_id=run_id, parent_step=1)
    (row,) = read_mocked_calls(tables.con, "1", "2")

    assert tuple(row.values()) == ("files", "look", 1, 0, 0, 1, 0, 1)
