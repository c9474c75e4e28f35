"""The changes in each agent's newest release, by the release decision."""

from collections.abc import Iterator
from typing import Any, Final

from tracegrade_explorer import links
from tracegrade_explorer.pages.comparisons import PairToCompare, compare_ahead, comparison_key
from tracegrade_explorer.responses import PageRequest
from tracegrade_explorer.snapshots.snapshot import Row, read
from tracegrade_scoring.compare.decision.release_rule import DEFAULT_RULE
from tracegrade_scoring.compare.decision.view import decision_view
from tracegrade_scoring.compare.model import Comparisons
from tracegrade_scoring.errors import NothingToCompare

PAIRS: Final = 3
"""Agents shown, those whose newest release is newest."""


def changed_releases(request: PageRequest) -> list[dict[str, Any]]:
    """Return the decision on the newest release of each agent, once it is worked out.

    The first who asks has it begun; until then there are only the names of the two releases.
    """
    pairs: list[PairToCompare] = request.snapshot.cached(
        "newest releases", lambda: _pairs(read(request.con, "release_overview"))
    )
    return [_changed(request, pair) for pair in pairs]


def _pairs(rows: list[Row]) -> list[PairToCompare]:
    found: dict[str | None, Row] = {}
    pairs: dict[str | None, PairToCompare] = {}
    for row in rows:
        if row["release"] is None or row["agent_name"] in pairs:
            continue
        newer = found.get(row["agent_name"])
        if newer is None:
            found[row["agent_name"]] = row
        elif newer["run_mode"] == row["run_mode"]:
            pairs[row["agent_name"]] = PairToCompare(
                row["release"], newer["release"], row["agent_name"]
            )
        else:
            found[row["agent_name"]] = row
    return [*pairs.values()][:PAIRS]


def _changed(request: PageRequest, pair: PairToCompare) -> dict[str, Any]:
    names = {"base": pair.base, "candidate": pair.candidate, "agent": pair.agent}
    agent = [("agent", pair.agent)] if pair.agent is not None else []
    href = links.with_query(
        "/releases", [*agent, ("base", pair.base), ("candidate", pair.candidate)]
    )
    try:
        found = compare_ahead(request, pair)
    except NothingToCompare:
        return {**names, "href": href, "compared": True, "cohorts": []}
    key = ("decided", comparison_key(request, pair))
    cohorts = request.snapshot.cached(key, lambda: [*_cohorts(found)]) if found else []
    return {**names, "href": href, "compared": found is not None, "cohorts": cohorts}


def _cohorts(found: Comparisons) -> Iterator[dict[str, Any]]:
    for comparison in found.cohorts:
        view = decision_view(comparison, found, DEFAULT_RULE)
        yield {**view._asdict(), "headline": view.headline}
