"""A task's sub-goals as a graph, each colored by how often it was completed.

Prerequisites stand to the left; critical sub-goals have a thick edge, red where they were skipped.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from markupsafe import Markup

from tracegrade_scoring.pictures.marks import FAINT, GRID, INK, box, drawing, text
from tracegrade_scoring.rendering import words

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 150, 46, 46, 14, 3
BAR: Final = 7
LABEL_LENGTH: Final = 19
BAD: Final = "var(--bad)"


class DrawnGoal(Protocol):
    """A sub-goal, and how many attempts got how far with it."""

    @property
    def sub_goal(self) -> str:
        """Its name."""

    @property
    def deps(self) -> Sequence[str]:
        """The names of its prerequisites."""

    @property
    def critical(self) -> bool:
        """Whether no attempt may skip it."""

    @property
    def attempts(self) -> int:
        """All attempts at its task, at least one."""

    @property
    def attempted(self) -> int:
        """Attempts with an action that served it."""

    @property
    def completed(self) -> int:
        """Attempts that completed it."""

    @property
    def skipped(self) -> int:
        """Attempts without any action that served it."""


class Box(NamedTuple):
    """One sub-goal and where it stands."""

    goal: DrawnGoal
    left: int
    top: int


def sub_goal_graph(goals: Sequence[DrawnGoal]) -> Markup:
    """Return the graph of one task's sub-goals as SVG.

    Args:
        goals: The sub-goals of one task, by name; prerequisites that are not among them are left
            out.
    """
    boxes = _boxes(goals)
    width = max(each.left for each in boxes.values()) + WIDTH + MARGIN
    height = max(each.top for each in boxes.values()) + HEIGHT + MARGIN
    parts = [*_edges(boxes), *(part for each in boxes.values() for part in _box(each))]
    return drawing(width, height, _description(goals), parts)


def depths(deps: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the number of sub-goals before each on its longest path.

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


def _boxes(goals: Sequence[DrawnGoal]) -> dict[str, Box]:
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
        '<path d="M{x1} {y1} C{x3} {y1} {x4} {y2} {x2} {y2}" fill="none" stroke="{faint}"/>'
    )
    for goal, left, top in boxes.values():
        for dep in goal.deps:
            if dep in boxes:
                x1, y1 = boxes[dep].left + WIDTH, boxes[dep].top + HEIGHT // 2
                x2, y2, bend = left, top + HEIGHT // 2, GAP_X // 2
                yield path.format(
                    x1=x1, y1=y1, x2=x2, y2=y2, x3=x1 + bend, x4=x2 - bend, faint=FAINT
                )


def _box(boxed: Box) -> Iterator[Markup]:
    goal, left, top = boxed
    alarm = goal.critical and goal.skipped
    yield box(
        left, top, WIDTH, HEIGHT, fill="var(--card)", rx=3,
        stroke=BAD if alarm else INK if goal.critical else GRID,
        stroke_width=2.5 if goal.critical else 1.5,
    )  # fmt: skip
    name = words.clip(words.name(goal.sub_goal, "?"), LABEL_LENGTH)
    yield text(left + 9, top + 17, name)
    counts = f"{goal.completed:,} of {goal.attempts:,}"
    if goal.skipped:
        counts += f", {goal.skipped:,} skipped"
    yield text(left + 9, top + 31, counts, fill=BAD if alarm else FAINT, font_size=10)
    yield from _bar(goal, left + 1, top + HEIGHT - BAR - 1)


def _bar(goal: DrawnGoal, left: int, top: int) -> Iterator[Markup]:
    """Yield the bar below a sub-goal: completed, worked on, skipped."""
    shares = (
        (1.0, "var(--skip-fill)"),
        (max(goal.attempted, goal.completed) / goal.attempts, "var(--bad-fill)"),
        (goal.completed / goal.attempts, "var(--good-fill)"),
    )
    for share, fill in shares:
        yield box(left, top, (WIDTH - 2) * share, BAR, fill=fill, rx=3)


def _description(goals: Sequence[DrawnGoal]) -> str:
    """Return the graph in a sentence, for readers who cannot see it."""
    skipped = [words.name(goal.sub_goal) for goal in goals if goal.critical and goal.skipped]
    critical = f"; critical ones skipped: {', '.join(skipped)}" if skipped else ""
    return f"{words.count(len(goals), 'sub-goal')} and their dependencies{critical}"
