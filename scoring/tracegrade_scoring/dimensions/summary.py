"""Lines of a scoring run's summary on releases and other dimensions."""

from collections.abc import Iterator, Mapping
from typing import Final

import duckdb

from tracegrade.terminal.visible import visible
from tracegrade_queries.dimensions.labeling import LabelingSummary
from tracegrade_scoring.rendering import words

MOST_RELEASES: Final = 200
"""Releases of an agent; with more, its release is likely a value for each request."""


def crowded_agents(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Return the number of releases of each agent with too many of them, by agent.

    Args:
        con: Holds `current_sums`.
    """
    found = con.execute(
        "SELECT coalesce(agent_name, ''), count(DISTINCT release) AS releases FROM current_sums "
        "GROUP BY ALL HAVING releases > $most ORDER BY ALL",
        {"most": MOST_RELEASES},
    ).fetchall()
    return dict(found)


def dimension_lines(
    labeling: LabelingSummary, mixed_releases: int, crowded: Mapping[str, int]
) -> Iterator[str]:
    """Yield which dimensions are in force, and the runs whose values need attention."""
    if labeling.mapping is not None:
        names = ", ".join(["release, agent and task", *labeling.mapping.dimensions])
        yield f"dimensions in force: {names}; --forget-dimensions drops the mapping file"
    if labeling.unread:
        yield (
            f"  {', '.join(map(visible, labeling.unread))}: no run was built with "
            f"{'this attribute' if len(labeling.unread) == 1 else 'these attributes'}, so only "
            f"new runs have a value; --full reads the spans of all "
            f"{words.count(labeling.runs, 'run')} again"
        )
    if labeling.unlabeled:
        yield (
            f"  {words.count(labeling.unlabeled, 'run')} of an earlier version "
            f"{'has' if labeling.unlabeled == 1 else 'have'} no labels to read dimensions from; "
            "--full reads their spans again"
        )
    if mixed_releases:
        yield (
            f"  {words.count(mixed_releases, 'run')} with several releases: that of the root "
            "counts, and the flag mixed_release marks them"
        )
    yield from (sentence_on_releases(agent, releases) for agent, releases in crowded.items())


def sentence_on_releases(agent_name: str, releases: int) -> str:
    """Return what to do about an agent with too many releases."""
    named = visible(agent_name) or "agents without a name"
    return (
        f"{named}: {releases:,} releases; if each request has its own, name another attribute "
        "under `release` in a mapping file"
    )
