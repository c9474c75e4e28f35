"""The newest releases of each agent: `/releases` without a choice."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade_explorer import links
from tracegrade_explorer.pages.runs import name_in_words
from tracegrade_explorer.snapshots.snapshot import Row, read
from tracegrade_scoring.metrics import Scale
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.why_failed import most_first, of_failed

RELEASES: Final = 5
"""Number of newest releases to show for an agent."""
REASONS: Final = 3
"""Why runs of the newest release failed; the list of runs has them all."""


class NewestReleases(NamedTuple):
    """The facts about all releases."""

    agents: list[dict[str, Any]]
    """Rows of the page: each agent with its newest releases."""
    releases: list[Row]
    """Rows of `release_overview`."""
    reasons: list[Row]
    """Rows of `release_reasons`."""


def newest_releases(con: DuckDBPyConnection) -> NewestReleases:
    """Return the releases of each agent and run mode, and how the newest do."""
    rows, reasons = read(con, "release_overview"), read(con, "release_reasons")
    agents = [
        _agent(agent, run_mode, [*group], reasons)
        for (agent, run_mode), group in groupby(
            rows, key=lambda row: (row["agent_name"], row["run_mode"])
        )
    ]
    return NewestReleases(agents, rows, reasons)


def _agent(
    agent: str | None, run_mode: str | None, rows: list[Row], reasons: list[Row]
) -> dict[str, Any]:
    known = [row["release"] for row in rows if row["release"] is not None]
    newest = {"candidate": known[0], "base": known[1]} if len(known) > 1 else {}
    pairs = [("agent", agent), *newest.items()] if agent is not None else [*newest.items()]
    return {
        "title": words.cohort(agent, run_mode),
        "releases": [_release(row) for row in rows[:RELEASES]],
        "more": len(rows) - RELEASES,
        **_reasons(rows[0], reasons),
        "compare": links.with_query("/releases", pairs) if newest else "",
    }


def _reasons(release: Row, reasons: Sequence[Row]) -> dict[str, Any]:
    """Return why runs of a release failed, the commonest first, and how many more there are."""
    names = {key: release[key] for key in ("agent_name", "run_mode", "release")}
    found = sorted((row for row in reasons if row.items() >= names.items()), key=_order)
    return {
        "reasons": [_reason(release, row) for row in found[:REASONS]],
        "more_reasons": len(found[REASONS:]),
    }


def _reason(release: Row, row: Row) -> dict[str, str]:
    return {
        "why": name_in_words("reason", row["reason"]),
        "runs": of_failed(row["runs"], release["failed"]),
        "href": links.counted(
            agent=release["agent_name"],
            run_mode=release["run_mode"],
            release=release["release"],
            reason=row["reason"],
        ),
    }


def _order(row: Row) -> tuple[object, ...]:
    kind, _, what = row["reason"].partition(": ")
    return most_first(kind, what, row["runs"])


def _release(row: Row) -> dict[str, Any]:
    names = {"agent": row["agent_name"], "run_mode": row["run_mode"], "release": row["release"]}
    return {
        "name": words.name(row["release"], "(no release)"),
        "href": links.counted(**names),
        "runs": row["runs"],
        "failed": row["failed"],
        "failed_href": links.counted(**names, outcome="failed"),
        "success": words.amount(row["success"], Scale.SHARE),
        "share": row["success"],
        "interval": words.interval(row["low"], row["high"], Scale.SHARE),
        "tsa": words.amount(row["tsa"], Scale.SHARE),
        "findings": row["findings"],
        "findings_href": links.with_findings(**names),
        "last": row["last_start"],
    }
