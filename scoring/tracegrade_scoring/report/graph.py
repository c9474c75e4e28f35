"""A task's sub-goals as a drawing, each coloured by how often it was completed.

Prerequisites stand to the left; critical sub-goals have a thick edge, red where they were skipped.
Drawn here and not by a plotting library, which knows no layered graphs. Colours are the page's
CSS variables, so one drawing serves light and dark. Every text is visible and escaped.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup, escape

from tracegrade_scoring.rendering import words
from tracegrade_scoring.report.model import SubGoalOutcome

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 150, 46, 46, 14, 3
BAR: Final = 7
LABEL_LENGTH: Final = 19


class Box(NamedTuple):
    """One sub-goal and where it stands."""

    goal: SubGoalOutcome
    left: int
    top: int


def sub_goal_graph(goals: Sequence[SubGoalOutcome]) -> Markup:
    """Return the graph of one task's sub-goals as SVG.

    Args:
        goals: The sub-goals of one task, by name; prerequisites that are not among them are left
            out.
    """
    boxes = _boxes(goals)
    width = max(box.left for box in boxes.values()) + WIDTH + MARGIN
    height = max(box.top for box in boxes.values()) + HEIGHT + MARGIN
    parts = [*_edges(boxes), *(part for box in boxes.values() for part in _box(box))]
    head = Markup(
        '<svg width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12"><title>{title}</title>'
    ).format(w=width, h=height, title=_description(goals))
    return head + Markup("").join(parts) + Markup("</svg>")


def depths(deps: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return how many sub-goals stand before each on its longest path.

    A prerequisite that is reached again from itself counts no further: variants of one task may
    depend on each other both ways.
    """
    found: dict[str, int] = {}

    def depth(name: str, path: frozenset[str]) -> int:
        if name not in found:
            below = [d for d in deps[name] if d in deps and d not in path and d != name]
            found[name] = max((1 + depth(d, path | {name}) for d in below), default=0)
        return found[name]

    for name in deps:
        depth(name, frozenset())
    return found


def _boxes(goals: Sequence[SubGoalOutcome]) -> dict[str, Box]:
    """Return where each sub-goal stands: columns by depth, rows in the order given."""
    columns = depths({goal.sub_goal: goal.deps for goal in goals})
    rows: dict[int, int] = {}
    boxes = {}
    for goal in goals:
        column = columns[goal.sub_goal]
        row = rows[column] = rows.get(column, -1) + 1
        boxes[goal.sub_goal] = Box(
            goal, MARGIN + column * (WIDTH + GAP_X), MARGIN + row * (HEIGHT + GAP_Y)
        )
    return boxes


def _edges(boxes: Mapping[str, Box]) -> Iterator[Markup]:
    path = Markup(
        '<path d="M{x1} {y1} C{x3} {y1} {x4} {y2} {x2} {y2}" fill="none" stroke="var(--faint)"/>'
    )
    for box in boxes.values():
        for dep in box.goal.deps:
            if dep in boxes:
                x1, y1 = boxes[dep].left + WIDTH, boxes[dep].top + HEIGHT // 2
                x2, y2 = box.left, box.top + HEIGHT // 2
                bend = GAP_X // 2
                yield path.format(x1=x1, y1=y1, x2=x2, y2=y2, x3=x1 + bend, x4=x2 - bend)


def _box(box: Box) -> Iterator[Markup]:
    goal, left, top = box
    alarm = goal.critical and goal.skipped
    yield _RECTANGLE.format(
        x=left, y=top, width=WIDTH, height=HEIGHT, fill="var(--card)",
        stroke="var(--bad)" if alarm else "var(--ink)" if goal.critical else "var(--line)",
        thickness=2.5 if goal.critical else 1.5,
    )  # fmt: skip
    name = words.clip(words.name(goal.sub_goal, "?"), LABEL_LENGTH)
    yield _text(left + 9, top + 17, name, "var(--ink)")
    counts = f"{goal.completed:,} of {goal.attempts:,}"
    if goal.skipped:
        counts += f", {goal.skipped:,} skipped"
    yield _text(left + 9, top + 31, counts, "var(--bad)" if alarm else "var(--faint)", size=10)
    yield from _bar(goal, left + 1, top + HEIGHT - BAR - 1)


def _bar(goal: SubGoalOutcome, left: int, top: int) -> Iterator[Markup]:
    """Yield the bar below a sub-goal: completed, worked on, skipped."""
    shares = (
        (1.0, "var(--skip-fill)"),
        (max(goal.attempted, goal.completed) / goal.attempts, "var(--bad-fill)"),
        (goal.completed / goal.attempts, "var(--good-fill)"),
    )
    for share, fill in shares:
        yield _RECTANGLE.format(
            x=left, y=top, width=round((WIDTH - 2) * share, 1), height=BAR, fill=fill,
            stroke="none", thickness=0,
        )  # fmt: skip


_RECTANGLE: Final = Markup(
    '<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}" rx="3" '
    'stroke="{stroke}" stroke-width="{thickness}"/>'
)


def _text(left: int, top: int, text: str, fill: str, size: int = 12) -> Markup:
    return Markup('<text x="{x}" y="{y}" fill="{fill}" font-size="{size}">{text}</text>').format(
        x=left, y=top, fill=fill, size=size, text=escape(text)
    )


def _description(goals: Sequence[SubGoalOutcome]) -> str:
    """Return the graph in a sentence, for readers who cannot see it."""
    skipped = [words.name(goal.sub_goal) for goal in goals if goal.critical and goal.skipped]
    critical = f"; critical ones skipped: {', '.join(skipped)}" if skipped else ""
    return f"{words.count(len(goals), 'sub-goal')} and their dependencies{critical}"
