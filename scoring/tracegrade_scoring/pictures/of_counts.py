"""Plots of two numbers: dots where two counts meet, and shares by a count."""

from collections.abc import Iterator, Mapping, Sequence
from math import pi, sqrt
from typing import NamedTuple

from markupsafe import Markup

from tracegrade_scoring.pictures.axes import (
    BELOW,
    KEY_ROW,
    RIGHT,
    WIDTH,
    Axis,
    KeyEntry,
    across,
    key,
    label_column,
    percents,
    series_key,
    upward,
    whole_numbers,
)
from tracegrade_scoring.pictures.marks import FAINT, INK, colors, dot, drawing, line, path
from tracegrade_scoring.rendering import words

SCATTER_HEIGHT, CURVE_HEIGHT = 140, 160
DODGE = 0.13
"""Between series that coincide, so that each is seen."""
LEAST_AREA, AREA = 60, 320
DASH = "4 2"


class Meeting(NamedTuple):
    """So many runs of a series at two counts."""

    series: str
    x: int
    y: int
    runs: int


class Titles(NamedTuple):
    """Titles of both axes, and the whole in a sentence."""

    x: str
    y: str
    description: str


class CurvePoint(NamedTuple):
    """A share at a count, and the ends of its interval."""

    x: int
    share: float
    low: float | None
    high: float | None


class Curve(NamedTuple):
    """Shares of a series by a count."""

    series: str
    kind: str
    """One of two: the first is drawn whole, the second dashed."""
    points: Sequence[CurvePoint]
    thin: bool
    """Without dots and band."""


def meetings(found: Sequence[Meeting], series: Sequence[str], titles: Titles) -> Markup:
    """Return dots, the larger the more runs; the series side by side, the newest last."""
    color, most = colors(series), max(each.runs for each in found)

    def sized(runs: int) -> float:
        return sqrt((LEAST_AREA + AREA * sqrt(runs / most)) / pi)

    def size(runs: int) -> KeyEntry:
        radius = sized(runs)
        return KeyEntry(
            words.count(runs, "run"), lambda x, y: dot(x, y, radius, FAINT), 2 * radius
        )

    parts, top = key([*series_key(color), *(size(runs) for runs in sorted({1, most}))])
    top += KEY_ROW
    bottom = top + SCATTER_HEIGHT
    y = whole_numbers(max(each.y for each in found), bottom, top, titles.y)
    left = label_column([label for _, label in y.places()])
    x = whole_numbers(max(each.x for each in found), left, WIDTH - RIGHT, titles.x)
    parts += [*upward(y, left, WIDTH - RIGHT), *across(x, top, bottom)]
    for each in found:
        position = each.x + DODGE * (series.index(each.series) - (len(series) - 1) / 2)
        parts.append(dot(x.at(position), y.at(each.y), sized(each.runs), color[each.series],
                         opacity=0.65, stroke=INK, stroke_width=0.5))  # fmt: skip
    return drawing(WIDTH, bottom + 2 * BELOW, titles.description, parts)


def curves(
    found: Sequence[Curve], series: Sequence[str], counted: str, description: str
) -> Markup:
    """Return shares by a count, from 1; thick lines with dots and bands, thin ones without.

    Args:
        found: Curves, of two kinds at most.
        series: All of them, the newest last.
        counted: What is counted from left to right.
        description: What it shows, in a sentence.
    """
    kinds = list(dict.fromkeys(each.kind for each in found))
    color = colors(series)
    parts, top = key([*series_key(color), *(_stroke(kind, kinds) for kind in kinds)])
    bottom = top + CURVE_HEIGHT
    y = percents(bottom, top)
    left = label_column([label for _, label in y.places()])
    most = max(point.x for each in found for point in each.points)
    ticks = range(1, most + 1, max(1, most // 12))
    x = Axis(1, max(most, 2), left, WIDTH - RIGHT, ticks, "{:,.0f}".format, counted)
    parts += [*upward(y, left, WIDTH - RIGHT), *across(x, top, bottom)]
    for each in found:
        parts += _curve(each, x, y, {"stroke": color[each.series], **_dash(each.kind, kinds)})
    return drawing(WIDTH, bottom + 2 * BELOW, description, parts)


def _curve(curve: Curve, x: Axis, y: Axis, attributes: Mapping[str, str]) -> Iterator[Markup]:
    places = [(x.at(point.x), y.at(point.share)) for point in curve.points]
    if curve.thin:
        yield path(places, stroke_width=1, opacity=0.6, **attributes)
        return
    lows = [(x.at(each.x), y.at(each.low)) for each in curve.points if each.low is not None]
    highs = [(x.at(each.x), y.at(each.high)) for each in curve.points if each.high is not None]
    if lows and highs:
        yield path([*lows, *reversed(highs)], fill=attributes["stroke"], opacity=0.15)
    yield path(places, stroke_width=2, **attributes)
    for point in places:
        yield dot(*point, 3.3, attributes["stroke"])


def _dash(kind: str, kinds: Sequence[str]) -> dict[str, str]:
    return {"stroke_dasharray": DASH} if kinds.index(kind) else {}


def _stroke(kind: str, kinds: Sequence[str]) -> KeyEntry:
    dash = _dash(kind, kinds)
    return KeyEntry(kind, lambda x, y: line(x - 9, y, x + 9, y, INK, stroke_width=2, **dash), 18)
