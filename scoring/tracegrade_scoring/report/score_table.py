"""The table of a report's scores in text: a row for each metric, a column for each release."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from tracegrade_scoring.rendering.markup import code, escape, table
from tracegrade_scoring.rendering.terminal import VERDICT_STYLES
from tracegrade_scoring.report.view import AgentView, Cell, MetricRow

LABEL_WIDTH, DIFFERENCE_WIDTH, GAP = 27, 13, 2
MIN_CELL_WIDTH, MAX_CELL_WIDTH = 17, 38


def score_lines(title: str, agent: AgentView, rows: Sequence[MetricRow]) -> Iterator[str]:
    """Yield the table as Markdown; nothing without rows."""
    yield from table(title, _metric_headings(agent), map(_metric_cells, rows))


def score_tables(agent: AgentView, width: int) -> Iterator[RenderableType]:
    """Yield the table for a terminal, in parts of as many releases as the width allows."""
    for columns in _columns_that_fit(agent, width):
        yield _metric_table(agent, columns, _widths(agent, width))
        yield Text()


def _metric_headings(agent: AgentView) -> tuple[str, ...]:
    compared = (escape(agent.compared),) if agent.compared else ()
    return ("metric", *(code(label) for label in agent.labels), *compared)


def _metric_cells(row: MetricRow) -> tuple[str, ...]:
    cells = (escape(row.metric.label), *map(_cell_line, row.cells))
    if len(row.cells) == 1:
        return cells
    verdict = f" ({row.verdict})" if row.verdict else ""
    return (*cells, f"{row.difference}{verdict}")


def _cell_line(cell: Cell) -> str:
    interval = f"[{cell.interval}]" if cell.interval else ""
    details = ", ".join(part for part in (cell.counts, cell.scored) if part)
    return " ".join(
        filter(None, (f"**{cell.value}**", interval, f"({details})" if details else ""))
    )


class Widths(NamedTuple):
    """Columns of the score table, in characters."""

    label: int
    cell: int
    difference: int
    """0 if there is nothing to compare."""


def _widths(agent: AgentView, width: int) -> Widths:
    """Return what fits: cells as wide as all releases leave room for, within limits."""
    label = min(LABEL_WIDTH, width * 2 // 5)
    difference = DIFFERENCE_WIDTH if agent.compared else 0
    room = width - label - (difference + GAP if difference else 0)
    cell = min(max(room // len(agent.releases) - GAP, MIN_CELL_WIDTH), MAX_CELL_WIDTH)
    return Widths(label, min(cell, room - GAP), difference)


def _columns_that_fit(agent: AgentView, width: int) -> Iterator[range]:
    """Return the releases of each table: as many side by side as the width allows."""
    widths = _widths(agent, width)
    room = width - widths.label - (widths.difference + GAP if widths.difference else 0)
    each = max(1, room // (widths.cell + GAP))
    count = len(agent.releases)
    for start in range(0, count, each):
        yield range(start, min(start + each, count))


def _metric_table(agent: AgentView, columns: range, widths: Widths) -> Table:
    made = Table(box=box.SIMPLE, show_edge=False, padding=(0, 0, 0, GAP - 1), pad_edge=False)
    made.add_column("", width=widths.label)
    for column in columns:
        made.add_column(Text(agent.labels[column], overflow="fold"), width=widths.cell)
    compared = bool(agent.compared) and columns.stop == len(agent.releases)
    if compared:
        heading = Text(agent.compared, overflow="fold")
        made.add_column(heading, justify="right", width=widths.difference)
    for group, rows in agent.groups:
        made.add_row(Text(group, style="dim italic"))
        for row in rows:
            cells = [_cell(row.cells[column]) for column in columns]
            made.add_row(Text(f"  {row.metric.label}"), *cells, *[_difference(row)] * compared)
    return made


def _cell(cell: Cell) -> Text:
    text = Text(cell.value, style="bold", overflow="fold")
    if cell.interval:
        text.append(f"  {cell.interval}", style="not bold")
    details = ", ".join(part for part in (cell.counts, cell.scored) if part)
    if details:
        text.append(f"\n{details}", style="not bold dim")
    return text


def _difference(row: MetricRow) -> Text:
    text = Text(row.difference, style=VERDICT_STYLES.get(row.verdict, ""))
    if row.verdict:
        text.append(f"\n{row.verdict}", style="dim")
    return text
