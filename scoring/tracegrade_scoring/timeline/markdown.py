"""A run as Markdown, for an issue."""

from collections.abc import Iterator

from tracegrade.terminal.visible import visible
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.markup import bullets, code, escape, table
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.view import (
    LOOSE_TITLE,
    SUB_AGENTS_TITLE,
    StepView,
    timeline_view,
)

CHARACTERS = 300
"""Characters shown of one text, since a table has no room for more; HTML and JSON have all."""


def render_markdown(timeline: Timeline) -> str:
    """Return the run as GitHub-flavoured Markdown."""
    return "\n".join(_lines(timeline)) + "\n"


def _lines(timeline: Timeline) -> Iterator[str]:
    view = timeline_view(timeline)
    yield f"# Run of {code(view.title)}"
    if view.headline:
        yield from ("", escape(view.headline))
    facts = [(escape(name), code(value)) for name, value in view.facts]
    yield from table("Facts", ("", ""), facts)
    headings = ("step", "at", "kind", "what", "found")
    yield from table("Steps", headings, map(_step_cells, view.steps))
    if view.more_steps:
        yield from ("", f"{view.more_steps:,} more steps are not shown.")
    yield from bullets(LOOSE_TITLE, view.loose_marks)
    yield from bullets(SUB_AGENTS_TITLE, [mark.line for mark in view.sub_agent_marks])
    for title, rows in (("Sub-goals", view.sub_goals), ("Scores", view.scores)):
        yield from table(title, ("", "", ""), (tuple(map(escape, row)) for row in rows))
    yield from bullets("Not scored, and why", view.unscored)


def _step_cells(step: StepView) -> tuple[str, ...]:
    texts = (code(words.clip(visible(text.text), CHARACTERS)) for text in step.texts)
    what = " ".join((code(step.title) if step.title else "", *texts)).strip()
    found = "; ".join((*step.facts, *step.marks))
    return (str(step.index), step.offset, escape(step.kind), what, escape(found))
