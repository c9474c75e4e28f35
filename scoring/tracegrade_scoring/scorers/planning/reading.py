"""Reads the steps of a plan, declared as JSON or written as a list in a text.

    1. Read the orders with search_orders
    2. issue_refund (destructive): undo by reversing it
       - if it fails, open a ticket

Its own module because a text says with words what a structured plan says with keys. In a text a
list item ends where the next of its level begins, so that what is nested belongs to it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from tracegrade_scoring.attempts.plan_steps import LIST_KEYS, MAX_STEPS, read_json, text_of

_ITEM: Final = re.compile(r"^([ \t]*)(?:(?:step\s+)?\d+[.):]|[-*•])[ \t]+(?=\S)", re.I | re.M)
_ENDS: Final = (
    (re.compile(r"[\[{]"), re.compile(r"[\]}]")),
    (re.compile(r"\[\s*\{"), re.compile(r"\}\s*\]")),
)
"""The beginnings and ends of JSON in a text: any bracket, else those of a list of objects."""

_FAILURE_BRANCH: Final = re.compile(
    r"\b(?:if|when|in case|should)\b[^.;\n]*\b(?:fail\w*|errors?|times? out|timeouts?|missing|"
    r"unavailable|invalid|malformed|empty|not (?:found|exist|work|possible|available))\b"
    r"|\bon (?:failure|error|timeout)\b|\bfall(?:s|ing)? ?back\b|\bretr(?:y|ies)\b|\botherwise\b",
    re.I,
)
_MARK: Final = re.compile(
    r"[\[(](?:write|destructive)[\])]|\b(?:destructive|(?:ir)?reversible)\b", re.I
)
_ROLLBACK: Final = re.compile(
    r"\broll(?:s|ing|ed)?[ -]?back\b|\bundo\w*\b|\breverts?\b|\brestor(?:e|es|ing)\b"
    r"|\breversible\b",
    re.I,
)


class WordMarks(NamedTuple):
    """The marks that a step has in its words."""

    changes: bool
    rollback: bool
    branch: bool


class PlannedStep(NamedTuple):
    """One step of a plan."""

    id: str | None
    text: str
    tool: str | None
    inputs: tuple[str, ...] | None
    """None where the plan does not say."""
    outputs: tuple[str, ...] | None
    effect: str | None
    """As the plan marks it."""
    marked: bool
    """The plan says that it changes something."""
    rollback: bool
    """The plan says how to undo it."""
    branch: bool
    """The plan says what to do if it fails."""


def text_marks(text: str) -> WordMarks:
    """Return what a text says: it changes something, how to undo it, what to do if it fails."""
    rollback = _ROLLBACK.search(text) is not None
    return WordMarks(
        changes=rollback or _MARK.search(text) is not None,
        rollback=rollback,
        branch=_FAILURE_BRANCH.search(text) is not None,
    )


def read_steps(
    plan: str, marks: Callable[[str], WordMarks] = text_marks
) -> tuple[PlannedStep, ...]:
    """Return the steps of a plan in order; none if the text holds no plan.

    Args:
        plan: A JSON list or an object that holds one, alone or within a text; else a text whose
            numbered or bulleted items are steps.
        marks: `text_marks`, or a cached form of it where many plans repeat the same texts.
    """
    items = json_items(plan)
    if items is None:
        return tuple(_from_text(text, marks) for text in list(_text_items(plan))[:MAX_STEPS])
    return tuple(
        _from_object(item, marks) if isinstance(item, dict) else _from_text(str(item), marks)
        for item in items[:MAX_STEPS]
    )


def json_items(plan: str) -> list[Any] | None:
    """Return the items of a plan that is a JSON list or has one; None where it is a text."""
    if plan[:1] in ("[", "{") and (items := _items_of(plan)) is not None:
        return items
    lists = map(_items_of, _json_texts(plan))
    return next((items for items in lists if items is not None), None)


def is_in_words(plan: str) -> bool:
    """Return whether a plan says something and holds no list, not even an empty one."""
    parsed = read_json(plan, plan.strip())
    return bool(parsed) and json_items(plan) is None


def _json_texts(text: str) -> Iterator[str]:
    """Yield what may be JSON in a text, from where it may first begin to where it may last end."""
    for begins, ends in _ENDS:
        first = begins.search(text)
        last = max((end.end() for end in ends.finditer(text)), default=0)
        if first and first.start() < last:
            yield text[first.start() : last]


def _items_of(text: str) -> list[Any] | None:
    value = read_json(text)
    if isinstance(value, dict):
        value = next((value[key] for key in LIST_KEYS if isinstance(value.get(key), list)), None)
    return value if isinstance(value, list) else None


def _text_items(text: str) -> Iterator[str]:
    """Yield the items of the outermost list of a text, each with what is nested in it; or none."""
    marks = list(_ITEM.finditer(text))
    outermost = min((_depth(mark) for mark in marks), default=0)
    tops = [mark for mark in marks if _depth(mark) == outermost]
    starts = [*(mark.start() for mark in tops), len(text)]
    for mark, end in zip(tops, starts[1:], strict=True):
        yield text[mark.end() : end].strip()


def _depth(mark: re.Match[str]) -> int:
    return len(mark[1].expandtabs(4))


def _from_text(text: str, marks: Callable[[str], WordMarks]) -> PlannedStep:
    return PlannedStep(None, text, None, None, None, None, *marks(text))


def _from_object(item: Mapping[str, Any], marks: Callable[[str], WordMarks]) -> PlannedStep:
    get = item.get
    text = text_of(item)
    changes, rollback, branch = marks(text)
    effect = _name(get("effect"))
    undone = rollback or bool(get("rollback"))
    return PlannedStep(
        id=_name(get("id")),
        text=text,
        tool=_name(get("tool")),
        inputs=_names(get("inputs")),
        outputs=_names(get("outputs")),
        effect=effect,
        marked=changes or undone or effect in ("write", "destructive"),
        rollback=undone,
        branch=branch or bool(get("on_failure")),
    )


def _name(value: object) -> str | None:
    return None if value is None or value == "" else str(value)


def _names(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)
