"""The spans of a trace as a tree: each below its parent, siblings by start. Pure.

A span whose parent was not received is a root. Parents in a circle have none, so that each span
is there once.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from tracegrade_explorer.run_view.chat_text import message_markup
from tracegrade_explorer.run_view.prompt import INPUT, OUTPUT, MessageKeys, span_messages
from tracegrade_explorer.snapshots.snapshot import Row
from tracegrade_scoring.pictures.small import track
from tracegrade_scoring.rendering import words

KIND_KEYS: Final = ("openinference.span.kind", "gen_ai.operation.name")
"""Attributes that say what a span is of."""
DEEPEST: Final = 16
"""Levels that are drawn."""
INDENT: Final = 16
MOST_CHARACTERS: Final = 4_000
"""Length of the messages of one direction; the attributes below it have the rest."""
HEIGHT: Final = 28
"""Of a line."""


class PlacedSpan(NamedTuple):
    """A span in its tree."""

    row: Row
    rails: tuple[bool, ...]
    """For the last levels down to its own: whether a later sibling is below it."""


class SpanLine(NamedTuple):
    """A span on the page."""

    name: str
    kind: str
    failed: str
    """Its message; '' unless its status is an error."""
    took: str
    offset: str
    rails: Markup
    bar: Markup
    facts: Sequence[str]
    given: Sequence[tuple[str, Markup]]
    """Role and text of each message to a model, or the input of another span."""
    returned: Sequence[tuple[str, Markup]]
    attributes: Sequence[tuple[str, str]]


def span_lines(rows: Sequence[Row]) -> list[SpanLine]:
    """Return the spans of a trace, given by their start, in the order of their tree."""
    begin = min((row["start_ns"] for row in rows if row["start_ns"]), default=0)
    end = max((row["end_ns"] or 0 for row in rows), default=0)
    return [_line(placed, begin, max(end - begin, 1)) for placed in span_tree(rows)]


def span_tree(rows: Sequence[Row]) -> Iterator[PlacedSpan]:
    """Yield each span once, parents before their children."""
    children, roots = _families(rows)
    left = dict.fromkeys(range(len(rows)))
    for root in (*roots, *left):
        waiting: list[tuple[int, tuple[bool, ...]]] = [(root, ())]
        while waiting:
            position, rails = waiting.pop()
            if position not in left:
                continue
            del left[position]
            yield PlacedSpan(rows[position], rails)
            below = [child for child in children[position] if child in left]
            last = below[-1] if below else None
            above = rails[1 - DEEPEST :]
            waiting += [(child, (*above, child != last)) for child in reversed(below)]


def _families(rows: Sequence[Row]) -> tuple[Mapping[int, list[int]], list[int]]:
    """Return the children of each span, and the spans without a parent, all by position."""
    positions: dict[str, int] = {}
    for position, row in enumerate(rows):
        positions.setdefault(row["span_id"], position)
    children, roots = defaultdict[int, list[int]](list), list[int]()
    for position, row in enumerate(rows):
        parent = positions.get(row["parent_span_id"] or "")
        if parent is None:
            roots.append(position)
        else:
            children[parent].append(position)
    return children, roots


def _line(placed: PlacedSpan, begin: int, whole: int) -> SpanLine:
    row = placed.row
    start, end = row["start_ns"] or begin, row["end_ns"] or 0
    share, width = (start - begin) / whole * 100, max(end - start, 0) / whole * 100
    attributes: Mapping[str, Any] = row["attributes"] or {}
    return SpanLine(
        name=row["name"] or "(no name)",
        kind=next((attributes[key] for key in KIND_KEYS if attributes.get(key)), ""),
        failed=(row["status_message"] or "failed") if row["status_code"] == 2 else "",
        took=words.duration(max(end - start, 0) / 1e6),
        offset=words.duration((start - begin) / 1e6),
        rails=_rails(placed.rails),
        bar=track(round(share, 2), round(width, 2)),
        facts=[*_facts(row)],
        given=_messages(attributes, INPUT),
        returned=_messages(attributes, OUTPUT),
        attributes=[(key, value or "") for key, value in attributes.items()],
    )


def _messages(attributes: Mapping[str, Any], keys: MessageKeys) -> list[tuple[str, Markup]]:
    found = span_messages(attributes, keys, MOST_CHARACTERS)
    return [(message.role, message_markup(message.text)) for message in found]


def _facts(row: Row) -> Iterator[str]:
    """Yield what a span tells besides its name and times."""
    yield f"span {row['span_id']}"
    if row["parent_span_id"]:
        yield f"parent {row['parent_span_id']}"
    if row["status_code"] == 1:
        yield "status ok"
    yield from filter(None, (row["scope_name"], row["service_name"]))


def _rails(rails: Sequence[bool]) -> Markup:
    """Return the lines that lead from the parents of a span to its name."""
    middle = HEIGHT // 2
    lines = [
        f"M{INDENT * level + 7} 0V{HEIGHT if goes_on else middle}" for level, goes_on
        in enumerate(rails) if goes_on or level == len(rails) - 1
    ]  # fmt: skip
    elbow = f"M{INDENT * len(rails) - 9} {middle}h7" if rails else ""
    return Markup(
        '<svg class="rails" width="{width}" height="{height}" aria-hidden="true">'
        '<path d="{path}"/></svg>'
    ).format(width=INDENT * len(rails), height=HEIGHT, path="".join((*lines, elbow)))
