"""`report --fail-on` and `--weights`: a gate on one release, and T-Scores for a kind of work."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.scoring.report.build import Tables, as_lake, pages
from tests.scoring.report.test_cli import run

from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.errors import BadRule, BadWeights
from tracegrade_scoring.report.as_json import render_json
from tracegrade_scoring.report.model import ReportOptions
from tracegrade_scoring.report.read import read_report
from tracegrade_scoring.report.rules import parse_release_rules, with_outcomes
from tracegrade_scoring.statistics.t_score import PRESETS, Weights, parse_weights


def fill(tables: Tables, tasks: int, release: str = "1.0", late: float = 8.0) -> None:
    """Insert three attempts at each task (the first fails); axes 8 and 9, 10 of 10."""
    for task in range(tasks):
        for trial in range(3):
            made = tables.run(release, task_id=f"t{task}", trial=trial)
            tables.scored(made, f"t{task}")
            won = float(trial > 0)
            tables.score(made, "success", won, numerator=won, denominator=1.0)
            tables.score(made, "tsa", 0.8, numerator=4.0, denominator=5.0)
            tables.score(made, "pq", 9.0)
            tables.score(made, "ra_after_recovery", 10.0)
            tables.score(made, "late_ra", late if task == 0 else 10.0)
    for metric, value in (("tsa", 0.8), ("pq", 9.0), ("ra_after_recovery", 10.0)):
        flags = ["insufficient_sample"] if tasks < 10 else []
        tables.release(metric, value, release=release, low=0.75 * value, flags=flags)


T_SCORE = 3 / (1.2 / 8 + 1 / 9 + 0.8 / 10)


@pytest.mark.parametrize(
    ("rule", "verdict", "fact"),
    [
        ("t-score<7", "held", f"t_score is {T_SCORE:.9g}"),
        ("t_score < 9", "broken", f"t_score is {T_SCORE:.9g}"),
        ("t_score.low<8", "held", f"low of t_score is {T_SCORE:.9g}"),
        ("late-rollback<7", "broken", "late_rollback is 6.5"),
        ("late_rollback<=6", "held", "late_rollback is 6.5"),
        ("tsa.low<0.7", "broken", "low of tsa is 0.6"),
        ("tsa.high<0.7", "unjudged", "there is no high of tsa"),
        ("pass@2<1", "held", "pass@2 is 1"),
        ("pass^3>=0.1", "held", "pass^3 is 0"),
        ("pass^4<1", "unjudged", "there is no pass^4"),
        ("label<staging-only", "held", "label is Staging-Only or better"),
        ("label<Supervised Production", "broken", "label is Staging-Only or better"),
        ("tier<needs_improvement", "broken", "tier is Not ready"),
        ("sub_goal_coverage<1", "unjudged", "there is no sub_goal_coverage"),
    ],
)
def test_rules_judge_one_release(tables: Tables, rule: str, verdict: str, fact: str) -> None:
    """Numbers, ends of intervals, and the places of label and tier on their ladders."""
    fill(tables, 20, late=6.5)

    report = with_outcomes(tables.report(), parse_release_rules([rule]))

    ((outcome,),) = report.outcomes.values()
    assert (outcome.verdict, outcome.fact) == (verdict, fact)


@pytest.mark.parametrize("rule", ["label<prototype", "tier<needs-improvement"])
def test_small_sample_cannot_be_judged_by_its_label(tables: Tables, rule: str) -> None:
    """Nothing is said of four tasks, so a pipeline does not pass by it."""
    fill(tables, 4)

    report = with_outcomes(tables.report(), parse_release_rules([rule]))

    ((outcome,),) = report.outcomes.values()
    assert outcome.verdict == "unjudged"
    assert "at least 10 tasks" in outcome.fact


def test_newest_release_of_each_agent_is_judged_on_every_page(tables: Tables) -> None:
    """The release before is shown, and no rule is about it."""
    fill(tables, 10, "1.0", late=1.0)
    fill(tables, 10, "1.1")
    report = with_outcomes(tables.report(), parse_release_rules(["late-rollback<7"]))

    for page in pages(report):
        assert "Rule late" in page
        assert "files 1.1: held" in page
    old, new = json.loads(render_json(report))["releases"]
    assert old["rules"] == []
    assert new["rules"] == [
        {"rule": "late-rollback<7", "verdict": "held", "fact": "late_rollback is 8"}
    ]


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ("t-scor<7", "is not understood; write METRIC<NUMBER"),
        ("tas<0.5", "names an unknown metric 'tas'; did you mean 'tsa'?"),
        ("tsa.candidate<1", "names an unknown field 'candidate' of a release; known: low, high"),
        ("label<supervized", "names an unknown label 'supervized'"),
        ("tier<ready", "names an unknown tier 'ready'; "),
        ("new-failure-mode", "is not understood; write METRIC<NUMBER"),
    ],
)
def test_misspelt_rule_is_told_what_it_may_mean(rule: str, hint: str) -> None:
    """A metric, a field, a label or a tier; rules on two releases are none on one."""
    with pytest.raises(BadRule, match=re.escape(hint)):
        parse_release_rules([rule])


def test_broken_rule_ends_with_1_and_the_report_is_written(
    tables: Tables, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Held: 0. A rule that cannot be read, or weights that make no score: 2, and one line."""
    fill(tables, 10)
    lake = as_lake(tables, tmp_path / "lake").root

    assert run("--lake", lake, "--format", "json", "--fail-on", "t-score<7") == 0
    capsys.readouterr()
    assert run("--lake", lake, "--format", "json", "--fail-on", "t-score<9") == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["releases"][0]["rules"][0]["verdict"] == "broken"
    assert f"stopped by --fail-on: t-score<9 (files 1.0: t_score is {T_SCORE:.9g})" in err
    for wrong in (("--fail-on", "t-score"), ("--weights", "tsa=0")):
        assert run("--lake", lake, *wrong) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_gate_over_no_run_stops(
    tables: Tables, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A period without any run holds no rule; one run by itself has no release to judge."""
    fill(tables, 10)
    lake = as_lake(tables, tmp_path / "lake").root

    assert run("--lake", lake, "--since", "2030-01-01", "--fail-on", "success<0.1") == 1
    assert "there is no release to judge" in capsys.readouterr().err
    assert run("--lake", lake, "--trajectory", "t1", "--fail-on", "success<0.1") == 2
    assert "leave them out with --trajectory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("etl", PRESETS["etl"]),
        ("tsa=1.5, pq=0.8,ra=0.3", Weights(1.5, 0.8, 0.3)),
        ("ra=2", Weights(1.2, 1.0, 2.0)),
    ],
)
def test_weights_are_a_kind_of_work_or_numbers(text: str, found: Weights) -> None:
    """An axis that is not named keeps its weight."""
    assert parse_weights(text) == found


@pytest.mark.parametrize(
    "text",
    ["", "etll", "tsa=0", "tsa=-1", "tsa=nan", "tsa=inf", "tsa=x", "1,2,3", "tas=1", "tsa=1,"],
)
def test_weights_that_make_no_score_are_refused(text: str) -> None:
    """With what is wrong, and what can be given."""
    with pytest.raises(BadWeights, match=r"makes no T-Score: .* give default, research"):
        parse_weights(text)


def test_weights_count_on_every_page(tables: Tables) -> None:
    """Card, interval, tasks, JSON and the comparison of a report are of the same weights."""
    fill(tables, 10, "1.0")
    fill(tables, 10, "1.1")
    weights = PRESETS["etl"]
    wanted = sum(weights) / (weights.tsa / 8 + weights.pq / 9 + weights.ra / 10)

    report = read_report(tables.con, "lake", options=ReportOptions(weights=weights))

    document = json.loads(render_json(report))
    found: dict[str, Any] = document["releases"][1]["t_score"]
    numbers = [found["value"], found["low"], found["presets"]["etl"], found["tasks"][0]["t_score"]]
    assert numbers == pytest.approx([wanted] * 4)
    assert document["comparisons"][0]["metrics"]["t_score"]["candidate"] == pytest.approx(wanted)
    for page in pages(report):
        assert "Weights: Tool selection 1, Planning quality 1.2, Rollback-ability 2" in page
    compared = read_comparisons(tables.con, "lake", "1.0", "1.1", weights=weights)
    assert compared.cohorts[0].metrics["t_score"].found.base == pytest.approx(wanted)
