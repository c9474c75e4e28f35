"""A report answers first: is the newest release better than the one before, and what broke?"""

import json
import re
from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.scoring.report.build import Tables, as_text, pages

from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.view import cohort_view
from tracegrade_scoring.report.as_json import render_json
from tracegrade_scoring.report.html import render_html
from tracegrade_scoring.report.model import Report
from tracegrade_scoring.report.view import agent_views

DECIDED = r"1\.1: (<span class=.word-hold.>)?hold(</span>)?\."
"""The word of the decision, which a page colors."""


def sub_goal(tables: Tables, run: str, *, attempted: bool, name: str = "pay") -> None:
    """Insert a critical sub-goal of a run."""
    tables.insert(
        "sub_goals", trajectory_id=run, sub_goal=name, critical=True, attempted=attempted,
        completed=attempted, task_id="shop", release="1.1",
    )  # fmt: skip


@pytest.fixture(scope="module")
def two() -> Iterator[Tables]:
    """The newer release picks tools better on twelve tasks, loops, and skips a sub-goal."""
    with closing(Tables()) as tables:
        for place, release in enumerate(("1.0", "1.1")):
            for task in range(12):
                run = tables.run(release, task_id=f"t{task}", input_tokens=100, output_tokens=10)
                tables.scored(run, f"t{task}")
                right = (5.0, 9.0)[place]
                tables.score(run, "tsa", right / 10, numerator=right, denominator=10.0)
                solved = float(task % (2 + place) > 0)
                tables.score(run, "success", solved, numerator=solved, denominator=1.0)
                tables.score(
                    run, "loop_trap", float(place), numerator=float(place), denominator=1.0
                )
                if place:
                    tables.insert("failures", trajectory_id=run, mode="loop_trap")
            for trial in range(8):
                run = tables.run(release, task_id="shop", trial=trial)
                tables.scored(run, "shop")
                sub_goal(tables, run, attempted=release == "1.0")
        yield tables


@pytest.fixture(scope="module")
def report(two: Tables) -> Report:
    """Their report."""
    return two.report()


def test_answer_is_that_of_compare_and_comes_first(two: Tables, report: Report) -> None:
    """It stands after the decision and before the scores; a page has the decision alone."""
    found = read_comparisons(two.con, "lake", "1.0", "1.1")
    answer = cohort_view(found.cohorts[0], found).answer

    assert "1.1 is better than 1.0" in answer
    for page in pages(report):
        if "<main>" in page:
            (verdict,) = re.findall('class="verdict">(.*?)</p>', page)
            assert re.match(DECIDED, verdict)
            assert answer not in page
            continue
        at = page.index(answer)
        assert re.search(DECIDED, page[:at])
        assert "Tokens per run" in page[at:]


def test_what_broke_names_its_runs(report: Report) -> None:
    """A new failure mode, and a critical sub-goal that only the newer release skips."""
    for page in pages(report):
        text = re.sub(r"<[^>]*>", "", page)
        assert "New failure mode: loop trap, in 100.0% of runs (of 12), e.g." in text
        assert re.search(
            r"Critical sub-goal .{1,5}pay.{1,5} of task .{1,5}shop.{1,5} skipped in 8 of 8 runs, "
            r"0 of 8 before, e\.g\. (run )?t\d+, (run )?t\d+",
            text,
        )


def test_programs_get_the_answer_in_addition(report: Report) -> None:
    """`releases` stays as it is; what changed surely is named as metrics are."""
    document = json.loads(render_json(report))
    (compared,) = document["comparisons"]

    assert [release["release"] for release in document["releases"]] == ["1.0", "1.1"]
    assert (compared["base"], compared["candidate"]) == ("1.0", "1.1")
    assert "tsa" in compared["better"]
    assert compared["metrics"]["tsa"]["candidate"] == 0.9
    assert [goal["sub_goal"] for goal in compared["skipped_sub_goals"]] == ["pay"]


def test_changes_are_those_of_the_comparison(two: Tables) -> None:
    """Number and word are those of `compare`, even if all runs of the releases differ."""
    for metric in ("tsa", "success"):
        for release, value in (("1.0", 0.7), ("1.1", 0.9)):
            two.release(metric, value, release=release, low=value - 0.01, high=value + 0.01)
    (agent,) = agent_views(two.report())

    found = read_comparisons(two.con, "lake", "1.0", "1.1")
    compared = {row.label: row for row in cohort_view(found.cohorts[0], found).rows}
    shown = {row.metric.label: row for row in agent.rows if row.verdict}
    assert {name: row.verdict for name, row in shown.items()} == {
        "Success": "may be chance", "Tool-selection accuracy": "better",
    }  # fmt: skip
    assert shown["Tool-selection accuracy"].difference == "+40.0 pts"
    for name, row in shown.items():
        assert (row.difference, row.verdict) == (compared[name].change, compared[name].verdict)


def test_changes_over_other_runs_than_the_columns_say_so(two: Tables) -> None:
    """Values of all runs beside a change of common tasks would not add up without a word."""
    two.release("tsa", 0.7, release="1.0")
    two.release("tsa", 0.9, release="1.1")

    for page in pages(two.report()):
        text = " ".join(re.sub(r"<[^>]*>", "", page).split())
        assert re.search("over the tasks that both ran|of the tasks that both releases ran", text)


def test_one_release_has_none_to_compare_it_with(tables: Tables) -> None:
    """That is the answer then, and it takes one line."""
    tables.scored(tables.run(task_id="a"), "a")

    for page in pages(tables.report()):
        assert "Only one release ran, 1.0: there is none to compare it with." in page


def test_release_without_a_name_cannot_be_compared(tables: Tables) -> None:
    """The answer says how to name it."""
    for release in ("1.0", None):
        tables.scored(tables.run(release, task_id="a"), "a")

    assert "in the resource attribute service.version" in as_text(tables.report())


def test_release_without_scored_runs_cannot_be_compared(tables: Tables) -> None:
    """Its runs landed after the last scoring."""
    tables.scored(tables.run("1.0", task_id="a"), "a")
    tables.run("1.1", task_id="a")

    assert "1.0 and 1.1 cannot be compared: not both have" in as_text(tables.report())


def test_no_row_is_without_a_value(tables: Tables) -> None:
    """An agent that calls no tool and reports no token has neither row."""
    tables.scored(tables.run(task_id="a"), "a")
    (agent,) = agent_views(tables.report())

    assert [row.metric.name for row in agent.rows] == ["runs"]


def test_t_score_that_cannot_be_had_takes_one_line(tables: Tables) -> None:
    """The card begins with what there is, and axes without a value have no row."""
    run = tables.run(task_id="a")
    tables.scored(run, "a")
    tables.score(run, "tsa", 0.5, numerator=1.0, denominator=2.0)
    page = render_html(tables.report())

    assert '<p class="score">' not in page
    assert page.count("No T-Score: not measured: planning quality, rollback-ability") == 1
    assert "<dt>Tool selection</dt>" in page
    assert "<dt>Rollback-ability</dt>" not in page


def test_graphs_in_which_nothing_went_wrong_fold_away(tables: Tables) -> None:
    """Those of tasks with a sub-goal that was not completed stand open."""
    for task, completed in (("bad", False), ("good", True)):
        run = tables.run(task_id=task)
        tables.scored(run, task)
        for name in ("a", "b"):
            tables.insert(
                "sub_goals", trajectory_id=run, sub_goal=name, critical=True, attempted=True,
                completed=completed, task_id=task, release="1.0",
            )  # fmt: skip
    page = render_html(tables.report())
    graphs = page[page.index("<h4>Release") : page.index("<summary>All sub-goals")]
    shown, folded, _ = graphs.split("<details>")

    assert ">bad<" in shown
    assert "1 task with every sub-goal completed in each run" in folded
    assert ">good<" in folded


def test_html_report_opens_with_the_decision_and_folds_the_rest(report: Report) -> None:
    """The first page has at most 150 words, names of lake and run included; a print has all."""
    page = render_html(report)
    body = page[page.index("<body") : page.index("<footer")]
    folded = re.findall(r'<details class="part printed">\s*<summary><h3>([^<]*)', body)
    open_at_once = body[: body.index("<details")]
    words = re.sub(r"<[^>]*>", " ", open_at_once).split()

    assert re.search(DECIDED, open_at_once)
    assert len(words) <= 150
    assert {"What changed, and what broke", "Scores by release"} <= set(folded)


def test_agent_of_one_release_has_its_scores_open(sample_report: Report) -> None:
    """There is no decision to make, so that the scores are what its part says first."""
    page = render_html(sample_report)
    weather = page[page.index("weather</h2>") :]

    assert re.search(r'<details class="part printed" open>\s*<summary><h3>Scores<', weather)
