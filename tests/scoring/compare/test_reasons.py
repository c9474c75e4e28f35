"""Why runs of two releases failed, next to one another: the words and numbers of a report."""

import json
from html import unescape

import pytest
from tests.scoring.report.build import Tables

from tracegrade_scoring.compare.as_json import render_json
from tracegrade_scoring.compare.html import render_html
from tracegrade_scoring.compare.model import Comparisons
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.rule_outcomes import apply_rules
from tracegrade_scoring.compare.texts import render_markdown, render_terminal
from tracegrade_scoring.report.read import read_report
from tracegrade_scoring.report.view import agent_views

BASE = (("never_called", "pay"), ("unexplained", None), None, None)
CANDIDATE = (("never_called", "pay"), ("wrong_argument", "pay $.sum"), ("never_called", "pay"),
             None)  # fmt: skip


def fill(tables: Tables, task: str | None) -> None:
    """Insert four runs of either release, each failed for a reason or successful."""
    for release, reasons in (("1.0", BASE), ("1.1", CANDIDATE)):
        for place, reason in enumerate(reasons):
            name = None if task is None else f"{task}{place}"
            run = tables.run(release, task_id=name)
            tables.scored(run, name)
            tables.score(run, "success", float(reason is None), numerator=float(reason is None),
                         denominator=1.0)  # fmt: skip
            if reason:
                kind, what = reason
                for rank, named in ((1, kind), (2, "lost_call")):
                    tables.insert("run_reasons", trajectory_id=run, rank_in_run=rank, kind=named,
                                  object=what, key=f"{named} {what}", sentence=f"{run}: {what}",
                                  step_trajectory_id=run, step_index=3, release=release,
                                  success=False)  # fmt: skip


def compared(tables: Tables) -> Comparisons:
    """Return release 1.1 beside 1.0."""
    return read_comparisons(tables.con, "lake", "1.0", "1.1")


@pytest.mark.parametrize("task", ["t", None], ids=["paired", "of no task"])
def test_first_reasons_of_both_sides_are_counted(tables: Tables, task: str | None) -> None:
    """Never called: 1 of 4 runs before, 2 after; the run is the candidate's, if it has one."""
    fill(tables, task)
    (comparison,) = compared(tables).cohorts

    found = {reason.kind: reason for reason in comparison.reasons}
    assert {kind: (r.base_runs, r.candidate_runs, r.change) for kind, r in found.items()} == {
        "never_called": (1, 2, 0.25),
        "unexplained": (1, 0, -0.25),
        "wrong_argument": (0, 1, 0.25),
    }
    assert {(r.base_failed, r.candidate_failed) for r in comparison.reasons} == {(2, 3)}
    assert [found[kind].trajectory_id for kind in ("never_called", "unexplained")] == ["t5", "t2"]


def test_every_format_has_the_words_and_numbers_of_the_report(tables: Tables) -> None:
    """What explains most of the candidate's runs comes first, and an unknown reason last."""
    fill(tables, "t")
    ruled = apply_rules(compared(tables), ())
    reported = [row for agent in agent_views(read_report(tables.con, "lake"))
                for row in agent.reasons]  # fmt: skip

    texts = (
        render_terminal(ruled, width=200, color=False),
        render_markdown(ruled).replace("\\", ""),
        unescape(render_html(ruled)),
    )
    assert {(row.release, row.runs) for row in reported if "never called" in row.why} == {
        ("1.0", "1 of 2 failed"),
        ("1.1", "2 of 3 failed"),
    }
    for text in texts:
        places = [text.index(row.why, text.index("Why runs failed")) for row in reported[2:]]
        assert places == sorted(places)
        assert text.index("no step shows why") > max(places)
        for row in reported:
            assert row.why in text
            assert row.runs in text
    (cohort,) = json.loads(render_json(ruled))["comparisons"]
    assert [reason["change"] for reason in cohort["reasons"]] == [0.25, -0.25, 0.25]


def test_runs_that_are_not_compared_have_no_reason(tables: Tables) -> None:
    """A task that one side ran alone, a superseded run and a run that succeeded are left out."""
    fill(tables, "t")
    alone = tables.run("1.1", task_id="alone")
    tables.scored(alone, "alone")
    tables.score(alone, "success", 0.0, numerator=0.0, denominator=1.0)
    tables.insert("run_reasons", trajectory_id=alone, rank_in_run=1, kind="crashed",
                  key="k", sentence="s", release="1.1", success=False)  # fmt: skip
    (comparison,) = compared(tables).cohorts

    assert "crashed" not in {reason.kind for reason in comparison.reasons}
    assert sum(reason.candidate_runs for reason in comparison.reasons) == 3
