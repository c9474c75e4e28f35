"""A comparison as Markdown, for a pull request."""

from collections.abc import Iterator, Sequence

from tracegrade_scoring.compare.judgement import Judgement
from tracegrade_scoring.compare.reasons_view import REASONS_NOTE
from tracegrade_scoring.compare.rules import RuleOutcome
from tracegrade_scoring.compare.view import (
    CohortView,
    category_headings,
    cohort_view,
    metric_headings,
    mocked_headings,
    mode_headings,
    reason_headings,
    rule_rows,
    task_headings,
)
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.markup import bullets, code, escape, table


def render_markdown(judgement: Judgement) -> str:
    """Return the comparison as GitHub-flavoured Markdown."""
    return "\n".join(_lines(judgement)) + "\n"


def _lines(judgement: Judgement) -> Iterator[str]:
    found = judgement.comparisons
    base, candidate = words.name(found.base), words.name(found.candidate)
    yield f"# {code(base)} → {code(candidate)}"
    for comparison, outcomes in judgement.cohorts:
        yield from _cohort(cohort_view(comparison, found), outcomes)


def _cohort(view: CohortView, outcomes: Sequence[RuleOutcome]) -> Iterator[str]:
    yield from ("", f"## {code(view.title)}", "", f"**{escape(view.answer)}**")
    if view.findings:
        yield from ("", *(f"- {escape(sentence)}" for sentence in view.findings))
    yield from _table("Rules", ("rule", "", "found"), rule_rows(outcomes))
    yield from _table(view.scores_title, metric_headings(view), view.rows)
    reasons = [row.cells for row in view.reasons]
    yield from _table("Why runs failed", reason_headings(view), reasons)
    if reasons:
        yield from ("", REASONS_NOTE)
    yield from _table("Failure modes", mode_headings(view), view.modes)
    if view.mode_note:
        yield from ("", escape(view.mode_note))
    yield from _table("Success by task category", category_headings(view), view.categories)
    yield from _table("Tasks that changed most", task_headings(view), view.tasks)
    yield from _table("Mocked and live calls compared", mocked_headings(), view.mocked)
    yield from bullets("Cautions", view.cautions)
    yield from _table("More metrics", metric_headings(view), view.more_rows)


def _table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table whose first column holds names."""
    named = ((code(first), *map(escape, others)) for first, *others in rows)
    return table(title, tuple(map(escape, headings)), named)
