"""A run in text: on a terminal, and as Markdown for an issue."""

from collections.abc import Iterator

from tracegrade_scoring.rendering.blocks import (
    TERMINAL,
    Bullets,
    FactList,
    Grid,
    Quote,
    Sentence,
    StepList,
    TextBlock,
    Title,
    columns,
)
from tracegrade_scoring.rendering.markdown import write_markdown
from tracegrade_scoring.rendering.terminal import write_terminal
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.view import LOOSE_TITLE, SUB_AGENTS_TITLE, timeline_view


def render_terminal(timeline: Timeline, *, width: int, color: bool) -> str:
    """Return the run as text, at most `width` columns wide, with colors or plain."""
    return write_terminal(_blocks(timeline), width=width, color=color)


def render_markdown(timeline: Timeline) -> str:
    """Return the run as GitHub-flavored Markdown."""
    return write_markdown(_blocks(timeline))


def _blocks(timeline: Timeline) -> Iterator[TextBlock]:
    view = timeline_view(timeline)
    yield Title([view.title], lead="Run of ")
    if view.headline:
        yield Sentence(view.headline)
    yield FactList("Facts", view.facts)
    yield Quote(view.request)
    yield StepList(view.steps, view.more_steps)
    yield Bullets(LOOSE_TITLE, view.loose_marks)
    yield Bullets(SUB_AGENTS_TITLE, [mark.line for mark in view.sub_agent_marks])
    parts = (("Sub-goals", view.sub_goals), ("Verdicts", view.verdicts), ("Scores", view.scores))
    for title, rows in parts:
        yield Grid(title, columns("", "", "", names=0), rows, colored=())
    yield Bullets("Not scored, and why", view.unscored)
    yield Bullets("Sub-agents' runs", view.children, only={TERMINAL})
