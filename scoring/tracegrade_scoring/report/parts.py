"""Parts of a release that a report lists: categories, tasks, turns and conversations."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tracegrade_scoring.report.bands import (
    PLANNING_HEADINGS,
    SELECTION_HEADINGS,
    BandMean,
    planning_rows,
    selection_rows,
)
from tracegrade_scoring.report.breakdown import (
    CATEGORY_HEADINGS,
    CONVERSATION_HEADINGS,
    TASK_HEADINGS,
    TURN_HEADINGS,
)
from tracegrade_scoring.report.view import AgentView


class PartsTable(NamedTuple):
    """Rows of one kind."""

    title: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    total: int
    """How many rows there are; `rows` may be the first of them."""
    names: int
    """How many of the first cells are names out of traces."""


def parts_of(agent: AgentView) -> tuple[PartsTable, ...]:
    """Return the tables of an agent, empty ones too."""
    planning, selection = band_parts(agent)
    categories, tasks, turns = agent.categories, agent.tasks, agent.turns
    return (
        PartsTable("Success by task category", CATEGORY_HEADINGS, categories, len(categories), 2),
        PartsTable("Success and steps by task", TASK_HEADINGS, tasks, len(tasks), 2),
        planning,
        selection,
        PartsTable("Scores by turn", TURN_HEADINGS, turns, len(turns), 2),
        PartsTable(
            "Conversations",
            CONVERSATION_HEADINGS,
            agent.conversations,
            agent.conversation_count,
            names=3,
        ),
    )


def band_parts(agent: AgentView) -> tuple[PartsTable, PartsTable]:
    """Return dependency failures by planning quality, and usage by tool selection."""

    def of_each(
        rows_of: Callable[[Sequence[BandMean], str], Iterator[tuple[str, ...]]],
    ) -> list[tuple[str, ...]]:
        labeled = zip(agent.releases, agent.labels, strict=True)
        return [row for release, label in labeled for row in rows_of(release.bands, label)]

    failures, usage = of_each(planning_rows), of_each(selection_rows)
    titles = ("Dependency failures by planning quality", "Tokens and cost by tool selection")
    return (
        PartsTable(titles[0], PLANNING_HEADINGS, failures, len(failures), 2),
        PartsTable(titles[1], SELECTION_HEADINGS, usage, len(usage), 2),
    )


def more_rows(total: int, shown: int, listed: int) -> str:
    """Return the number of hidden rows, and of rows in an HTML report; '' if all are shown.

    Args:
        total: Number of rows.
        shown: Number of rows shown here.
        listed: Number of rows in an HTML report.
    """
    left = total - shown
    if left <= 0:
        return ""
    which = "them" if listed >= total else f"{listed:,} of all {total:,}"
    return f"… and {left:,} more; --format html lists {which}."
