"""Turns a message into markup: bold and lists alone, everything else escaped.

A model's HTML is text: it is escaped before anything is looked for in it.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from markupsafe import Markup, escape

from tracegrade.terminal.visible import visible_text
from tracegrade_scoring.timeline.cards.json_text import is_json, marked_json

_BOLD: Final = re.compile(r"\*\*(?=[^\s*])([^\n]{1,400}?)(?<=[^\s*])\*\*")
_ITEM: Final = re.compile(r"(\s*)(?:[-*•]|(\d{1,6})[.)])\s+(\S.*)")


def chat_markup(text: str) -> Markup:
    """Return a text as paragraphs and lists."""
    lines = visible_text(text).split("\n")
    parts: list[Markup] = []
    for kind, group in groupby(lines, key=_kind):
        its = [*group]
        parts.append(_list(kind, its) if kind else _paragraph(its))
    return Markup("").join(parts)


def message_markup(text: str) -> Markup:
    """Return a message as `chat_markup` does, or its JSON on several lines."""
    return marked_json(text, len(text)) if is_json(text) else chat_markup(text)


def _kind(line: str) -> str:
    """Return ul | ol; '' if the line does not belong to a list."""
    found = _ITEM.fullmatch(line)
    return "" if found is None else "ol" if found[2] else "ul"


def _paragraph(lines: list[str]) -> Markup:
    text = "\n".join(lines).strip("\n")
    return Markup("<p>{}</p>").format(_bold(text)) if text.strip() else Markup()


def _list(kind: str, lines: list[str]) -> Markup:
    """Return a list; an item that is indented keeps its place by a class."""
    first = _ITEM.fullmatch(lines[0])
    start = Markup(' start="{}"').format(first[2]) if first and first[2] else Markup()
    head = Markup("<{0}{1}>").format(Markup(kind), start)  # noqa: S704 - ul or ol
    return head + Markup("").join(_items(lines)) + Markup("</{}>").format(Markup(kind))  # noqa: S704


def _items(lines: list[str]) -> Iterator[Markup]:
    for line in lines:
        if found := _ITEM.fullmatch(line):
            inner = Markup(' class="inner"') if found[1] else Markup()
            yield Markup("<li{}>{}</li>").format(inner, _bold(found[3]))


def _bold(text: str) -> Markup:
    """Return a text, escaped, in which `**` marks what is bold."""
    parts: list[Markup] = []
    end = 0
    for found in _BOLD.finditer(text):
        parts += [escape(text[end : found.start()]), Markup("<b>{}</b>").format(found[1])]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])
