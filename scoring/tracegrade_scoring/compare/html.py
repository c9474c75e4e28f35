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
from tracegrade_scoring.rendering.page import RunPage, no_page, page_style, page_template


def render_html(ruled: RuledComparison, run_page: RunPage = no_page) -> str:
    """Return the comparison as the text of one HTML file.

    Args:
        ruled: The comparison, and what the rules say about it.
        run_page: Says where a run that the page names has its own page.
    """
    found = ruled.comparisons
    return page_template("tracegrade_scoring.compare", run_page).render(
        base=words.name(found.base),
        candidate=words.name(found.candidate),
        cohorts=[
            {
                "decision": decision_view(comparison, found, ruled.release_rule),
                **_cohort(cohort_view(comparison, found), outcomes),
            }
            for comparison, outcomes in ruled.cohorts
        ],
        lake=found.lake,
        reasons_note=REASONS_NOTE,
        style=page_style(),
    )


def _cohort(view: CohortView, outcomes: Sequence[RuleOutcome]) -> dict[str, Any]:
    return {
        "headings": _capitals(metric_headings(view), view),
        "mocked_headings": _capitals(mocked_headings(), view),
        "rules": rule_rows(outcomes),
        "task_headings": _capitals(task_headings(view), view),
        "view": view,
    }


def _capitals(headings: Sequence[str], view: CohortView) -> list[str]:
    """Return headings that begin with a capital, as on every page; names of releases stay."""
    names = {view.base, view.candidate}
    return [text if text in names else text[:1].upper() + text[1:] for text in headings]
