"""A comparison on a terminal, or as plain text where there is none."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tracegrade_scoring.compare.judgement import Judgement
from tracegrade_scoring.compare.rules import Outcome
from tracegrade_scoring.compare.view import (
    CohortView,
    Row,
    category_headings,
    cohort_view,
    metric_headings,
    mocked_headings,
    mode_headings,
    rule_rows,
    task_headings,
)
from tracegrade_scoring.report import words
from tracegrade_scoring.report.screen import bullets, capture, plain_table, section
from tracegrade_scoring.report.visible import visible

NAME_WIDTH = 24
"""Names up to this long are not folded: other columns are."""
VERDICT_STYLES = {"better": "green", "worse": "red", "broken": "red", "unjudged": "red"}


def render_terminal(judgement: Judgement, *, width: int, colour: bool) -> str:
    """Return the comparison as text, at most `width` columns wide, with colours or plain."""
    return capture(lambda _: _parts(judgement), width=width, colour=colour)


def _parts(judgement: Judgement) -> Iterator[RenderableType]:
    found = judgement.comparisons
    base, candidate = words.name(found.base), words.name(found.candidate)
    yield Text(f"{base} → {candidate} in {visible(found.lake)}", style="bold")
    for comparison, outcomes in judgement.cohorts:
        yield from _cohort(cohort_view(comparison, found), outcomes)


def _cohort(view: CohortView, outcomes: Sequence[Outcome]) -> Iterator[RenderableType]:
    yield Text()
    yield Rule(Text(view.title, style="bold"), align="left", style="dim")
    yield Text(view.answer, style="bold")
    if (found := bullets(view.findings)) is not None:
        yield found
    yield Text()
    yield from section("Rules", _table(("rule", "", "found"), rule_rows(outcomes)))
    yield from section(view.scores_title, _rows(view, view.rows))
    yield from section("Failure modes", _table(mode_headings(view), view.modes))
    yield from section(
        "Success by task category", _table(category_headings(view), view.categories)
    )
    yield from section("Tasks that changed most", _table(task_headings(view), view.tasks))
    yield from section("Mocked calls beside live ones", _table(mocked_headings(), view.mocked))
    changed = [row for row in view.more_rows if row.verdict in {"better", "worse", "changed"}]
    yield from section("More metrics that changed", _rows(view, changed))
    yield from section("Bear in mind", bullets(view.cautions))


def _rows(view: CohortView, rows: Sequence[Row]) -> Table | None:
    return _table(metric_headings(view), rows)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table | None:
    if not rows:
        return None
    table = plain_table(*headings)
    table.columns[0].no_wrap = max(len(name) for name, *_ in rows) <= NAME_WIDTH
    for row in rows:
        table.add_row(
            *(Text(cell, style=VERDICT_STYLES.get(cell, ""), overflow="fold") for cell in row)
        )
    return table
