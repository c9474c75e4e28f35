"""The blocks of a page in text, for a terminal and Markdown alike.

Reports, comparisons and timelines yield them in order; `terminal.py` and `markdown.py` write them.
Texts were made visible before; writers escape them.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from rich.console import RenderableType

TERMINAL, MARKDOWN = "terminal", "markdown"
BOTH: Final = frozenset({TERMINAL, MARKDOWN})


class Title(NamedTuple):
    """The subject of the page: names, the earlier first."""

    names: Sequence[str]
    lead: str = ""
    """In Markdown before the names."""
    on_terminal: str = ""
    """On a terminal in place of both."""


class Part(NamedTuple):
    """The beginning of a part of the page."""

    name: str


class Sentence(NamedTuple):
    """A sentence of its own; `emphasis` is strong, warning or empty."""

    text: str
    emphasis: str = ""
    only: Collection[str] = BOTH


class Advice(NamedTuple):
    """A lack, and the commands that would end it."""

    fact: str
    commands: Sequence[str]


class Bullets(NamedTuple):
    """A list of sentences below its title; nothing without sentences."""

    title: str
    sentences: Sequence[str]
    only: Collection[str] = BOTH


class Remark(NamedTuple):
    """A caveat about the block before; nothing where it is empty."""

    text: str


class GridColumn(NamedTuple):
    """A column of a table."""

    heading: str
    narrow: str | None = None
    """Its heading on a terminal, where it has another."""
    below: str | None = None
    """A terminal writes it below the first column, after this; None for a column there too."""
    number: bool = False
    """Never parted, and at the right."""
    name: bool = False
    """It holds names out of traces."""
    run: bool = False
    """It holds ids of runs; a terminal shows their beginnings."""
    ours: bool = False
    """It holds texts of this package, as does its heading: Markdown escapes neither."""
    titled: bool = False
    """The heading alone is a text of this package."""


class Grid(NamedTuple):
    """A table below its title; nothing without rows."""

    title: str
    columns: Sequence[GridColumn]
    rows: Sequence[Sequence[str]]
    colored: Collection[str] | None = None
    """Names of rows whose verdict has a color; None for each cell that is one."""
    only: Collection[str] = BOTH
    of: str = ""
    """A name behind the title."""
    note: str = ""
    most: int | None = None
    """Rows on a terminal; None for all."""
    rest: str = ""
    """On a terminal how many others there are."""
    remarks: Sequence[str] = ()
    """On a terminal a list below it."""
    gap: int = 3


class Brief(NamedTuple):
    """One row on a terminal, in place of columns."""

    before: Sequence[str]
    strong: str
    detail: str = ""
    below: str = ""


class Briefs(NamedTuple):
    """Rows below their title on a terminal; nothing without rows."""

    title: str
    rows: Sequence[Brief]
    rest: str = ""
    of: str = ""
    gap: int = 2


class Own(NamedTuple):
    """Parts that each format writes in its own way; a terminal gets its width."""

    markdown: Iterable[str] = ()
    terminal: Callable[[int], Iterable[RenderableType]] = lambda width: ()


class FactList(NamedTuple):
    """Properties of a run as a whole, and their values."""

    title: str
    rows: Sequence[tuple[str, str]]


class Quote(NamedTuple):
    """A text of several lines; Markdown has no room for it."""

    text: str


class StepText(NamedTuple):
    """One text of a step."""

    title: str
    text: str
    """With line ends; other characters that act are spelled out."""


@dataclass(frozen=True)
class StepView:
    """One step in words."""

    index: int
    kind: str
    title: str
    """The tool, or the role of the speaker."""
    failed: bool
    facts: tuple[str, ...]
    """Status, tokens, effect, sub-goal, flags."""
    texts: tuple[StepText, ...]
    marks: tuple[str, ...]
    offset: str
    duration: str
    start_share: float
    """Where its bar starts, 0..100 of the run's time."""
    width_share: float


class StepList(NamedTuple):
    """StepList of a run, and how many more there are."""

    steps: Sequence[StepView]
    more: int


TextBlock: TypeAlias = (
    Title
    | Part
    | Sentence
    | Advice
    | Bullets
    | Remark
    | Grid
    | Briefs
    | Own
    | FactList
    | Quote
    | StepList
)


def columns(*headings: str, names: int = 1, ours: bool = False) -> list[GridColumn]:
    """Return columns, the first of them of names; `ours` is about the others."""
    named = [GridColumn(heading, name=True) for heading in headings[:names]]
    return [*named, *(GridColumn(heading, ours=ours) for heading in headings[names:])]
