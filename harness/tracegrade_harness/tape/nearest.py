"""Finds the recorded call that is most like a missing one, and the first difference."""

import json
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import takewhile, zip_longest
from typing import Any, Final

from tracegrade_harness.tape.entries import TapeKey

MAX_COMPARED: Final = 200
"""Most calls that are compared."""
MAX_CHARS: Final = 2000
"""Characters of each call's arguments that are compared."""
MAX_VALUE_CHARS: Final = 80
_ABSENT: Final = object()


def nearest(key: TapeKey, others: Sequence[TapeKey]) -> str:
    """Return how a call differs from the nearest other one, as the end of a sentence."""
    same = [other for other in others if other.channel == key.channel]
    if not same:
        return f"nothing of {key.channel} is on it"
    named = [other for other in same if other.name == key.name]
    if not named:
        names = sorted({other.name for other in same})
        return f"it has {', '.join(names[:5])}{', …' if names[5:] else ''}"
    matcher = SequenceMatcher(b=key.arguments[:MAX_CHARS], autojunk=False)

    def likeness(other: TapeKey) -> tuple[int, float]:
        matcher.set_seq1(other.arguments[:MAX_CHARS])
        return _shared_messages(key, other), matcher.quick_ratio()

    best = max(named[:MAX_COMPARED], key=likeness)
    path, now, then = difference(json.loads(key.arguments), json.loads(best.arguments))
    return f"the nearest has {_value_text(then)} at {path} instead of {_value_text(now)}"


def _shared_messages(one: TapeKey, other: TapeKey) -> int:
    """Return the number of equal first messages of two conversations; 0 if they are none."""
    both = [_messages(json.loads(key.arguments)) for key in (one, other)]
    pairs = zip(*both, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _messages(arguments: Any) -> list[str | None]:
    found = arguments.get("messages") if isinstance(arguments, dict) else None
    return [*map(_text, found)] if isinstance(found, list) else []


def difference(one: Any, other: Any, path: str = "$") -> tuple[str, Any, Any]:
    """Return the first difference between two JSON values, and both values there."""
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = [
            (f"{path}.{key}", one.get(key, _ABSENT), other.get(key, _ABSENT))
            for key in sorted({*one, *other})
        ]
    elif isinstance(one, list) and isinstance(other, list):
        both = enumerate(zip_longest(one, other, fillvalue=_ABSENT))
        pairs = [(f"{path}[{i}]", *values) for i, values in both]
    else:
        return path, one, other
    for place, left, right in pairs:
        if _text(left) != _text(right):
            return difference(left, right, place)
    return path, one, other


def _text(value: Any) -> str | None:
    """Return a text that identifies a value, with `true` and 1 distinct; None for no value."""
    return None if value is _ABSENT else json.dumps(value, sort_keys=True)


def _value_text(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[:MAX_VALUE_CHARS]}…"
