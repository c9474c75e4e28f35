"""A test case of another tool → a task: the calls and answers it expects, and what is left out."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tracegrade_collector.importing.chat import read_call
from tracegrade_collector.importing.spellings import block_text, joined
from tracegrade_collector.importing.trajectory import ToolCall
from tracegrade_scoring.tasks.expected_value import as_key, literally

MAX_NAME: Final = 100
"""Characters of a user's text that name a task without a name of its own."""

_EMPTY: Final[tuple[Any, ...]] = (None, "", 0, False, [], {})


@dataclass(frozen=True)
class CaseTask:
    """The task of a test case."""

    name: str
    category: str | None = None
    user_input: str | None = None
    """The text that the user begins with."""

    expected: Sequence[Mapping[str, Any]] | None = None
    """Decision points of a task file; None: the case expects no particular calls."""

    reference: str | Sequence[str] | None = None
    """The right answer, or that of each turn."""

    left_out: Counter[str] = field(default_factory=Counter)
    """Counts of what a task file cannot express, by reason."""


def decision_of(call: ToolCall, turn: int | None = None) -> dict[str, Any] | None:
    """Return a call as a decision point of a task file; None if its arguments cannot be read."""
    at = {} if turn is None else {"turn": turn}
    if call.arguments is None:
        return {"tool": call.name, **at}
    arguments = _object(call.arguments)
    if arguments is None:
        return None
    stated = {as_key(key): literally(value) for key, value in arguments.items()}
    return {"tool": call.name, "arguments": stated, **at}


def decisions_of(
    values: Any, left_out: Counter[str], turn: int | None = None
) -> list[dict[str, Any]]:
    """Return expected calls as decision points; a text is the name of a tool."""
    found = []
    for value in as_list(values):
        call = read_call(value) if isinstance(value, dict) else ToolCall(None, str(value), None)
        is_named = isinstance(value, dict | str) and bool(call.name)
        if is_named and (decision := decision_of(call, turn)) is not None:
            found.append(decision)
        else:
            left_out["expected calls that name no tool or no arguments"] += 1
    return found


def text_of(content: Any) -> str:
    """Return the texts of a content's parts as one."""
    parts = as_list(as_object(content).get("parts"))
    return joined([text for part in parts if (text := block_text(part))])


def filled(case: Mapping[str, Any], kinds: Mapping[str, str]) -> Counter[str]:
    """Return counts of the fields of a case that hold something, each by what it is."""
    return Counter(kinds[key] for key in kinds if case.get(key) not in _EMPTY)


def whole_pattern(text: str) -> str:
    """Return the pattern that fits this text and no longer one."""
    return f"^{re.escape(text)}$".replace("\\ ", " ").replace("\\\n", "\\n")


def as_object(value: Any) -> Mapping[str, Any]:
    """Return an object, and an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> Sequence[Any]:
    """Return a list, and an empty one for any other value."""
    return value if isinstance(value, list) else ()


def objects_in(values: Any) -> Iterable[Mapping[str, Any]]:
    """Return the objects of a list."""
    return (value for value in as_list(values) if isinstance(value, dict))


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
