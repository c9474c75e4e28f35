"""Blocks on a terminal, or as plain text elsewhere."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.blocks import (
    TERMINAL,
    Advice,
    Briefs,
    Bullets,
    FactList,
    Grid,
    GridColumn,
    Own,
    Part,
    Quote,
    Remark,
    Sentence,
    StepList,
    StepView,
    TextBlock,
    Title,
    columns,
)
from tracegrade_scoring.rendering.screen import bullets, capture, plain_table, section, texts

CHARACTERS: Final = 600
"""Shown of one text; HTML and JSON have all of it."""
HEADING_WIDTH: Final = 12
"""Longer names are folded above a column of numbers."""
VERDICT_WIDTH: Final = 6
SENTENCE_STYLES: Final = {"": "", "strong": "bold", "warning": "yellow"}
VERDICT_STYLES: Final = {"better": "green", "worse": "red", "broken": "red", "unjudged": "red"}


def write_terminal(blocks: Iterable[TextBlock], *, width: int, color: bool) -> str:
    """Return blocks as text, at most `width` columns wide, with colors or plain."""
    return capture(
        lambda width: (part for block in blocks for part in _parts(block, width)),
        width=width,
        color=color,
    )


def _parts(block: TextBlock, width: int) -> Iterator[RenderableType]:
    match block:
        case Title():
            yield Text(block.on_terminal or " → ".join(block.names), style="bold")
        case Part():
            yield Text()
            yield Rule(Text(block.name, style="bold"), align="left", style="dim")
        case Sentence() if TERMINAL in block.only:
            yield Text(block.text, style=SENTENCE_STYLES[block.emphasis], overflow="fold")
        case Advice():
            yield Padding(Text(block.fact, style="yellow"), (1, 0, 0, 0))
            yield from (Text(f"  {command}", style="bold") for command in block.commands)
        case Quote() if block.text:
            yield Padding(Text(words.clip(block.text, CHARACTERS)), (1, 0, 0, 2))
        case Own():
            yield from block.terminal(width)
        case StepList():
            yield from _steps(block)
        case _:
            yield from _listed(block)


def _listed(block: TextBlock) -> Iterator[RenderableType]:
    """Yield a list or a table."""
    match block:
        case Bullets(title="") if TERMINAL in block.only:
            yield from filter(None, [bullets(block.sentences)])
            yield Text()
        case Bullets() if TERMINAL in block.only:
            yield from section(block.title, bullets(block.sentences))
        case Remark() if block.text:
            yield from filter(None, [bullets([block.text])])
            yield Text()
        case FactList():
            yield _texts(Grid("", columns("", ""), block.rows, colored=()))
        case Briefs() if block.rows:
            yield from section(_title(block), _with([_briefs(block)], [block.rest]))
        case Grid() if TERMINAL in block.only and block.rows:
            numbers = any(each.number for each in block.columns)
            table = _numbers(block) if numbers else _texts(block)
            remarks = filter(None, [bullets(block.remarks)])
            yield from section(_title(block), _with([table, *remarks], [block.note, block.rest]))
        case _:
            pass


def _title(block: Grid | Briefs) -> str:
    return f"{block.title}, {block.of}" if block.of else block.title


def _with(parts: Sequence[RenderableType], notes: Sequence[str]) -> RenderableType:
    return Group(*parts, *(Text(note, style="dim") for note in notes if note))


def _briefs(block: Briefs) -> Table:
    table = Table.grid(padding=(0, block.gap))
    for row in block.rows:
        text = Text(row.strong, style="bold", overflow="fold")
        text.append(f"  {row.detail}" if row.detail else "", style="not bold")
        text.append(f"\n{row.below}" if row.below else "", style="not bold dim")
        table.add_row(*texts(row.before), text)
    return table


def _texts(grid: Grid) -> Table:
    """Return a table of texts; a verdict among them has its color."""
    table = plain_table(*map(_heading, grid.columns), gap=grid.gap)
    table.show_header = any(each.heading for each in grid.columns)
    styles = VERDICT_STYLES if grid.colored is None else {}
    for row in grid.rows[: grid.most]:
        cells = (
            words.run(cell) if each.run else cell
            for each, cell in zip(grid.columns, row, strict=True)
        )
        table.add_row(*(Text(cell, styles.get(cell, ""), overflow="fold") for cell in cells))
    return table


def _numbers(grid: Grid) -> Table:
    """Return a table of labels, numbers and a verdict, with more below each label.

    Numbers are never parted; labels, headings and verdicts are, where there is no room.
    """
    shown = [index for index, each in enumerate(grid.columns) if each.below is None]
    numbers = [index for index in shown if grid.columns[index].number]
    verdict = shown[-1] if shown[-1] not in numbers else None
    rows = grid.rows[: grid.most]
    headings = [_heading(grid.columns[index]) for index in (0, *numbers)]
    table = plain_table(*headings, "", gap=1)
    table.columns[0].min_width = len("e.g. ") + words.RUN_ID_LENGTH
    table.columns[-1].min_width = VERDICT_WIDTH
    for index, column in zip(numbers, table.columns[1:-1], strict=True):
        longest = max(len(row[index]) for row in rows)
        column.justify = "right"
        column.width = max(longest, min(len(_heading(grid.columns[index])), HEADING_WIDTH))
    for row in rows:
        first = Text(row[0], overflow="fold")
        below = "; ".join(
            each.below + cell
            for each, cell in zip(grid.columns, row, strict=True)
            if each.below is not None and cell
        )
        first.append(f"\n{below}" if below else "", style="dim")
        label = "" if verdict is None else row[verdict]
        style = VERDICT_STYLES.get(label, "") if row[0] in (grid.colored or ()) else ""
        last = Text(label, style, overflow="fold")
        table.add_row(first, *(Text(row[index]) for index in numbers), last)
    return table


def _heading(column: GridColumn) -> str:
    return column.heading if column.narrow is None else column.narrow


def _steps(block: StepList) -> Iterator[RenderableType]:
    yield Text()
    for step in block.steps:
        yield from _step(step)
    if block.more:
        yield Text(f"… and {block.more:,} more steps", style="dim")
    yield Text()


def _step(step: StepView) -> Iterator[RenderableType]:
    head = Text(f"{step.index:>4} ", style="dim", overflow="fold")
    head.append(f"{step.offset:>9}  ", style="dim")
    head.append(step.kind, style="red" if step.failed else "cyan")
    head.append(f"  {step.title}", style="bold")
    if step.facts:
        head.append(f"  {', '.join(step.facts)}", style="red" if step.failed else "dim")
    yield head
    for mark in step.marks:
        yield Padding(Text(f"! {mark}", style="red", overflow="fold"), (0, 0, 0, 16))
    for text in step.texts:
        title = f"{text.title}: " if text.title else ""
        line = Text(title + words.clip(text.text, CHARACTERS), overflow="fold")
        yield Padding(line, (0, 0, 0, 16))
