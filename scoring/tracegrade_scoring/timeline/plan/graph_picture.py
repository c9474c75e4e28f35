"""Draws the sub-goals of a run as boxes with its calls as links, and its plans as lines.

Colors are classes of the style sheet; a mark or a word has the same meaning. Every text is made
visible and escaped when it is drawn.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from markupsafe import Markup

from tracegrade.terminal.visible import visible
from tracegrade_scoring.pictures.graph import depths
from tracegrade_scoring.pictures.marks import box, text, text_width
from tracegrade_scoring.rendering import words
from tracegrade_scoring.timeline.plan.graph_layout import (
    GraphLayout,
    GraphShape,
    PlacedLine,
    placed,
    reduced_edges,
)
from tracegrade_scoring.timeline.plan.plan_graph import EXTRA, GoalBox, Square
from tracegrade_scoring.timeline.plan.plan_lines import PlanLine, PlanMark

WIDE, NARROW = 176, 132
"""Boxes: the latter where there are many columns."""
MANY_COLUMNS: Final = 6
MARGIN: Final = 6
PAD: Final = 9
"""Distance between the edge of a box and its content."""
NAME_LINE, NOTE_LINE, SQUARE_LINE = 16, 14, 18
"""Heights."""
SQUARE, SQUARE_GAP = 22, 3
MOST_SQUARES: Final = 24
"""Squares in a box; others are counted."""
NAME_SIZE, NOTE_SIZE = 13, 11
"""Font sizes, in pixels."""
EXTRA_GAP: Final = 6
MOST_EXTRA: Final = 12
"""Boxes next to the graph, or below it."""
SIDE_GAP: Final = 30
MOST_WIDTH: Final = 1_330
"""Width up to which the picture needs no scrolling on a usual screen."""
CHIP_HEIGHT, LINE_HEIGHT, LABEL_WIDTH = 20, 46, 34
CHIP_GAP: Final = 12
CHIP_CHARACTERS: Final = 26
ARROW: Final = 4
STATE_CLASS: Final[Mapping[str, str]] = {
    "done": "done", "tried": "tried", "skipped": "skipped", "never reached": "skipped",
    "unknown": "unknown", EXTRA: "extra",
}  # fmt: skip
CHIP_MARK: Final[Mapping[str, str]] = {"done": "✓ ", "undone": "✗ ", "dropped": "· "}

Href = Callable[[int], str]


@dataclass(frozen=True)
class _Text:
    """The text of a box."""

    names: tuple[str, ...]
    notes: tuple[str, ...]
    columns: int
    """Squares in one row."""

    def height(self, squares: int) -> int:
        rows = ceil(min(squares, MOST_SQUARES) / self.columns)
        lines = len(self.names) * NAME_LINE + len(self.notes) * NOTE_LINE + rows * SQUARE_LINE
        return lines + PAD + 5


def graph_picture(
    boxes: Sequence[GoalBox],
    extra: Sequence[GoalBox],
    deps: Mapping[str, Sequence[str]],
    href: Href,
) -> Markup:
    """Return the sub-goals of a run, prerequisites to the left, as SVG.

    Args:
        boxes: The sub-goals, at most `MOST_BOXES`.
        extra: Plan items that are not sub-goals; drawn next to the graph if there is room, else
            below it.
        deps: The prerequisites of each sub-goal.
        href: Returns the address of a step.
    """
    width = NARROW if max(depths(deps).values(), default=0) >= MANY_COLUMNS else WIDE
    numbers = {each.name: number for number, each in enumerate(boxes)}
    edges = tuple(
        (numbers[begin], numbers[end])
        for begin, end in reduced_edges(deps)
        if begin in numbers and end in numbers
    )
    texts = [_text_of(each, width) for each in boxes]
    heights = tuple(
        each.height(len(goal.squares)) for each, goal in zip(texts, boxes, strict=True)
    )
    layout = placed(GraphShape(width, heights, edges))
    parts = [part for line in layout.lines for part in _line(line, boxes)]
    for goal, its, (x, y) in zip(boxes, texts, layout.corners, strict=True):
        parts += _box(goal, its, width, x, y, href)
    others, total_width, total_height = _extra(extra, layout, href)
    return _drawing(total_width, total_height, "Sub-goals and what each needs before it",
                    [*parts, *others])  # fmt: skip


def _extra(
    extra: Sequence[GoalBox], layout: GraphLayout, href: Href
) -> tuple[list[Markup], float, float]:
    """Return the drawing of plan items that are not sub-goals, and the size of the whole."""
    if not extra:
        return [], layout.width, layout.height
    x, top = _extra_corner(len(extra), layout)
    counted = f": {MOST_EXTRA} of {len(extra):,}" if len(extra) > MOST_EXTRA else ""
    title = f"in the plan, not in the task{counted}"
    parts = [_words(x, top - 5, title, "goal-note of-extra", NOTE_SIZE)]
    bottom = layout.height
    for goal in extra[:MOST_EXTRA]:
        its = _text_of(goal, WIDE)
        parts += _box(goal, its, WIDE, x, top, href)
        bottom = max(bottom, top + its.height(len(goal.squares)))
        x += WIDE + CHIP_GAP
    return parts, max(layout.width, x - CHIP_GAP), bottom


def _extra_corner(count: int, layout: GraphLayout) -> tuple[float, float]:
    """Return where the boxes of that many plan items begin."""
    across = min(count, MOST_EXTRA) * (WIDE + CHIP_GAP)
    if layout.width + SIDE_GAP + across <= MOST_WIDTH:
        return layout.width + SIDE_GAP, float(NOTE_LINE)
    return 0.0, layout.height + EXTRA_GAP + NOTE_LINE


def _text_of(goal: GoalBox, width: int) -> _Text:
    state = "" if goal.state == EXTRA else goal.state
    more = len(goal.squares) - MOST_SQUARES
    notes = [" · ".join(filter(None, (state, *goal.notes))) or "planned"]
    if more > 0:
        notes.append(f"and {more:,} more calls")
    room = width - 2 * PAD
    lines = [line for note in notes for line in _broken(note, room, NOTE_SIZE, 3)]
    names = _broken(words.name(goal.name, "?"), room, NAME_SIZE + 0.7, 2)
    return _Text(tuple(names), tuple(lines), (room + SQUARE_GAP) // (SQUARE + SQUARE_GAP))


def _broken(content: str, room: float, size: float, most: int) -> list[str]:
    """Return a text in lines that fit, broken at spaces if possible; the last may be cut."""
    characters = max(4, int(room / (text_width("x") * size / 12)))
    lines: list[str] = []
    rest = visible(content)
    while rest and len(lines) < most:
        if len(rest) <= characters:
            lines.append(rest)
            return lines
        cut = rest.rfind(" ", 1, characters + 1)
        cut = cut if cut > characters // 3 else characters
        lines.append(rest[:cut])
        rest = rest[cut:].strip()
    if rest:
        lines[-1] = f"{lines[-1][: characters - 1]}…"
    return lines


def _box(
    goal: GoalBox, its: _Text, width: int, x: float, y: float, href: Href
) -> Iterator[Markup]:
    kind = STATE_CLASS[goal.state]
    critical = " critical" if goal.critical else ""
    says = ", ".join((goal.state if goal.state != EXTRA else "planned", *goal.notes))
    yield Markup("<g><title>{}: {}{}</title>").format(
        visible(goal.name), visible(says), ", critical" if goal.critical else ""
    )
    height = its.height(len(goal.squares))
    yield box(x, y, float(width), float(height), rx=7, class_=f"goal goal-{kind}{critical}")
    down = y + 3
    for name in its.names:
        down += NAME_LINE
        yield _words(x + PAD, down, name, "goal-name", NAME_SIZE)
    for note in its.notes:
        down += NOTE_LINE
        yield _words(x + PAD, down, note, f"goal-note of-{kind}", NOTE_SIZE)
    yield Markup("</g>")
    for place, square in enumerate(goal.squares[:MOST_SQUARES]):
        left = x + PAD + place % its.columns * (SQUARE + SQUARE_GAP)
        yield _square(square, left, down + 5 + place // its.columns * SQUARE_LINE, href)


def _square(square: Square, x: float, y: float, href: Href) -> Markup:
    says = {"bad": "failed", "warn": "with a finding"}.get(square.mark, "")
    title = f"s{square.step} {square.title}" + (f", {says}" if says else "")
    return Markup('<a href="{}" aria-label="{}"><title>{}</title>{}{}</a>').format(
        href(square.step), visible(title), visible(title),
        box(x, y, float(SQUARE), 14.0, rx=3, class_=f"square square-{square.mark}"),
        text(x + SQUARE / 2, y + 10.7, str(square.step), anchor="middle", class_="square-step",
             font_size=10),
    )  # fmt: skip


def _line(line: PlacedLine, boxes: Sequence[GoalBox]) -> Iterator[Markup]:
    both = boxes[line.begin].critical and boxes[line.end].critical
    kind = " critical" if both else ""
    first, *rest = line.points
    curve = f"M{_at(first)}C" + " ".join(_at(point) for point in rest)
    yield Markup('<path class="goal-line{}" d="{}"/>').format(kind, curve)
    x, y = line.tip
    yield Markup('<path class="goal-arrow{}" d="M{}L{}L{}Z"/>').format(
        kind, _at((x, y)), _at((x - 2 * ARROW, y - ARROW)), _at((x - 2 * ARROW, y + ARROW))
    )


def plan_picture(lines: Sequence[PlanLine], href: Href) -> Markup:
    """Return the plans of a run, each below the one that it leaves, as SVG."""
    parts: list[Markup] = []
    ends: list[float] = []
    begin, width, y = 0.0, 0.0, float(CHIP_HEIGHT)
    for line in lines:
        if ends:
            begin = ends[min(line.fork, len(ends) - 1)] - CHIP_GAP / 2
            parts += _fork(line, begin, y)
            width = max(width, begin + 14 + text_width(f"↳ s{line.step_index}: {line.why}"))
            y += LINE_HEIGHT
        marks, ends = _chips(line, begin + (14 if ends else 0), y, href)
        parts += marks
        width = max(width, ends[-1])
    return _drawing(width, y + CHIP_HEIGHT / 2 + 2, "Plans, and where each left the one before",
                    parts)  # fmt: skip


def _chips(line: PlanLine, begin: float, y: float, href: Href) -> tuple[list[Markup], list[float]]:
    """Return one plan, and the positions of the line after none, one, two, … of its items."""
    label = f"s{line.step_index}"
    parts = [
        Markup('<a href="{}">{}</a>').format(
            href(line.step_index), _words(begin, y + 4, label, "plan-step", NOTE_SIZE + 1)
        )
    ]
    x = begin + LABEL_WIDTH
    ends = [x]
    for place, mark in enumerate(line.marks):
        if place:
            parts.append(_rail(x - CHIP_GAP, y, x, y, mark.state))
        drawn, x = _chip(mark, x, y)
        parts += drawn
        x += CHIP_GAP
        ends.append(x)
    if line.more:
        parts.append(_words(x, y + 4, f"and {line.more:,} more", "plan-more", NOTE_SIZE))
        ends[-1] = x + text_width(f"and {line.more:,} more")
    return parts, ends


def _chip(mark: PlanMark, x: float, y: float) -> tuple[list[Markup], float]:
    """Return an item of a plan, and where it ends."""
    content = CHIP_MARK[mark.state] + words.clip(words.name(mark.name, "?"), CHIP_CHARACTERS)
    content = f"+ {content}" if mark.added else content
    wide = text_width(content) * NOTE_SIZE / 12 + 18
    kind = f"plan-item {mark.state}" + (" added" if mark.added else "")
    said = ", ".join((mark.title, mark.state, *(("added",) if mark.added else ())))
    drawn = [
        Markup("<g><title>{}</title>").format(visible(said)),
        box(x, y - CHIP_HEIGHT / 2, wide, float(CHIP_HEIGHT), rx=10, class_=kind),
        _words(x + 9, y + 4, content, f"plan-name {mark.state}", NOTE_SIZE),
        Markup("</g>"),
    ]
    return drawn, x + wide


def _rail(x1: float, y1: float, x2: float, y2: float, state: str) -> Markup:
    return Markup('<path class="plan-rail {}" d="M{}L{}"/>').format(
        state, _at((x1, y1)), _at((x2, y2))
    )


def _fork(line: PlanLine, x: float, y: float) -> Iterator[Markup]:
    """Yield the curve from the previous line, and the changes of the new plan."""
    below = y + LINE_HEIGHT
    curve = f"M{_at((x, y))}C{_at((x, below))} {_at((x, below))} {_at((x + 12, below))}"
    yield Markup('<path class="plan-rail fork" d="{}"/>').format(curve)
    content = f"↳ s{line.step_index}: {words.clip(visible(line.why), 160)}"
    yield _words(x + 14, y + LINE_HEIGHT / 2 + 2, content, "plan-why", NOTE_SIZE)


def _words(x: float, y: float, content: str, kind: str, size: int) -> Markup:
    return text(x, y, content, class_=kind, font_size=size)


def _at(point: tuple[float, float]) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"


def _drawing(width: float, height: float, description: str, parts: Iterable[Markup]) -> Markup:
    """Return a picture with links, which a screen reader announces one by one."""
    left, wide, tall = -MARGIN, ceil(width) + 2 * MARGIN, ceil(height) + 2 * MARGIN
    head = Markup(
        '<svg class="plan-graph" width="{w}" height="{h}" viewBox="{x} {x} {w} {h}" role="group" '
        'aria-label="{description}" font-family="system-ui, sans-serif">'
    ).format(w=wide, h=tall, x=left, description=description)
    return head + Markup("").join(parts) + Markup("</svg>")
