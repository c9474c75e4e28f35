"""Divides the steps of a run into turns: what the person said, and what followed. Pure."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple

from markupsafe import Markup

from tracegrade_explorer import links
from tracegrade_explorer.run_view.blocks import StepBlock
from tracegrade_explorer.run_view.chat_text import chat_markup
from tracegrade_explorer.run_view.step_lines import StepLine, line_blocks
from tracegrade_scoring.rendering import words
from tracegrade_scoring.timeline.model import Step, Timeline
from tracegrade_scoring.timeline.view import TimelineView

MOST_TEXT: Final = 2_000
"""A message is cut to so many characters; a link has the whole."""
MOST_FIRST: Final = 160
"""A turn's first words have so many characters."""
MOST_LINES: Final = 40
"""A turn shows so many lines without findings, and all lines with one."""
MESSAGES: Final = frozenset({"answer", "message"})


class Bubble(NamedTuple):
    """A message of the person or the agent."""

    by: str
    """person | agent."""
    written: str
    text: Markup
    """The same as markup, cut where it is long."""
    step: int | None
    """None for the request with which the run began."""
    whole: str
    """Address of the whole text; '' if this is it."""


class Turn(NamedTuple):
    """One thing that the person said, and what the agent did until the next."""

    number: int
    """In the run, from 1."""
    first_words: str
    parts: Sequence[tuple[Bubble | None, StepLine | None]]
    """Bubbles and lines of steps in their order; one of each pair."""
    left_out: int
    """Lines without a finding that are not among them."""
    calls: int
    failed: int
    step: int | None
    """That a label of the turn names: the first with a finding, else the last."""
    found: bool
    """Whether something was found at one of its steps."""


def turns_of(timeline: Timeline, view: TimelineView) -> list[Turn]:
    """Return the turns of a run; the first begins with the request."""
    steps = {step.step_index: step for step in timeline.steps}
    blocks = line_blocks([StepBlock("", tuple(view.steps))], steps, {}, {}, {})
    lines = [line for block in blocks for line in block.lines]
    grouped = groupby(lines, key=lambda line: steps[line.view.index].turn or 0)
    by_turn: dict[int, list[StepLine]] = {}
    for turn, its in grouped:
        by_turn.setdefault(turn, []).extend(its)
    first = min(by_turn, default=0)
    by_turn.setdefault(first, [])
    return [
        _turn(turn - first + 1, by_turn[turn], steps, timeline, begins=turn == first)
        for turn in sorted(by_turn)
    ]


def _turn(
    number: int,
    lines: Sequence[StepLine],
    steps: dict[int, Step],
    timeline: Timeline,
    *,
    begins: bool,
) -> Turn:
    run = timeline.run
    parts: list[tuple[Bubble | None, StepLine | None]] = []
    said = [line for line in lines if _is_person(steps[line.view.index])]
    request = run.user_input or ""
    if begins and request and not said:
        parts.append((_bubble("person", request, None, run.trajectory_id), None))
    left_out = 0
    for line in lines:
        step = steps[line.view.index]
        if line.kind in MESSAGES and step.content:
            by = "person" if _is_person(step) else "agent"
            parts.append((_bubble(by, step.content, step, run.trajectory_id), None))
        elif line.findings or sum(1 for _, each in parts if each) < MOST_LINES:
            parts.append((None, line))
        else:
            left_out += 1
    words_of = steps[said[0].view.index].content if said else request if begins else ""
    calls = [line for line in lines if line.kind == "tool_call"]
    found = [line.view.index for line in lines if line.findings or line.view.failed]
    last = lines[-1].view.index if lines else None
    return Turn(
        number,
        words.clip(words.line(" ".join((words_of or "").split())), MOST_FIRST),
        parts,
        left_out,
        len(calls),
        sum(line.view.failed for line in calls),
        found[0] if found else last,
        bool(found),
    )


def _is_person(step: Step) -> bool:
    return step.kind == "message" and step.role == "user"


def _bubble(by: str, text: str, step: Step | None, run_id: str) -> Bubble:
    is_cut = len(text) > MOST_TEXT or (step is not None and step.longest > len(text))
    whole = ""
    if is_cut:
        whole = links.step_text(run_id, step.step_index, "content") if step else links.run(run_id)
    shown = words.clip(text, MOST_TEXT)
    return Bubble(by, text, chat_markup(shown), step.step_index if step else None, whole)
