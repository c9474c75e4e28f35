"""Rows of a query → cells of a table, bars next to them, and a line."""

import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from tracegrade_explorer import links
from tracegrade_explorer.sql_process.run import Rows
from tracegrade_scoring.pictures.small import Line, Point, bar, lines
from tracegrade_scoring.rendering import words

CELL_CHARACTERS: Final = 400
LONG_CHARACTERS: Final = 60
"""A longer cell is not squeezed into the width of its longest word."""
MOST_DRAWN: Final = 200
"""Rows that bars and a line are drawn for."""
DIGITS: Final = 4
"""Significant ones of a fraction; downloads have all."""
GROUPED: Final = 10_000
"""Whole numbers from here have their digits in groups; years do not."""


class ResultCell(NamedTuple):
    """One value of a result."""

    text: str
    kind: str = ""
    """A class of the style sheet."""
    href: str = ""
    title: str = ""
    """The whole number, where the cell shows less."""


class ResultLine(NamedTuple):
    """The first numbers of a result over its first texts or times, and the ends of both axes."""

    drawn: Markup
    most: str
    least: str
    ends: tuple[str, ...]


class ResultTable(NamedTuple):
    """The rows as the page shows them."""

    columns: Sequence[tuple[str, bool]]
    """Name, and whether it holds numbers."""
    rows: Sequence[Sequence[ResultCell]]
    more: bool
    took: str
    bars: Sequence[Markup]
    """One for each row; empty if there is nothing to draw."""
    line: ResultLine | None


def result_of(rows: Rows) -> ResultTable:
    """Return the rows as the page shows them."""
    kinds = dict(zip(rows.columns, rows.kinds, strict=True))
    numbers = next((name for name, kind in kinds.items() if kind == "number"), None)
    names = next((name for name, kind in kinds.items() if kind in {"text", "time"}), None)
    values = [_float(row[numbers]) for row in rows.rows] if numbers else []
    drawable = len(values) if len(values) <= MOST_DRAWN and any(values) else 0
    labels = [row[names] for row in rows.rows] if names else []
    return ResultTable(
        [(name, kinds[name] == "number") for name in rows.columns],
        [[_cell(name, row[name], kinds[name]) for name in rows.columns] for row in rows.rows],
        rows.more,
        words.duration(rows.ms),
        _bars(values[:drawable]),
        _line(labels, values, kinds.get(names or "") == "time") if drawable > 1 else None,
    )


def _cell(column: str, value: object, kind: str) -> ResultCell:
    """Return a cell; the id of a run leads to it."""
    if value is None:
        return ResultCell(words.NOTHING, "num faint" if kind == "number" else "faint")
    if kind == "number":
        text, whole = four_digits(value), str(value)
        return ResultCell(text, "num", title="" if text.replace(",", "") == whole else whole)
    text = words.clip(str(value), CELL_CHARACTERS)
    if column.endswith("trajectory_id"):
        return ResultCell(text, href=links.run(str(value)))
    return ResultCell(text, "long" if len(text) > LONG_CHARACTERS else "")


def four_digits(value: Any) -> str:
    """Return a number with four significant digits; a whole number with all."""
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= GROUPED else str(value)
    number = float(value)
    if not math.isfinite(number) or number == 0:
        return f"{number:g}"
    exponent = math.floor(math.log10(abs(number)))
    if not -DIGITS <= exponent < 3 * DIGITS:
        return f"{number:.{DIGITS}g}"
    rounded = round(number, DIGITS - 1 - exponent)
    text = f"{rounded:,.{max(0, DIGITS - 1 - exponent)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace(",", "") if abs(rounded) < GROUPED else text


def _float(value: Any) -> float:
    """Return a value as it is drawn: an unknown or endless one as nothing."""
    found = 0.0 if value is None else float(value)
    return found if math.isfinite(found) else 0.0


def _bars(values: Sequence[float]) -> list[Markup]:
    """Return a bar for each value, as long as its share of the largest; of none below zero."""
    if not values or min(values) < 0:
        return []
    most = max(values)
    return [bar(value / most) for value in values]


def _line(labels: Sequence[Any], values: Sequence[float], is_time: bool) -> ResultLine | None:
    """Return a line over labels in their order, over times at their distances."""
    if not labels:
        return None
    low, high = min(0.0, *values), max(0.0, *values)
    places = [*_distances(labels)] if is_time and None not in labels else []
    if not places:
        places = [at / (len(labels) - 1) for at in range(len(labels))]
    points = [
        Point(x, (value - low) / (high - low), hollow=False, href="",
              title=f"{words.clip(str(label), LONG_CHARACTERS)}: {four_digits(value)}")
        for x, value, label in sorted(zip(places, values, labels, strict=True), key=lambda p: p[0])
    ]  # fmt: skip
    ends = [label for _, label in sorted(zip(places, labels, strict=True), key=lambda p: p[0])]
    return ResultLine(
        lines([Line("", points)], "The first numbers of the rows as a line"),
        four_digits(high),
        four_digits(low),
        tuple(words.clip(str(label), LONG_CHARACTERS) for label in (ends[0], ends[-1])),
    )


def _distances(labels: Sequence[str]) -> Iterator[float]:
    """Yield the place of each time between the first and the last, 0..1; none if all are one."""
    times = [datetime.fromisoformat(label) for label in labels]  # .timestamp() fails for year 1
    first, last = min(times), max(times)
    for time in times if last > first else ():
        yield (time - first) / (last - first)
