"""Paths into JSON documents that lead to values an agent can change: `$.holds.h1`, `$.sent[0]`.

The syntax is as in task files: `$`, then `.name`, `."any name"` or `[0]`. Where several values are
allowed, `*` matches any name or item: `$.holds.*`. A name may have placeholders, `$.holds.{id}`;
their values are never read as a part of the path.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

Step: TypeAlias = str | int | None
"""A name, a position in a list (from 0), or None for any name or position."""
JsonPath: TypeAlias = tuple[Step, ...]

_STEP: Final = re.compile(
    r'\.(?P<name>(?:\{[^{}]*\}|[^.\[\]"*{}])+)'
    r'|\.(?P<quoted>"(?:[^"\\]|\\.)+")'
    r"|\[(?P<place>\d{1,9})\]"
    r"|(?P<any>\.\*|\[\*\])"
)
_PLAIN: Final = re.compile(r"[\w-]+")


class NoPath(Exception):
    """A text is not a path into a document; the text says why."""


def parsed(text: str, *, wildcards: bool = False) -> JsonPath:
    """Return a path.

    Raises:
        NoPath: The text is not a path, or has a wildcard although one value is needed.
    """
    steps: list[Step] = []
    end = 1
    while text.startswith("$") and (found := _STEP.match(text, end)):
        steps.append(_step(found))
        end = found.end()
    if not text.startswith("$") or end != len(text):
        msg = f"'{text}' is not a path into a document; write it like $.holds.h1 or $.sent[0]"
        raise NoPath(msg)
    if None in steps and not wildcards:
        msg = f"'{text}' has a wildcard, where one value is meant; name it"
        raise NoPath(msg)
    return tuple(steps)


def fault(text: str, *, wildcards: bool = False) -> tuple[str, str] | None:
    """Return (fact, way out) of an invalid path; None for a valid one."""
    try:
        parsed(text, wildcards=wildcards)
    except NoPath as error:
        fact, _, way_out = str(error).rpartition("; ")
        return fact, way_out
    return None


def text_of(path: JsonPath) -> str:
    """Return a path without wildcards as text."""
    return "$" + "".join(map(_text_of_step, path))


def with_names(path: JsonPath, meaning: Callable[[str], str]) -> JsonPath:
    """Return a path whose names are replaced by a function."""
    return tuple(meaning(step) if isinstance(step, str) else step for step in path)


def matches(document: Any, path: JsonPath) -> Iterator[tuple[JsonPath, Any]]:
    """Yield each value that a path matches, with its exact path, in document order."""
    found: list[tuple[JsonPath, Any]] = [((), document)]
    for step in path:
        found = [
            ((*before, place), value)
            for before, holder in found
            for place, value in _below(holder, step)
        ]
    yield from found


def _step(found: re.Match[str]) -> Step:
    if found["name"] is not None:
        return found["name"]
    if found["quoted"] is not None:
        try:
            return str(json.loads(found["quoted"]))
        except ValueError as error:
            msg = f"'{found['quoted']}' is not a JSON string; write it as JSON does"
            raise NoPath(msg) from error
    return None if found["any"] else int(found["place"])


def _text_of_step(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    name = step or ""
    return f".{name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)}"


def _below(holder: Any, step: Step) -> Iterator[tuple[Step, Any]]:
    if isinstance(holder, dict) and not isinstance(step, int):
        names = list(holder) if step is None else [step] if step in holder else []
        yield from ((name, holder[name]) for name in names)
    elif isinstance(holder, list) and not isinstance(step, str):
        places = range(len(holder)) if step is None else [step] if step < len(holder) else []
        yield from ((place, holder[place]) for place in places)
