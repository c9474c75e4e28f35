"""The newest releases of each agent: `/releases` without a choice."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade.terminal.visible import visible
from tracegrade_explorer import links
from tracegrade_explorer.pages.runs import name_in_words
from tracegrade_explorer.snapshots.snapshot import Row, read
from tracegrade_scoring.dimensions.summary import MOST_RELEASES, sentence_on_releases
from tracegrade_scoring.metrics import Scale
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.why_failed import most_first, of_failed

RELEASES: Final = 5
"""Number of newest releases to show for an agent."""
MOST_GROUPS: Final = 64
"""Groups of an agent with too many releases, by how their names begin."""
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
        "groups": release_groups(rows) if _is_crowded(rows) else [],
        "warning": _warning(agent, rows),
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


def _is_crowded(rows: Sequence[Row]) -> bool:
    """Return whether an agent has more releases than a page can list.

    Args:
        rows: Rows of `release_overview` of one agent in one run mode.
    """
    return len(rows) > MOST_RELEASES


def listed(rows: Sequence[Row], newest: int) -> Iterator[Row]:
    """Yield rows of `release_overview`, of crowded agents only so many of the newest releases."""
    for _, group in groupby(rows, key=lambda row: (row["agent_name"], row["run_mode"])):
        found = [*group]
        yield from found[:newest] if _is_crowded(found) else found


def release_groups(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the releases of one agent by the longest prefix that makes few groups of them.

    Args:
        rows: Rows of `release_overview` of one agent in one run mode.
    """
    names = sorted({row["release"] for row in rows if row["release"] is not None})
    length = _prefix_length(names)
    by_prefix: dict[str | None, list[Row]] = {}
    for row in rows:
        release = row["release"]
        by_prefix.setdefault(None if release is None else release[:length], []).append(row)
    groups = [_group(prefix, found, length) for prefix, found in by_prefix.items()]
    return sorted(groups, key=lambda group: (-group["runs"], group["name"]))


def _warning(agent_name: str | None, rows: Sequence[Row]) -> str:
    """Return the sentence about an agent with too many releases; '' if it has few."""
    return sentence_on_releases(agent_name or "", len(rows)) if _is_crowded(rows) else ""


def _prefix_length(names: Sequence[str]) -> int:
    """Return how many characters of each name to keep, so that few of them differ."""
    length, longest = 0, max(map(len, names), default=0)
    while length < longest and len({name[: length + 1] for name in names}) <= MOST_GROUPS:
        length += 1
    return length


def _group(prefix: str | None, rows: Sequence[Row], length: int) -> dict[str, Any]:
    is_cut = prefix is not None and any(len(row["release"]) > length for row in rows)
    shown = "(no release)" if prefix is None else visible(prefix) or "any name"
    return {
        "name": f"{shown}…" if is_cut and prefix else shown,
        "releases": len(rows),
        "runs": sum(row["runs"] for row in rows),
        "failed": sum(row["failed"] for row in rows),
        "findings": sum(row["findings"] for row in rows),
        "last": max((row["last_start"] for row in rows if row["last_start"]), default=None),
    }
