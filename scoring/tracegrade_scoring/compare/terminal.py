"""A comparison on a terminal, or as plain text where there is none."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tracegrade.terminal.visible import visible
from tracegrade_scoring.compare.differences import ModeDifference, Row
from tracegrade_scoring.compare.judgement import Judgement
from tracegrade_scoring.compare.reasons_view import REASONS_NOTE, ReasonDifference
from tracegrade_scoring.compare.rules import RuleOutcome
from tracegrade_scoring.compare.view import (
    CohortView,
    cohort_view,
    mocked_headings,
    rule_rows,
    task_headings,
)
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.screen import bullets, capture, plain_table, section

LEAST_WIDTH = 76
HEADING_WIDTH = 12
"""Longer names of releases are folded above a column of numbers."""
VERDICT_WIDTH = 6
REASON_ROWS = 12
"""Reasons why runs failed; the other formats have them all."""
VERDICT_STYLES = {"better": "green", "worse": "red", "broken": "red", "unjudged": "red"}


def render_terminal(judgement: Judgement, *, width: int, colour: bool) -> str:
    """Return the comparison as text, with colours or plain.

    It is at most `width` columns wide, but never narrower than 76, where numbers would be cut.
    """
    return capture(lambda _: _parts(judgement), width=max(width, LEAST_WIDTH), colour=colour)


def _parts(judgement: Judgement) -> Iterator[RenderableType]:
    found = judgement.comparisons
    base, candidate = words.name(found.base), words.name(found.candidate)
    yield Text(f"{base} → {candidate} in {visible(found.lake)}", style="bold")
    for comparison, outcomes in judgement.cohorts:
        yield from _cohort(cohort_view(comparison, found), outcomes)


def _cohort(view: CohortView, outcomes: Sequence[RuleOutcome]) -> Iterator[RenderableType]:
    yield Text()
    yield Rule(Text(view.title, style="bold"), align="left", style="dim")
    yield Text(view.answer, style="bold")
    if (found := bullets(view.findings)) is not None:
        yield found
    yield Text()
    yield from section("Rules", _table(("rule", "", "found"), rule_rows(outcomes)))
    yield from section(view.scores_title, _rows(view, view.rows))
    yield from section("Why runs failed", _reason_rows(view))
    yield from section("Failure modes", _mode_rows(view))
    if view.mode_note:
        yield bullets([view.mode_note]) or ""
        yield Text()
    yield from section("Success by task category", _rows(view, view.categories, "category"))
    yield from section("Tasks that changed most", _table(task_headings(view), view.tasks))
    yield from section("Mocked and live calls compared", _table(mocked_headings(), view.mocked))
    changed = [row for row in view.more_rows if row.verdict in {"better", "worse", "changed"}]
    yield from section("More metrics that changed", _rows(view, changed))
    yield from section("Cautions", bullets(view.cautions))


def _rows(view: CohortView, rows: Sequence[Row], first: str = "metric") -> Table | None:
    """Return a line for each row: what it is, and below it what it is based on."""
    sides = (view.base, view.candidate)
    return _numbers(
        (first, *sides, "change", f"{view.level} interval", ""),
        ((row[:-1], row.basis) for row in rows),
        coloured=view.sure,
    )


def _reason_rows(view: CohortView) -> RenderableType | None:
    """Return the reasons of most runs, and how many more there are."""
    shown = view.reasons[:REASON_ROWS]
    table = _numbers(
        ("reason", view.base, view.candidate, "change", ""),
        (((*row[:4], ""), _below_reason(row)) for row in shown),
    )
    if table is None:
        return None
    notes = [REASONS_NOTE]
    if more := len(view.reasons) - len(shown):
        notes.append(f"{words.count(more, 'more reason')}: --format html lists them.")
    return Group(table, *(Text(note, style="dim") for note in notes))


def _below_reason(row: ReasonDifference) -> str:
    return "; ".join(filter(None, (row.sentence, f"e.g. {row.example}")))


def _mode_rows(view: CohortView) -> Table | None:
    sides = (view.base, view.candidate)
    return _numbers(
        ("failure mode", *sides, "change", f"{view.level} interval", ""),
        ((row[:-2], _below_mode(row)) for row in view.modes),
    )


def _below_mode(row: ModeDifference) -> str:
    example = f"e.g. {row.example}" if row.example else ""
    return "; ".join(filter(None, (example, row.basis)))


def _numbers(
    headings: Sequence[str],
    rows: Iterable[tuple[Sequence[str], str]],
    coloured: Collection[str] = (),
) -> Table | None:
    """Return a table of labels, numbers and a verdict, each with what stands below its label.

    Numbers are never parted; labels, headings and verdicts are, where there is no room. Only what
    surely changed has a colour.
    """
    found = list(rows)
    if not found:
        return None
    table = plain_table(*headings, gap=1)
    table.columns[0].min_width = len("e.g. ") + words.RUN_ID_LENGTH
    table.columns[-1].min_width = VERDICT_WIDTH
    for place, column in enumerate(table.columns[1:-1], start=1):
        column.justify = "right"
        longest = max(len(cells[place]) for cells, _ in found)
        column.width = max(longest, min(len(headings[place]), HEADING_WIDTH))
    for cells, below in found:
        label, *others, verdict = cells
        first = Text(label, overflow="fold")
        first.append(f"\n{below}" if below else "", style="dim")
        style = VERDICT_STYLES.get(verdict, "") if label in coloured else ""
        last = Text(verdict, style, overflow="fold")
        table.add_row(first, *map(Text, others), last)
    return table


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table | None:
    if not rows:
        return None
    table = plain_table(*headings)
    for row in rows:
        table.add_row(
            *(Text(cell, style=VERDICT_STYLES.get(cell, ""), overflow="fold") for cell in row)
        )
    return table
