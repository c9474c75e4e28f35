"""Plots of a name in each row: intervals, values joined by a line, how values spread."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from tracegrade_scoring.pictures.axes import (
    BELOW,
    PADDING,
    RIGHT,
    WIDTH,
    Axis,
    across,
    from_zero,
    key,
    label_column,
    percents,
    series_key,
)
from tracegrade_scoring.pictures.marks import (
    FAINT,
    box,
    colors,
    dot,
    drawing,
    line,
    text,
)


class Value(NamedTuple):
    """A value of one row in one series; `low` and `high` are those of its interval."""

    row: str
    series: str
    value: float
    low: float | None = None
    high: float | None = None


class Spread(NamedTuple):
    """The spread of the values of one row."""

    row: str
    least: float
    low: float
    lower: float
    middle: float
    upper: float
    high: float
    most: float


def intervals(
    found: Sequence[Value], series: Sequence[str], description: str, most: float = 1
) -> Markup:
    """Return shares up to `most` as dots and their intervals as lines, series below each other.

    Args:
        found: Rows, in the order of their first value.
        series: All of them, the newest last.
        description: Description of the plot, in a sentence.
        most: End of the axis.
    """
    color, step = colors(series), 11

    def draw(row: str, axis: Axis, middle: float) -> Iterator[Markup]:
        for each in found:
            if each.row == row:
                y = middle + step * (series.index(each.series) - (len(series) - 1) / 2)
                fill = color[each.series]
                if each.low is not None and each.high is not None:
                    low, high = axis.at(each.low), axis.at(each.high)
                    yield line(low, y, high, y, fill, stroke_width=2, opacity=0.55)
                yield dot(axis.at(each.value), y, 4.7, fill)

    rows = Rows([each.row for each in found], 12 + step * len(series), draw)
    return _plot(rows, lambda start, end: percents(start, end, most), color, description)


def strips(found: Sequence[Value], series: Sequence[str], description: str) -> Markup:
    """Return the shares of each row as dots on one line; arguments as for `intervals`."""
    color = colors(series)

    def draw(row: str, axis: Axis, y: float) -> Iterator[Markup]:
        dots = [(axis.at(each.value), each.series) for each in found if each.row == row]
        yield line(min(dots)[0], y, max(dots)[0], y, FAINT, stroke_width=1.5)
        for x, name in dots:
            yield dot(x, y, 5, color[name], opacity=0.9)

    return _plot(Rows([each.row for each in found], 24, draw), percents, color, description)


def spreads(found: Sequence[Spread], title: str, description: str) -> Markup:
    """Return how the values of each row, a series, are spread.

    Args:
        found: One for each series, the newest last.
        title: What the values are.
        description: What it shows, in a sentence.
    """
    color = colors([each.row for each in found])
    most = max(each.most for each in found)

    def draw(row: str, axis: Axis, y: float) -> Iterator[Markup]:
        fill = color[row]
        for each in found:
            if each.row == row:
                low, lower, middle, upper, high, last = map(axis.at, each[2:])
                yield line(low, y, high, y, fill, opacity=0.5)
                yield box(lower, y - 6, upper - lower, 12, fill=fill, opacity=0.55)
                yield box(middle - 1.5, y - 9, 3, 18, fill=fill)
                yield dot(last, y, 2.4, "none", stroke=fill, stroke_width=2, opacity=0.7)

    rows = Rows([each.row for each in found], 34, draw)
    return _plot(rows, lambda start, end: from_zero(most, start, end, title), {}, description)


class Rows(NamedTuple):
    """The rows of a plot: their names, how high each is, and what draws one around a height."""

    names: Sequence[str]
    height: int
    draw: Callable[[str, Axis, float], Iterator[Markup]]


def _plot(
    rows: Rows, scaled: Callable[[float, float], Axis], color: Mapping[str, str], description: str
) -> Markup:
    names = dict.fromkeys(rows.names)
    left = label_column(names)
    axis = scaled(left, WIDTH - RIGHT)
    parts, top = key(series_key(color))
    bottom = top + rows.height * len(names)
    parts += across(axis, top, bottom)
    for position, name in enumerate(names):
        y = top + rows.height * (position + 0.5)
        parts += [text(left - PADDING, y + 4, name, anchor="end"), *rows.draw(name, axis, y)]
    return drawing(WIDTH, bottom + BELOW * (2 if axis.title else 1), description, parts)
