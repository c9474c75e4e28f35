"""A table of an HTML page: columns of a kind, and rows of texts and links to runs.

The macro `table` of `templates/_tables.html.j2` writes it; `Grid` is its counterpart in text.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

NAME, NUMBER, LONG, FAINT, ROW_HEADING = "name", "num", "long", "basis", "row"
"""Kinds of columns: names out of traces, numbers, sentences, the basis of a row, its heading."""


class RunLink(NamedTuple):
    """A run that a row names, by its page where it has one."""

    trajectory_id: str
    step_index: int | None = None


class HtmlCell(NamedTuple):
    """One cell: a text, then the runs that show it."""

    text: str
    runs: Sequence[RunLink] = ()
    lead: str = ""
    """Before the runs."""
    own_line: bool = False
    """Whether the runs are on a line below the text."""
    href: str = ""
    """Where the text leads; '' for nowhere."""


class HtmlColumn(NamedTuple):
    """One column; `kind` is one of the five above or ''."""

    heading: str
    kind: str = ""


class HtmlTable(NamedTuple):
    """A table, whose rows have a cell for each column."""

    columns: Sequence[HtmlColumn]
    rows: Sequence[Sequence[HtmlCell]]
    stacked: bool = True
    """Whether a narrow screen shows cells below each other, each after its heading."""


CellContent: TypeAlias = str | HtmlCell


def html_table(
    columns: Iterable[tuple[str, str]],
    rows: Iterable[Iterable[CellContent]],
    *,
    stacked: bool = True,
) -> HtmlTable:
    """Return a table of these headings and kinds, and of these rows."""
    cells = [[HtmlCell(each) if isinstance(each, str) else each for each in row] for row in rows]
    return HtmlTable([HtmlColumn(*column) for column in columns], cells, stacked)


def text_table(headings: Sequence[str], rows: Iterable[Iterable[CellContent]]) -> HtmlTable:
    """Return a table whose columns are all of plain text."""
    return html_table(((heading, "") for heading in headings), rows)
