"""Puts the verdicts on a run and its parts into sentences."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import orjson

from tracegrade_scoring.rendering import words
from tracegrade_scoring.timeline.model import RunVerdict

HARNESS: Final = "harness"
"""Source of verdicts whose evidence is the JSON object that `tracegrade harness` writes."""
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
    if verdict.subject == "success" and verdict.source == HARNESS:
        value = {"1": "succeeded", "0": "failed"}.get(value, value)
    return words.name(verdict.label, value or "no value")


def _why(verdict: RunVerdict) -> str:
    """Return the explanation that was given; the harness gives counts, checks and notes."""
    text = verdict.evidence or ""
    if verdict.source == HARNESS and (given := _object(text)):
        text = "; ".join(_of_harness(given)) or text
    return words.line(text) if text else ""


def _object(text: str) -> Mapping[str, Any] | None:
    """Return the members of a text that is a JSON object; None if it is none."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _of_harness(given: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the harness found in sentences: how the run ended, its checks, what is left."""
    if (status := given.get("status")) not in {None, "done"}:
        yield f"the run ended with {status}"
    yield from _of_checks([each for each in _items(given, "verifiers") if isinstance(each, dict)])
    if isinstance(left := given.get("left"), int):
        yield f"{words.count(left, 'object')} left changed" if left else "nothing is left"
    if reason := given.get("reason"):
        yield str(reason)
    yield from map(str, _items(given, "notes"))
    if misses := _items(given, "tape_misses"):
        yield f"{words.count(len(misses), 'call')} not on the tape"


def _of_checks(checks: list[Mapping[str, Any]]) -> Iterator[str]:
    if not checks:
        return
    others = [check for check in checks if check.get("outcome") != "pass"]
    yield f"{len(checks) - len(others)} of {words.count(len(checks), 'check')} passed"
    yield from (str(check.get("evidence") or check.get("verifier")) for check in others)


def _items(given: Mapping[str, Any], name: str) -> list[Any]:
    found = given.get(name)
    return found if isinstance(found, list) else []
