"""Small pictures of the explorer: bars, a histogram, a minimap, lines; parts of them are links.

Colors are classes of its style sheet.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from tracegrade.terminal.visible import visible

BAR_WIDTH: Final = 80
BIN_WIDTH, HISTOGRAM_HEIGHT = 18, 44
LEAST_STEP_WIDTH, MOST_STEP_WIDTH, MINIMAP_WIDTH, MINIMAP_HEIGHT = 6, 24, 1_000, 26
WIDE_BIN, WIDE_HEIGHT, LABEL_HEIGHT = 64, 60, 18
STRIP_WIDTH, STRIP_HEIGHT, STRIP_FILLED = 240, 34, 0.8
SPARK_WIDTH, SPARK_HEIGHT, SPARK_EDGE = 96, 30, 3
MOST_STEPS: Final = 2_000
"""Limit of the steps of a minimap; more are drawn together."""


class Bin(NamedTuple):
    """One bar with where it leads."""

    runs: int
    href: str
    title: str


class StripBar(NamedTuple):
    """Runs that began in one part of a window of time."""

    place: int
    """Position of the part, from 0."""
    runs: int
    """At least 1."""
    failed: int
    """Failed ones among these."""
    href: str
    title: str


class MapStep(NamedTuple):
    """One step of a minimap."""

    step: int
    """Its index."""
    kind: str
    """A class of the style sheet."""
    height: int
    """1..4, so that kinds differ without colors."""
    title: str


def bar(share: float) -> Markup:
    """Return a bar of a share, 0..1."""
    width = round(BAR_WIDTH * min(max(share, 0.0), 1.0), 1)
    return Markup(
        '<svg class="bar" viewBox="0 0 {all} 8" width="{all}" height="8" '
        'preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="bar-all" width="{all}" height="8" rx="2"/>'
        '<rect class="bar-part" width="{width}" height="8" rx="2"/></svg>'
    ).format(all=BAR_WIDTH, width=width)


def track(start: float, width: float) -> Markup:
    """Return when a step ran, as a part of its run's time; both 0..100."""
    return Markup(
        '<svg class="track" viewBox="0 0 100 4" width="100" height="4" '
        'preserveAspectRatio="none" aria-hidden="true"><rect class="track-all" width="100" '
        'height="4"/><rect class="track-part" x="{x}" width="{width}" height="4"/></svg>'
    ).format(x=start, width=max(width, 1.0))


def histogram(bins: Sequence[Bin], label: str) -> Markup:
    """Return bars side by side, each a link to its runs."""
    most = max((each.runs for each in bins), default=0) or 1
    parts = [_bin(position, each, most) for position, each in enumerate(bins)]
    head = Markup(
        '<svg class="histogram" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="group" '
        'aria-label="{label}">'
    ).format(w=BIN_WIDTH * len(bins), h=HISTOGRAM_HEIGHT, label=visible(label))
    return head + Markup("").join(parts) + Markup("</svg>")


def _bin(position: int, each: Bin, most: int) -> Markup:
    height = max(round((HISTOGRAM_HEIGHT - 2) * each.runs / most, 1), 1.5 if each.runs else 0)
    shape = Markup(
        '<rect class="bin-all" x="{x}" width="{w}" height="{all}"/>'
        '<rect class="bin" x="{x}" y="{y}" width="{w}" height="{height}"/>'
        "<title>{title}</title>"
    ).format(
        x=position * BIN_WIDTH, y=round(HISTOGRAM_HEIGHT - height, 1), w=BIN_WIDTH - 2,
        all=HISTOGRAM_HEIGHT, height=height, title=visible(each.title),
    )  # fmt: skip
    if not each.runs:
        return Markup("<g>{}</g>").format(shape)
    return Markup('<a href="{href}" aria-label="{title}">{shape}</a>').format(
        href=each.href, title=visible(each.title), shape=shape
    )


def labeled_histogram(bins: Sequence[Bin], labels: Sequence[str], label: str) -> Markup:
    """Return wide bars side by side, each a link to its runs, with its number and its name.

    Args:
        bins: The bars.
        labels: Where each begins, in words.
        label: Of the picture, for readers who cannot see it.
    """
    most = max((each.runs for each in bins), default=0) or 1
    parts = [
        _wide_bin(position, each, name, most)
        for position, (each, name) in enumerate(zip(bins, labels, strict=True))
    ]
    head = Markup(
        '<svg class="wide-histogram" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="group" '
        'aria-label="{label}">'
    ).format(w=WIDE_BIN * len(bins), h=WIDE_HEIGHT + 2 * LABEL_HEIGHT, label=visible(label))
    return head + Markup("").join(parts) + Markup("</svg>")


def _wide_bin(position: int, each: Bin, name: str, most: int) -> Markup:
    height = max(round(WIDE_HEIGHT * each.runs / most, 1), 1.5 if each.runs else 0)
    x, floor = position * WIDE_BIN, LABEL_HEIGHT + WIDE_HEIGHT
    label = Markup('<text x="{x}" y="{y}">{name}</text>').format(x=x, y=floor + 14, name=name)
    if not each.runs:
        return label
    return label + Markup(
        '<a href="{href}" aria-label="{title}"><rect class="bin-all" x="{x}" width="{w}" '
        'height="{all}"/><rect class="bin" x="{x}" y="{y}" width="{w}" height="{h}" rx="2"/>'
        '<text x="{x}" y="{above}">{runs}</text><title>{title}</title></a>'
    ).format(
        href=each.href, title=visible(each.title), x=x, w=WIDE_BIN - 6, all=floor,
        y=round(floor - height, 1), h=height, above=round(floor - height - 4, 1),
        runs=f"{each.runs:,}",
    )  # fmt: skip


def strip(bars: Sequence[StripBar], parts: int, label: str) -> Markup:
    """Return how many runs began in each part of a window, the failed ones below in red.

    Args:
        bars: Parts with runs; each is a link to these.
        parts: How many there are.
        label: What a reader hears of it.
    """
    width = STRIP_WIDTH / max(parts, 1)
    most = max((each.runs for each in bars), default=1)
    drawn = [
        Markup(
            '<a href="{href}" aria-label="{title}"><rect class="strip-space" x="{x}" '
            'width="{all}" height="{high}"/><rect class="strip-runs" x="{x}" y="{y}" width="{w}" '
            'height="{h}"/><rect class="strip-failed" x="{x}" y="{fy}" width="{w}" '
            'height="{fh}"/><title>{title}</title></a>'
        ).format(
            href=each.href, title=visible(each.title), x=round(each.place * width, 2),
            all=round(width, 2), high=STRIP_HEIGHT, w=round(width * STRIP_FILLED, 2),
            **dict(zip("yh", _upright(each.runs, most), strict=True)),
            **dict(zip(("fy", "fh"), _upright(each.failed, most), strict=True)),
        )
        for each in bars
    ]  # fmt: skip
    head = Markup(
        '<svg class="strip" viewBox="0 0 {w} {h}" preserveAspectRatio="none" role="group" '
        'aria-label="{label}"><rect class="strip-floor" y="{h}" width="{w}" height="1"/>'
    ).format(w=STRIP_WIDTH, h=STRIP_HEIGHT, label=visible(label))
    return head + Markup("").join(drawn) + Markup("</svg>")


def _upright(runs: int, most: int) -> tuple[float, float]:
    """Return where a bar begins from the top, and its height; some is never nothing."""
    height = max(round((STRIP_HEIGHT - 2) * runs / most, 1), 1.5) if runs else 0.0
    return round(STRIP_HEIGHT - height, 1), height


def spark(values: Sequence[float | None], label: str) -> Markup:
    """Return values in order as a thin line that ends in a dot; '' for fewer than two.

    Args:
        values: None where there is none; the line goes to the next one.
        label: What a reader hears of it.
    """
    known = [(place, value) for place, value in enumerate(values) if value is not None]
    if len(known) < 2:
        return Markup()
    least, most = min(value for _, value in known), max(value for _, value in known)
    places = [
        (_along(place, len(values) - 1), _above(0.5 if least == most else
                                                (value - least) / (most - least)))
        for place, value in known
    ]  # fmt: skip
    return Markup(
        '<svg class="spark" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" '
        'aria-label="{label}"><polyline points="{path}"/><circle cx="{x}" cy="{y}" r="2.5"/></svg>'
    ).format(
        w=SPARK_WIDTH, h=SPARK_HEIGHT, label=visible(label), x=places[-1][0], y=places[-1][1],
        path=" ".join(f"{x},{y}" for x, y in places),
    )  # fmt: skip


def _along(place: int, last: int) -> float:
    return round(SPARK_EDGE + (SPARK_WIDTH - 2 * SPARK_EDGE) * place / last, 1)


def _above(share: float) -> float:
    return round(SPARK_EDGE + (SPARK_HEIGHT - 2 * SPARK_EDGE) * (1 - share), 1)


def minimap(steps: Sequence[MapStep]) -> Markup:
    """Return a run at a glance: one bar for each step, a link to it."""
    shown = _together(steps)
    across = MINIMAP_WIDTH // max(len(shown), 1)
    step_width = min(max(across, LEAST_STEP_WIDTH), MOST_STEP_WIDTH)
    parts = [
        Markup(
            '<a href="#s{index}" tabindex="-1"><rect class="map map-{kind}" x="{x}" y="{y}" '
            'width="{w}" height="{h}"><title>{title}</title></rect></a>'
        ).format(
            index=step.step, kind=step.kind, x=position * step_width,
            y=MINIMAP_HEIGHT * (4 - step.height) // 4, w=step_width - 1,
            h=MINIMAP_HEIGHT * step.height // 4, title=visible(step.title),
        )
        for position, step in enumerate(shown)
    ]  # fmt: skip
    width = step_width * max(len(shown), 1)
    head = Markup(
        '<svg class="minimap" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="group" '
        'preserveAspectRatio="none"><title>{title}</title>'
    ).format(w=width, h=MINIMAP_HEIGHT, title=f"{len(steps):,} steps; each bar leads to its step")
    return head + Markup("").join(parts) + Markup("</svg>")


def _together(steps: Sequence[MapStep]) -> list[MapStep]:
    """Return at most `MOST_STEPS` steps; the tallest represents those drawn together."""
    size = -(-len(steps) // MOST_STEPS) or 1
    return [
        max(steps[start : start + size], key=lambda step: step.height)
        for start in range(0, len(steps), size)
    ]


class Point(NamedTuple):
    """One value of a line."""

    x: float
    """0..1 from left to right."""
    y: float
    """0..1 from the bottom up."""
    hollow: bool
    title: str
    href: str
    """'' if it leads nowhere."""
    low: float | None = None
    high: float | None = None


class Line(NamedTuple):
    """Values in order, with a name."""

    name: str
    points: Sequence[Point]


CHART_WIDTH, CHART_HEIGHT = 1_200, 260


def lines(found: Sequence[Line], label: str) -> Markup:
    """Return lines with their points, links if they lead somewhere; intervals as thin strokes."""
    parts = [part for position, line in enumerate(found) for part in _line(line, position % 6 + 1)]
    head = Markup(
        '<svg class="lines" viewBox="-8 -8 {w} {h}" role="group" aria-label="{label}">'
        '<rect class="frame" width="{iw}" height="{ih}"/>'
    ).format(
        w=CHART_WIDTH + 16, h=CHART_HEIGHT + 16, iw=CHART_WIDTH, ih=CHART_HEIGHT,
        label=visible(label),
    )  # fmt: skip
    return head + Markup("").join(parts) + Markup("</svg>")


def _line(line: Line, color: int) -> Iterator[Markup]:
    places = [(_across(point.x), _up(point.y)) for point in line.points]
    path = " ".join(f"{x},{y}" for x, y in places)
    yield Markup('<polyline class="series-{n}" points="{path}"/>').format(n=color, path=path)
    for point, (x, y) in zip(line.points, places, strict=True):
        if point.low is not None and point.high is not None:
            yield Markup(
                '<line class="series-{n} interval-line" x1="{x}" x2="{x}" y1="{a}" y2="{b}"/>'
            ).format(n=color, x=x, a=_up(point.low), b=_up(point.high))
        circle = Markup(
            '<circle class="series-{n}{hollow}" cx="{x}" cy="{y}" r="5"><title>{title}</title>'
            "</circle>"
        ).format(
            title=visible(point.title), n=color, x=x, y=y,
            hollow=" hollow" if point.hollow else " full",
        )  # fmt: skip
        link = Markup('<a href="{href}" aria-label="{title}">{circle}</a>')
        given = {"href": point.href, "title": visible(point.title), "circle": circle}
        yield link.format(**given) if point.href else circle


def _across(share: float) -> float:
    return round(CHART_WIDTH * min(max(share, 0.0), 1.0), 1)


def _up(share: float) -> float:
    return round(CHART_HEIGHT * (1 - min(max(share, 0.0), 1.0)), 1)
