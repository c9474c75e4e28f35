"""Blocks as GitHub-flavored Markdown, for a pull request, an issue or a wiki."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tracegrade.terminal.visible import visible
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.blocks import (
    MARKDOWN,
    Advice,
    Bullets,
    FactList,
    Grid,
    GridColumn,
    Own,
    Part,
    Remark,
    Sentence,
    StepList,
    StepView,
    TextBlock,
    Title,
)
from tracegrade_scoring.rendering.markup import bullets, code, escape, table

CHARACTERS: Final = 300
"""Shown of one text, since a table has no room for more; HTML and JSON have all."""
STEP_HEADINGS: Final = ("step", "at", "kind", "what", "found")


def write_markdown(blocks: Iterable[TextBlock]) -> str:
    """Return blocks as Markdown."""
    return "\n".join(line for block in blocks for line in _lines(block)) + "\n"


def _lines(block: TextBlock) -> Iterator[str]:
    match block:
        case Title():
            yield f"# {block.lead}" + " → ".join(map(code, block.names))
        case Part():
            yield from ("", f"## {code(block.name)}")
        case Sentence() if MARKDOWN in block.only:
            text = escape(block.text)
            yield from ("", f"**{text}**" if block.emphasis else text)
        case Advice():
            yield from ("", f"> {escape(block.fact)}", ">")
            yield from (f"> {code(command)}" for command in block.commands)
        case Own():
            yield from block.markdown
        case StepList():
            yield from table("Steps", STEP_HEADINGS, map(_step, block.steps))
            if block.more:
                yield from ("", f"{block.more:,} more steps are not shown.")
        case _:
            yield from _listed(block)


def _listed(block: TextBlock) -> Iterator[str]:
    """Yield a list or a table."""
    match block:
        case Bullets() if MARKDOWN in block.only and block.sentences:
            if block.title:
                yield from bullets(block.title, block.sentences)
            else:
                yield from ("", *(f"- {escape(sentence)}" for sentence in block.sentences))
        case Remark() if block.text:
            yield from ("", escape(block.text))
        case FactList():
            facts = [(escape(name), code(value)) for name, value in block.rows]
            yield from table(block.title, ("", ""), facts)
        case Grid() if MARKDOWN in block.only:
            title = f"{block.title}, {code(block.of)}" if block.of else block.title
            rows = (_cells(block, row) for row in block.rows)
            yield from table(title, [*map(_heading, block.columns)], rows)
            if block.rows and block.note:
                yield from ("", escape(block.note))
        case _:
            pass


def _heading(column: GridColumn) -> str:
    return column.heading if column.ours or column.titled else escape(column.heading)


def _cells(grid: Grid, row: Sequence[str]) -> list[str]:
    return [
        code(cell) if each.name else cell if each.ours else escape(cell)
        for each, cell in zip(grid.columns, row, strict=True)
    ]


def _step(step: StepView) -> tuple[str, ...]:
    texts = (code(words.clip(visible(text.text), CHARACTERS)) for text in step.texts)
    what = " ".join((code(step.title) if step.title else "", *texts)).strip()
    found = "; ".join((*step.facts, *step.marks))
    return (str(step.index), step.offset, escape(step.kind), what, escape(found))
