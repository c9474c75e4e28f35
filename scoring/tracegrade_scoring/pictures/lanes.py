"""Draws the work of each agent of a run over time: a lane with its model and tool calls.

Kinds differ in height, too, so that a reader without colors can tell them apart. Long idle times
are cut out, each with a mark that says how long it was.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import floor, log10
from typing import Final, NamedTuple

from markupsafe import Markup

from tracegrade.terminal.visible import visible
from tracegrade_scoring.pictures.marks import box, text
from tracegrade_scoring.rendering import words

NAMES: Final = 150
"""Width of the column of names."""
PLOT: Final = 1_170
"""Width of the lanes next to it."""
MARGIN: Final = 34
"""To the right of it."""
LANE: Final = 32
"""Height of a lane."""
AXIS: Final = 24
"""Height below the lanes."""
INDENT: Final = 12
MOST_INDENTS: Final = 5
NAME_CHARACTERS: Final = 18
COLUMNS: Final = 400
"""At most so many in a lane; boxes that begin in one column are drawn as one."""
MOST_BOXES: Final = 3_000
"""At most so many in a picture; with many lanes each has fewer columns."""
LEAST_COLUMNS: Final = 40
LEAST_IDLE: Final = 0.1
"""Share of the whole time; longer idle times are cut out."""
CUT: Final = 36
"""Width of the mark that replaces it."""
TICKS: Final = 8
"""Times at the axis, about."""
HEIGHTS: Final = {"model": 10, "call": 16, "failed": 24}
"""Heights of boxes by kind; the highest is drawn where several are one."""


class LaneBox(NamedTuple):
    """One model call or tool call."""

    start: float
    """Milliseconds since the picture's start."""
    end: float
    kind: str
    """A key of `HEIGHTS`."""
    title: str
    href: str
    """Address of its step; '' without one."""


class Lane(NamedTuple):
    """One agent."""

    name: str
    depth: int
    """0 for an outermost one."""
    times: Sequence[tuple[float, float]]
    """Start and end of each of its spans."""
    boxes: Sequence[LaneBox]
    parent: int | None
    """Place of the lane that started it."""


class TimeScale:
    """Places of times, without the idle times."""

    def __init__(self, lanes: Iterable[Lane]) -> None:
        """Find the idle times of lanes.

        Args:
            lanes: At least one, with a time.
        """
        lanes = list(lanes)
        ends = [time for lane in lanes for pair in lane.times for time in pair]
        busy = sorted((each.start, each.end) for lane in lanes for each in lane.boxes)
        self.start = min([*ends, *(start for start, _ in busy)])
        self.end = max([*ends, *(end for _, end in busy)])
        self.idle = list(self._idle(busy))
        shown = self.end - self.start - sum(end - start for start, end in self.idle)
        self.per_ms = max(PLOT - CUT * len(self.idle), CUT) / (shown or 1)
        self._idle_starts = [start for start, _ in self.idle]

    def _idle(self, busy: Iterable[tuple[float, float]]) -> Iterator[tuple[float, float]]:
        """Yield the idle times that are long enough to be cut out, in order."""
        least = (self.end - self.start) * LEAST_IDLE
        reached = self.start
        for start, end in (*busy, (self.end, self.end)):
            if start - reached > least:
                yield reached, start
            reached = max(reached, end)

    def at(self, time: float) -> float:
        """Return the place of a time, from 0 to `PLOT`."""
        cuts = bisect_right(self._idle_starts, time)
        x = (min(max(time, self.start), self.end) - self.start) * self.per_ms
        for start, end in self.idle[:cuts]:
            inside = min(time, end) - start
            x -= inside * self.per_ms
            x += CUT * inside / (end - start)
        return x

    def ticks(self) -> Iterator[float]:
        """Yield round times since the start, those in an idle time left out."""
        rough = max((self.end - self.start) / (TICKS * 4), 1e-6)
        size = 10.0 ** floor(log10(rough))
        step = next(size * each for each in (1, 2, 5, 10) if size * each >= rough)
        for number in range(int((self.end - self.start) / step) + 1):
            time = self.start + number * step
            if not any(low < time < high for low, high in self.idle):
                yield time


def lanes_picture(lanes: Sequence[Lane], description: str) -> Markup:
    """Return the lanes below each other as SVG; boxes are links to their steps.

    Args:
        lanes: Each below the lane that started it.
        description: What it shows, in a sentence.
    """
    if not any(lane.times or lane.boxes for lane in lanes):
        return Markup()
    scale = TimeScale(lanes)
    columns = max(min(COLUMNS, MOST_BOXES // len(lanes)), LEAST_COLUMNS)
    parts = [*_cuts(scale, len(lanes) * LANE), *_axis(scale, len(lanes) * LANE)]
    for place, lane in enumerate(lanes):
        parts += _lane(lane, place, scale, columns)
    width, height = NAMES + PLOT + MARGIN, len(lanes) * LANE + AXIS
    head = Markup(
        '<svg class="lanes" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="group" '
        'aria-label="{description}" font-family="system-ui, sans-serif" font-size="12">'
    ).format(w=width, h=height, description=visible(description))
    return head + Markup("").join(parts) + Markup("</svg>")


def _lane(lane: Lane, place: int, scale: TimeScale, columns: int) -> Iterator[Markup]:
    top = place * LANE
    left = 4 + INDENT * min(lane.depth, MOST_INDENTS)
    name = words.clip(words.name(lane.name, "?"), NAME_CHARACTERS)
    yield Markup("<g><title>{}</title>{}</g>").format(
        visible(lane.name), text(left, top + LANE / 2 + 4, name, class_="lane-name")
    )
    for start, end in lane.times[:columns]:
        x = NAMES + scale.at(start)
        width = max(scale.at(end) - scale.at(start), 2)
        yield box(x, top + 3.0, width, LANE - 6.0, rx=5, class_="lane")
        if lane.parent is not None:
            begin = (lane.parent + 1) * LANE - 3
            yield Markup('<path class="lane-start" d="M{x:.1f} {a}V{b}"/>').format(
                x=x, a=begin, b=top + 3
            )
    for each in _together(lane.boxes, scale, columns):
        yield _box(each, top, scale)


def _together(boxes: Sequence[LaneBox], scale: TimeScale, columns: int) -> Iterator[LaneBox]:
    """Yield boxes; of more than there are columns, those that begin in one of them as one."""
    if len(boxes) <= columns:
        yield from boxes
        return
    placed = sorted(boxes)
    for _, group in groupby(placed, lambda each: int(scale.at(each.start) * columns / PLOT)):
        found = list(group)
        worst = max(found, key=lambda each: HEIGHTS[each.kind])
        title = f"{worst.title}, and {len(found) - 1:,} more" if len(found) > 1 else worst.title
        yield LaneBox(
            found[0].start, max(each.end for each in found), worst.kind, title, worst.href
        )


def _box(each: LaneBox, top: float, scale: TimeScale) -> Markup:
    height = HEIGHTS[each.kind]
    x = NAMES + scale.at(each.start)
    width = max(scale.at(each.end) - scale.at(each.start) - 1, 2)
    title = Markup("<title>{}</title>").format(visible(each.title))
    drawn = box(x, top + (LANE - height) / 2, width, float(height), rx=2,
                class_=f"lane-{each.kind}")  # fmt: skip
    if not each.href:
        return Markup("<g>{}{}</g>").format(title, drawn)
    return Markup('<a href="{}" tabindex="-1" aria-label="{}">{}{}</a>').format(
        each.href, visible(each.title), title, drawn
    )


def _cuts(scale: TimeScale, bottom: float) -> Iterator[Markup]:
    """Yield a mark for each idle time."""
    for start, end in scale.idle:
        x = NAMES + scale.at(start) + CUT / 2
        took = words.duration(end - start)
        yield Markup("<g><title>{} idle</title>").format(took)
        yield Markup('<path class="lane-cut" d="M{a:.1f} 0V{b}M{c:.1f} 0V{b}"/>').format(
            a=x - 3, b=bottom, c=x + 3
        )
        yield text(x, bottom + AXIS - 6, f"⋯ {took}", anchor="middle", class_="lane-time")
        yield Markup("</g>")


def _axis(scale: TimeScale, bottom: float) -> Iterator[Markup]:
    """Yield round times below the lanes, where there is room for them."""
    taken = [scale.at(start) + CUT / 2 for start, _ in scale.idle]
    for time in scale.ticks():
        x = scale.at(time)
        if all(abs(x - each) >= CUT * 1.6 for each in taken):
            taken.append(x)
            label = words.duration(time - scale.start) if time > scale.start else "0"
            yield text(NAMES + x, bottom + AXIS - 6, label, anchor="middle", class_="lane-time")
