"""A comparison as one HTML file that needs nothing else: no script, no network, no font."""

from collections.abc import Sequence
from typing import Any

from tracegrade_scoring.compare.decision.view import decision_view
from tracegrade_scoring.compare.fail_on_rules import RuleOutcome
from tracegrade_scoring.compare.reasons_view import REASONS_NOTE
from tracegrade_scoring.compare.rule_outcomes import RuledComparison
from tracegrade_scoring.compare.view import (
    CohortView,
    cohort_view,
    metric_headings,
    mocked_headings,
    rule_rows,
    task_headings,
)
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.html_table import (
    FAINT,
    LONG,
    NUMBER,
    ROW_HEADING,
    HtmlCell,
    HtmlTable,
    RunLink,
    html_table,
    text_table,
)
from tracegrade_scoring.rendering.kill_pages import NO_PAGES, NamedPages
from tracegrade_scoring.rendering.page import page_style, page_template


def render_html(ruled: RuledComparison, pages: NamedPages = NO_PAGES) -> str:
    """Return the comparison as the text of one HTML file.

    Args:
        ruled: The comparison, and what the rules say about it.
        pages: The pages of runs and kills that it names.
    """
    found = ruled.comparisons
    return page_template("tracegrade_scoring.compare", pages.run).render(
        base=words.name(found.base),
        candidate=words.name(found.candidate),
        cohorts=[
            {
                "decision": decision_view(comparison, found, ruled.release_rule),
                "decided_kills": pages.kills.of_release(
                    comparison.cohort.agent_name, found.candidate
                ),
                **_cohort(cohort_view(comparison, found), outcomes),
            }
            for comparison, outcomes in ruled.cohorts
        ],
        lake=found.lake,
        reasons_note=REASONS_NOTE,
        style=page_style(),
    )


def _cohort(view: CohortView, outcomes: Sequence[RuleOutcome]) -> dict[str, Any]:
    task, *numbers, remark = _capitals(task_headings(view), view)
    call, *values = _capitals(mocked_headings(), view)
    return {
        "headings": _capitals(metric_headings(view), view),
        "mocked": html_table(_numbers(call, values), view.mocked),
        "modes": _modes(view),
        "reasons": _reasons(view),
        "rules": text_table(("Rule", "", "Found"), rule_rows(outcomes)),
        "tasks": html_table([*_numbers(task, numbers), (remark, "")], view.tasks),
        "view": view,
    }


def _numbers(first: str, headings: Sequence[str]) -> list[tuple[str, str]]:
    return [(first, ""), *((heading, NUMBER) for heading in headings)]


def _reasons(view: CohortView) -> HtmlTable:
    sides = [(view.base, NUMBER), (view.candidate, NUMBER), ("Change", NUMBER)]
    rows = (
        (row.why, row.base, row.candidate, row.change, row.sentence,
         HtmlCell("", [RunLink(row.trajectory_id, row.step_index)]))
        for row in view.reasons
    )  # fmt: skip
    return html_table([("Why", ROW_HEADING), *sides, ("In that run", LONG), ("E.g.", "")], rows)


def _modes(view: CohortView) -> HtmlTable:
    sides = [(view.base, NUMBER), (view.candidate, NUMBER), ("Change", NUMBER)]
    rows = (
        (row.mode, row.base, row.candidate, row.change, row.interval, row.verdict,
         HtmlCell("", [RunLink(each) for each in view.mode_runs[row.mode]]), row.basis)
        for row in view.modes
    )  # fmt: skip
    columns = [("Failure mode", ROW_HEADING), *sides, (f"{view.level} interval", NUMBER)]
    return html_table([*columns, ("", ""), ("Runs", ""), ("From", FAINT)], rows)


def _capitals(headings: Sequence[str], view: CohortView) -> list[str]:
    """Return headings that begin with a capital, as on every page; names of releases stay."""
    names = {view.base, view.candidate}
    return [text if text in names else text[:1].upper() + text[1:] for text in headings]
