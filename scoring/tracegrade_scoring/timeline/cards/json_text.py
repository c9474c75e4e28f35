"""JSON on several lines, with its keys marked; every token stays as it was sent. Pure.

Parsing and writing again would change numbers and lose keys that occur twice.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import orjson
from markupsafe import Markup, escape

from tracegrade.terminal.visible import visible_text
from tracegrade_scoring.rendering import words

LINE: Final = 72
"""An object or a list of so many characters stays on one line."""
LONGEST: Final = 1_000_000
"""A longer text stays as it is."""
FOLDED: Final = 12
"""An object or a list of more lines is folded, unless it is the outermost."""
SUMMARY: Final = Markup('<details><summary>{} <span class="faint">{}</span></summary>')
DEEPEST: Final = 20
"""Levels that are indented."""
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)
_STRING: Final = re.compile(r'("(?:[^"\\]|\\.)*")(:?)', re.DOTALL)


def is_json(text: str) -> bool:
    """Return whether a text is a JSON object or list."""
    if len(text) > LONGEST or text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        orjson.loads(text.encode("utf-8", "replace"))
    except orjson.JSONDecodeError:
        return False
    return True


def indented(text: str) -> str:
    """Return JSON, or the beginning of it, on as many lines as it takes."""
    tokens = _TOKEN.findall(text)
    return "".join(_laid_out(tokens, _short(tokens)))


def _short(tokens: Sequence[str]) -> frozenset[int]:
    """Return the brackets, by position, whose contents fit on one line."""
    found, opened, length = set[int](), list[tuple[int, int]](), 0
    for position, token in enumerate(tokens):
        if token in {"{", "["}:
            opened.append((position, length))
        length += len(token) + (token in {",", ":"})
        if token in {"}", "]"} and opened:
            start, before = opened.pop()
            if length - before <= LINE:
                found.add(start)
    return frozenset(found)


def _laid_out(tokens: Sequence[str], short: frozenset[int]) -> Iterator[str]:
    depth = inside = 0  # levels on lines of their own, and levels on one line
    for position, part in enumerate(tokens):
        if part in {"{", "["}:
            inside += bool(inside) or position in short
            depth += not inside
            yield part if inside else part + _line_end(depth)
        elif part in {"}", "]"}:
            depth -= not inside
            yield part if inside else _line_end(depth) + part
            inside -= bool(inside)
        elif part == ",":
            yield ", " if inside else part + _line_end(depth)
        else:
            yield ": " if part == ":" else part


def _line_end(depth: int) -> str:
    return "\n" + "  " * min(max(depth, 0), DEEPEST)


def with_marked_keys(text: str) -> Markup:
    """Return JSON, or the beginning of it, escaped, its keys bold."""
    parts, end, shown = list[Markup](), 0, visible_text(text)
    for found in _STRING.finditer(shown):
        if found[2]:
            parts += [escape(shown[end : found.start()]), Markup("<b>{}</b>").format(found[1])]
            end = found.end(1)
    return Markup("").join([*parts, escape(shown[end:])])


def folded_json(text: str) -> Markup:
    """Return indented JSON, or the beginning of it, its keys bold, its long parts folded."""
    lines = text.split("\n")
    ends = _long_parts(lines)
    closing, parts, begins = set(ends.values()), list[Markup](), True
    for place, line in enumerate(lines):
        shown = with_marked_keys(line)
        if place in ends:
            hidden = words.count(ends[place] - place - 1, "line")
            parts.append(SUMMARY.format(shown, hidden))
        else:
            parts.append(shown if begins else Markup("\n") + shown)
        if place in closing:
            parts.append(Markup("</details>"))
        begins = place in ends or place in closing
    return Markup("").join(parts)


def _long_parts(lines: Sequence[str]) -> dict[int, int]:
    """Return the first and last lines of objects and lists with many lines, the outermost not."""
    found, opened = dict[int, int](), list[int]()
    for place, line in enumerate(lines):
        if line.lstrip()[:1] in {"}", "]"} and opened:
            start = opened.pop()
            if opened and place - start > FOLDED:
                found[start] = place
        if line[-1:] in {"{", "["}:
            opened.append(place)
    return found


def marked_json(text: str, most: int) -> Markup:
    """Return a text, escaped and cut; JSON is indented, and its keys are marked."""
    if not is_json(text):
        return escape(visible_text(words.clip(text, most)))
    shown, is_cut = beginning(text, most)
    return folded_json(shown + ("…" if is_cut else ""))


def beginning(text: str, most: int) -> tuple[str, bool]:
    """Return at most so many characters of JSON, indented, and whether there is more."""
    read = text[: 4 * most]  # of which the indented text shows a part, so that this takes little
    shown = indented(read)
    return shown[:most], len(shown) > most or len(read) < len(text)
