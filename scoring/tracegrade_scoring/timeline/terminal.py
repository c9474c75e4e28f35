"""A run on a terminal, or as plain text where there is none."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.screen import bullets, capture, plain_table, section, texts
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.view import (
    LOOSE_TITLE,
    SUB_AGENTS_TITLE,
    StepView,
    TimelineView,
    timeline_view,
)

CHARACTERS = 600
"""Lines shown of one text; HTML and JSON have all of it."""


def render_terminal(timeline: Timeline, *, width: int, colour: bool) -> str:
    """Return the run as text, at most `width` columns wide, with colours or plain."""
    view = timeline_view(timeline)
    return capture(lambda _: _parts(view), width=width, colour=colour)


def _parts(view: TimelineView) -> Iterator[RenderableType]:
    yield Text(view.title, style="bold")
    if view.headline:
        yield Text(view.headline, overflow="fold")
    facts = plain_table("", "")
    facts.show_header = False
    for fact in view.facts:
        facts.add_row(*texts(fact))
    yield facts
    if view.request:
        yield Padding(Text(words.clip(view.request, CHARACTERS)), (1, 0, 0, 2))
    yield Text()
    for step in view.steps:
        yield from _step(step)
    if view.more_steps:
        yield Text(f"… and {view.more_steps:,} more steps", style="dim")
    yield Text()
    yield from section(LOOSE_TITLE, bullets(view.loose_marks))
    yield from section(SUB_AGENTS_TITLE, bullets([mark.line for mark in view.sub_agent_marks]))
    yield from section("Sub-goals", _table(view.sub_goals))
    yield from section("Scores", _table(view.scores))
    yield from section("Not scored, and why", bullets(view.unscored))
    yield from section("Sub-agents' runs", bullets(view.children))


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
        yield Padding(
            Text(title + words.clip(text.text, CHARACTERS), overflow="fold"), (0, 0, 0, 16)
        )


def _table(rows: tuple[tuple[str, str, str], ...]) -> RenderableType | None:
    if not rows:
        return None
    table = plain_table("", "", "")
    table.show_header = False
    for row in rows:
        table.add_row(*texts(row))
    return table
