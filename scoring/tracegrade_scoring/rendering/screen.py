"""Building blocks of every page on a terminal: sections, lists and tables of plain text.

Every text goes through rich as `Text`, never as markup, and was made visible before. So nothing in
a trace can move the cursor, color the screen or close a tag.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text


def capture(parts: Callable[[int], Iterable[RenderableType]], *, width: int, color: bool) -> str:
    """Return parts as text, at most `width` columns wide, with colors or plain.

    Args:
        parts: Gives the parts for the width that there really is, at least 40.
        width: Columns of the terminal.
        color: Whether escapes may choose colors.
    """
    console = Console(
        file=StringIO(),
        width=max(width, 40),
        force_terminal=color,
        color_system="standard" if color else None,
        legacy_windows=False,
        highlight=False,
    )
    with console.capture() as captured:
        for part in parts(console.width):
            console.print(part)
    return "\n".join(line.rstrip() for line in captured.get().split("\n"))


def section(title: str, content: RenderableType | None) -> Iterator[RenderableType]:
    """Yield content below its title, if it has one; nothing without content."""
    if content is not None:
        if title:
            yield Text(title, style="bold")
        yield content
        yield Text()


def bullets(sentences: Sequence[str]) -> Table | None:
    """Return a list of sentences; None without any."""
    if not sentences:
        return None
    grid = Table.grid(padding=(0, 1))
    for sentence in sentences:
        grid.add_row(Text("•", style="dim"), Text(sentence, overflow="fold"))
    return grid


def plain_table(*headings: str, gap: int = 3) -> Table:
    """Return an empty table under these headings, with this number of columns between two."""
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False, padding=(0, gap - 1, 0, 0))
    for heading in headings:
        table.add_column(Text(heading), overflow="fold", header_style="dim")
    return table


def texts(values: Iterable[str]) -> list[Text]:
    """Return cells, folded where they are too long."""
    return [Text(value, overflow="fold") for value in values]
