"""`--plan-marker REGEX`: plans that models write into their texts → plans of their own.

The pattern is RE2's, since a user's pattern meets texts of any length.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import re2

from tracegrade.errors import BadInput
from tracegrade_collector.importing.trajectory import Message, MessageText, Piece, Plan, Thought

_ITEM: Final = re.compile(r"[ \t]*(?:(?:step\s+)?\d+[.):]|[-*•])[ \t]+\S", re.IGNORECASE)
_JSON_START: Final = re.compile(r"(?:^|:)[ \t]*([\[{])", re.MULTILINE)
_LISTS: Final = ("plan", "steps", "todos", "items")


def parse_marker(pattern: str | None) -> Any:
    """Return the compiled pattern; None without one.

    Raises:
        BadInput: It is no RE2 pattern.
    """
    if pattern is None:
        return None
    options = re2.Options()
    options.log_errors = False
    try:
        marker = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        fault = error.args[0].decode() if isinstance(error, re2.error) else error
        msg = (
            f"--plan-marker '{pattern}' is not an RE2 pattern: {fault}; correct it "
            "(RE2 has no look-around or back-references)"
        )
        raise BadInput(msg) from error
    if marker.search("") is not None:
        msg = f"--plan-marker '{pattern}' is found in every text; give what only plans begin with"
        raise BadInput(msg)
    return marker


def marked_plans(messages: Sequence[Message], marker: Any) -> list[Message]:
    """Return the messages, with a plan before each text of the model that has the marker.

    The text is unchanged. If it has no list, all of the text from the marker on is the plan.
    """
    found = []
    for message in messages:
        pieces = [new for each in message.pieces for new in _with_plan(each, marker)]
        found.append(replace(message, pieces=pieces) if message.role == "assistant" else message)
    return found


def _with_plan(piece: Piece, marker: Any) -> list[Piece]:
    if not isinstance(piece, MessageText | Thought):
        return [piece]
    found = marker.search(piece.text)
    text = "" if found is None else plan_text(piece.text[found.start() :])
    return [Plan(text), piece] if text else [piece]


def plan_text(text: str) -> str:
    """Return the plan at the beginning of a text: JSON, else the text to its list's end."""
    lines = text.splitlines()
    items = [number for number, line in enumerate(lines) if _ITEM.match(line)]
    start = _JSON_START.search("\n".join(lines[: items[0]]) if items else text)
    if start and (plan := _json_at(text, start.start(1))):
        return plan
    if not items:
        return text.strip()
    end = next((n for n in range(items[-1], len(lines)) if not lines[n].strip()), len(lines))
    return "\n".join(lines[:end])


def _json_at(text: str, start: int) -> str | None:
    """Return the JSON at this position, if it is a list of steps or holds one."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        value = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None)
    steps = value if isinstance(value, list) else []
    is_plan = bool(steps) and all(isinstance(step, dict | str) for step in steps)
    return text[start:end] if is_plan else None
