"""Axes, which place values, and the key of colors."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from math import ceil
from typing import Final, NamedTuple

from markupsafe import Markup

from tracegrade_scoring.pictures.marks import FAINT, GRID, dot, line, text, text_width

WIDTH: Final = 470
"""Width of a whole picture, so that neighbors are scaled alike."""
PADDING: Final = 8
"""Between labels and what they label."""
RIGHT: Final = 18
"""Kept free right of an axis, for half of its last label."""
BELOW: Final = 22
"""Height of the labels below an axis; a title takes as much again."""
KEY_ROW, KEY_GAP, KEY_MARK = 24, 18, 14


class KeyEntry(NamedTuple):
    """A name of a key, what draws its mark around a place, and how wide that is."""

    name: str
    mark: Callable[[float, float], Markup]
    width: float = KEY_MARK


class Axis(NamedTuple):
    """Values from one place to another, with marks in between."""

    least: float
    most: float
    start: float
    end: float
    ticks: Sequence[float]
    write: Callable[[float], str]
    title: str = ""

    def at(self, value: float) -> float:
        """Return where a value stands."""
        share = (value - self.least) / (self.most - self.least)
        return self.start + (self.end - self.start) * share

    def places(self) -> Iterator[tuple[float, str]]:
        """Yield each mark's place and label."""
        for tick in self.ticks:
            yield self.at(tick), self.write(tick)


def percents(start: float, end: float, most: float = 1) -> Axis:
    """Return an axis of shares from 0 to `most`."""
    ticks = [most * part / 4 for part in range(5)]
    return Axis(0, most, start, end, ticks, lambda value: f"{100 * value:g}%")


def whole_numbers(most: int, start: float, end: float, title: str) -> Axis:
    """Return an axis of counts from 0, with room for dots at either end."""
    ticks = range(0, most + 1, max(1, most // 8))
    return Axis(-0.5, most + 0.5, start, end, ticks, "{:,.0f}".format, title)


def from_zero(most: float, start: float, end: float, title: str) -> Axis:
    """Return an axis from 0 to a round number of at least `most`, in at most eight steps."""
    step = next(size * 10**zeros for zeros in count() for size in (1, 2, 5)
                if 8 * size * 10**zeros >= most)  # fmt: skip
    last = step * max(ceil(most / step), 1)
    ticks = range(0, last + 1, step)
    return Axis(0, last, start, end, ticks, "{:,.0f}".format, title)


def label_column(labels: Iterable[str]) -> float:
    """Return how much labels left of a picture take."""
    return max(map(text_width, labels)) + 1.5 * PADDING


def across(axis: Axis, top: float, bottom: float) -> Iterator[Markup]:
    """Yield the axis at the bottom with a line up from each mark, then its title."""
    for x, label in axis.places():
        yield line(x, top, x, bottom, GRID)
        middle = min(x, WIDTH - text_width(label) / 2)
        yield text(middle, bottom + 16, label, anchor="middle")
    if axis.title:
        middle = (axis.start + axis.end) / 2
        yield text(middle, bottom + BELOW + 14, axis.title, fill=FAINT, anchor="middle")


def upward(axis: Axis, left: float, right: float) -> Iterator[Markup]:
    """Yield the axis at the left with a line from each mark, and its title above."""
    for y, label in axis.places():
        yield line(left, y, right, y, GRID)
        yield text(left - PADDING, y + 4, label, anchor="end")
    if axis.title:
        yield text(0, axis.end - PADDING, axis.title, fill=FAINT)


def key(entries: Sequence[KeyEntry]) -> tuple[list[Markup], float]:
    """Return what colors and marks mean, in as many rows as it takes, and how high it is."""
    parts: list[Markup] = []
    x, y = 0.0, KEY_ROW / 2
    for name, mark, mark_width in entries:
        width = mark_width + 5 + text_width(name)
        if x and x + width > WIDTH:
            x, y = 0.0, y + KEY_ROW
        parts += [mark(x + mark_width / 2, y), text(x + mark_width + 5, y + 4, name)]
        x += width + KEY_GAP
    return parts, y + KEY_ROW / 2 + 6 if entries else 0


def series_key(color: Mapping[str, str]) -> list[KeyEntry]:
    """Return the entries of a key of series, none for one alone."""
    if len(color) == 1:
        return []
    return [KeyEntry(name, _dots(fill)) for name, fill in color.items()]


def _dots(fill: str) -> Callable[[float, float], Markup]:
    return lambda x, y: dot(x, y, 5, fill)
