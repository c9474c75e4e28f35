"""The first wrong step of a run, as a few lines of text."""

from collections.abc import Iterator
from typing import Final

from tracegrade_scoring.rendering import words
from tracegrade_scoring.timeline.model import Step, Timeline
from tracegrade_scoring.timeline.view import headline_lead, mark_sentence

LONGEST: Final = 500
"""Characters of a text that are shown."""


def first_wrong_step(timeline: Timeline) -> str:
    """Return what went wrong first: the outcome, the step, and what scoring found there.

    Returns:
        '' if nothing was found.
    """
    return "\n".join(_lines(timeline))


def _lines(timeline: Timeline) -> Iterator[str]:
    sentences = "; ".join(words.line(reason.sentence) for reason in timeline.headline)
    if sentences:
        yield f"{headline_lead(timeline)} {sentences}".strip()
    step = next((each for each in timeline.steps if timeline.marks_at(each.step_index)), None)
    if step is not None:
        yield f"step {step.step_index}: {_called(step)}"
        for mark in timeline.marks_at(step.step_index):
            yield f"  {mark_sentence(mark)}"
    for mark in timeline.marks_at(None):
        yield mark_sentence(mark)


def _called(step: Step) -> str:
    """Return a step on one line: a call as a call, else its kind."""
    if not step.tool_name:
        return words.name(step.kind).replace("_", " ")
    result = f" -> {_short(step.result or step.error)}" if step.result or step.error else ""
    return f"{words.name(step.tool_name)}({_short(step.arguments)}){result}"


def _short(text: str | None) -> str:
    return words.clip(words.line(text or ""), LONGEST)
