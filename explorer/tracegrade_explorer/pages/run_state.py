"""The state of one run in a sentence, and what its page asks for to see that more has come."""

from typing import Final

from tracegrade_explorer.pages.cells import last_span, span_age
from tracegrade_explorer.snapshots.snapshot import Row
from tracegrade_scoring.rendering import words
from tracegrade_scoring.run_states import RunState
from tracegrade_scoring.timeline.model import Timeline

NO_END: Final = "no end is recorded"


def state_sentence(row: Row, timeline: Timeline, *, is_scoring: bool) -> str:
    """Return what a run does, or waits for; '' once it is scored.

    Args:
        row: Of the index, with its state.
        timeline: The run.
        is_scoring: A scoring run is under way.
    """
    state = row["state"]
    if state is RunState.RUNNING:
        parts = [words.count(row["tool_call_count"] or 0, "call"), *_last_call(timeline)]
        return f"Running: {', '.join([*parts, *_last_span(row)])}."
    if state is RunState.SILENT:
        return f"Silent: no span for {span_age(row)}, {', '.join([NO_END, *_last_span(row)])}."
    if state is RunState.CUT_OFF:
        return f"Cut off: {', '.join([NO_END, *_last_span(row)])}."
    if state is RunState.ENDED:
        doing = "being scored" if is_scoring else "waiting to be scored"
        return f"Ended, {', '.join([doing, *_last_span(row)])}."
    return ""


def _last_span(row: Row) -> list[str]:
    """Return when the last span came, also as a time: the page may be saved."""
    if row["received_at"] is None:
        return []
    return [last_span(row), f"on {row['received_at']:%d %B %Y, %H:%M:%S} UTC"]


def _last_call(timeline: Timeline) -> list[str]:
    """Return the last call in words, if the page has the last steps."""
    steps = timeline.steps
    if not steps or steps[-1].step_index + 1 < timeline.total_steps:
        return []
    calls = [step.tool_name for step in steps if step.kind == "tool_call"]
    return [f"last {words.name(calls[-1])}"] if calls else []


def news_pairs(row: Row) -> list[tuple[str, str]]:
    """Return what the page of a run shows, as `/state.json` takes it."""
    on_page = {"run": row["trajectory_id"], "steps": str(row["step_count"] or 0)}
    return [*on_page.items(), ("state", row["state"] or "")]
