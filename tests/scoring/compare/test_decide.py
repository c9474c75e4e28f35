"""One word for each change: the same wherever it is said, and no word where chance explains it."""

import json
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scoring.report.build import Tables

from tracegrade_scoring.compare.as_json import render_json
from tracegrade_scoring.compare.beyond_chance import fisher_p
from tracegrade_scoring.compare.fail_on_rules import parse_rules
from tracegrade_scoring.compare.model import Comparison
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.rule_outcomes import apply_rules
from tracegrade_scoring.compare.texts import render_terminal
from tracegrade_scoring.compare.view import cohort_view


def compare(tables: Tables) -> Comparison:
    """Return the only comparison of releases 1 and 2."""
    (comparison,) = read_comparisons(tables.con, "lake", "1", "2").cohorts
    return comparison


def told(tables: Tables) -> str:
    """Return what a comparison prints."""
    found = apply_rules(read_comparisons(tables.con, "lake", "1", "2"), [])
    return " ".join(render_terminal(found, width=300, color=False).split())


def attempts(tables: Tables, release: str, task: str, **metrics: list[float]) -> None:
    """Insert runs of a task; of each metric there is a share for each run."""
    for trial, values in enumerate(zip(*metrics.values(), strict=True)):
        run = tables.run(release, task_id=task, trial=trial)
        tables.scored(run, task)
        for metric, value in zip(metrics, values, strict=True):
            tables.score(run, metric, value, numerator=value, denominator=1.0)


def test_a_task_that_fails_every_time_is_in_the_first_sentence(tables: Tables) -> None:
    """5 of 5 attempts before, 0 of 5 after: one task is too few for success, not for the task."""
    attempts(tables, "1", "a", success=[1.0] * 5)
    attempts(tables, "2", "a", success=[0.0] * 5)
    text = told(tables)

    assert "2 is worse than 1: 1 task." in text
    assert "Task 'a' succeeded in 0.0% of 5 attempts, 100.0% of 5 before" in text
    assert compare(tables).metrics["success"].direction == 0
    assert "Nothing changed" not in text


def test_modes_that_neither_release_shows_are_not_asked(tables: Tables) -> None:
    """Goal drift in 2 and then 9 of 20 runs is sure by itself, and four others never occur."""
    never = ("loop_trap", "tool_hallucination", "premature_commitment", "cascading_error")
    for release, drifting in (("1", 2), ("2", 9)):
        for task in range(20):
            drifts = {"goal_drift": [float(task < drifting)], "success": [float(task >= drifting)]}
            attempts(tables, release, f"t{task}", **drifts, **{mode: [0.0] for mode in never})
    comparison = compare(tables)
    (broken,) = apply_rules(
        read_comparisons(tables.con, "lake", "1", "2"), parse_rules(["failure-mode-rose"])
    ).outcomes

    drift = comparison.metrics["goal_drift"]
    assert drift.p_adjusted == drift.found.p_value == 2 / 2**7
    assert {comparison.metrics[mode].p_adjusted for mode in never} == {None}
    assert [outcome.verdict for outcome in broken] == ["broken"]


def test_sub_goals_that_rise_and_fall_did_not_break(tables: Tables) -> None:
    """Of 40 critical sub-goals 20 are skipped once more than before and 20 once less."""
    for release in ("1", "2"):
        for task in range(8):
            for trial in range(5):
                run = tables.run(release, task_id=f"t{task}", trial=trial)
                tables.scored(run, f"t{task}")
                for goal in range(5):
                    skipped = trial < 1 + (goal + task + (release == "2")) % 2
                    tables.insert(
                        "sub_goals",
                        trajectory_id=run,
                        sub_goal=f"g{goal}",
                        critical=True,
                        weight=1.0,
                        attempted=not skipped,
                        completed=not skipped,
                        task_id=f"t{task}",
                        release=release,
                    )
    comparison = compare(tables)

    assert len(comparison.skipped_sub_goals) == 20
    assert not any(goal.is_sure for goal in comparison.skipped_sub_goals)
    assert "skipped in" not in told(tables)


def test_every_place_says_the_same_word(tables: Tables) -> None:
    """The first sentence, the row, the lists and the JSON go by one p-value."""
    for release, gain in (("1", 0.0), ("2", 0.3)):
        for task in range(12):
            noise = 0.01 * (task % 3)
            values = {"tsa": [0.5 + gain + noise], "success": [float(task % 3 > 0)]}
            attempts(tables, release, f"t{task}", **values)
    found = read_comparisons(tables.con, "lake", "1", "2")
    view = cohort_view(found.cohorts[0], found)
    words = {row.label: row.verdict for row in view.rows}
    metrics = json.loads(render_json(apply_rules(found, [])))["comparisons"][0]["metrics"]

    assert words["Tool-selection accuracy"] == "better"
    assert [row.label for row in view.better] == ["Tool-selection accuracy"]
    assert view.answer.endswith("2 is better than 1: Tool-selection accuracy.")
    assert metrics["tsa"]["p_adjusted"] < 0.05
    assert metrics["success"]["p_adjusted"] is None


def plain_fisher(some: int, of: int, others: int, of_others: int) -> float:
    """Return the p-value by its definition: all tables with these margins, no likelier one."""

    def ways(second: int) -> int:
        return comb(of_others, second) * comb(of, some + others - second)

    found = [ways(number) for number in range(of_others + 1) if 0 <= some + others - number <= of]
    return sum(way for way in found if way <= ways(others)) / sum(found)


counts = st.integers(1, 12).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))


@given(counts, counts)
def test_fisher_agrees_with_its_definition(one: tuple[int, int], other: tuple[int, int]) -> None:
    """And no table of these margins has a smaller p-value than the least one."""
    p_value = fisher_p(*one, *other)

    assert p_value == pytest.approx(plain_fisher(*one, *other))
    assert fisher_p(*one, *other, least=True) <= p_value <= 1


def test_fisher_agrees_with_published_examples() -> None:
    """R's fisher.test of 1 of 10 and 11 of 14, and the lady who tasted tea: 3 of 4 and 1 of 4."""
    assert fisher_p(1, 10, 11, 14) == pytest.approx(0.002759456)
    assert fisher_p(3, 4, 1, 4) == pytest.approx(0.4857143)
