"""Puts the verdicts on a run and its parts into sentences."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from tracegrade_scoring.rendering import words
from tracegrade_scoring.timeline.model import RunVerdict

ABOUT: Final[Mapping[str, Callable[[RunVerdict], str]]] = {
    "sub_goal": lambda verdict: f"sub-goal {words.name(verdict.sub_goal)} was reached",
    "served": lambda verdict: (
        f"step {verdict.step_index} serves sub-goal {words.name(verdict.sub_goal)}"
    ),
    "planning": lambda verdict: f"plan: {words.name(verdict.question).replace('_', ' ')}",
    "rollback": lambda verdict: f"undone after the {words.name(verdict.kill_point)} kill",
}
"""By subject, what a verdict affirms or denies. Those on success stand with the outcome."""


def success_sentences(verdicts: Iterable[RunVerdict]) -> list[str]:
    """Return each verdict on the run's success with who gave it, and why."""
    return [
        f"{_who(verdict)} says {_label(verdict)}" + (f": {why}" if (why := _why(verdict)) else "")
        for verdict in verdicts
        if verdict.subject == "success"
    ]


def verdict_rows(verdicts: Iterable[RunVerdict], total: int) -> Iterator[tuple[str, str, str]]:
    """Yield subject, content and source of each verdict on a part of the run.

    Args:
        verdicts: The first of the run's, in order.
        total: Number of verdicts; a last row counts those after the first.
    """
    given = 0
    for verdict in verdicts:
        given += 1
        if (about := ABOUT.get(verdict.subject or "")) is not None:
            why = f" ({why})" if (why := _why(verdict)) else ""
            yield about(verdict), _label(verdict), f"{_who(verdict)}{why}"
    if total > given:
        yield f"{total - given:,} more verdicts", "", "the table verdicts of the lake has them all"


def _who(verdict: RunVerdict) -> str:
    rank, _, name = (verdict.source or "").partition(":")
    who = {"human": name, "judge": f"judge {name}"}.get(rank) if name else None
    return words.name(who or verdict.source, "a verifier")


def _label(verdict: RunVerdict) -> str:
    value = "" if verdict.value is None else words.number(verdict.value)
    return words.name(verdict.label, value or "no value")


def _why(verdict: RunVerdict) -> str:
    return words.line(verdict.evidence) if verdict.evidence else ""
