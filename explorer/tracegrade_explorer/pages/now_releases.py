"""The changes in each agent's newest release, by the release decision."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tracegrade_explorer import links
from tracegrade_explorer.pages.releases import compared_releases, comparison_key
from tracegrade_explorer.responses import PageRequest
from tracegrade_explorer.snapshots.snapshot import Row, read
from tracegrade_scoring.compare.decision.release_rule import DEFAULT_RULE
from tracegrade_scoring.compare.decision.view import decision_view
from tracegrade_scoring.compare.model import Comparisons
from tracegrade_scoring.errors import NothingToCompare

PAIRS: Final = 3
"""Agents shown, those whose newest release is newest."""


class NewestPair(NamedTuple):
    """The two newest releases of an agent."""

    agent: str | None
    base: str
    candidate: str


def changed_releases(request: PageRequest) -> list[dict[str, Any]]:
    """Return the decision on the newest release of each agent, once it is worked out.

    The first who asks has it begun; until then there are only the names of the two releases.
    """
    pairs: list[NewestPair] = request.snapshot.cached(
        "newest releases", lambda: _pairs(read(request.con, "release_overview"))
    )
    return [_changed(request, pair) for pair in pairs]


def _pairs(rows: list[Row]) -> list[NewestPair]:
    found: dict[str | None, Row] = {}
    pairs: dict[str | None, NewestPair] = {}
    for row in rows:
        if row["release"] is None or row["agent_name"] in pairs:
            continue
        newer = found.get(row["agent_name"])
        if newer is None:
            found[row["agent_name"]] = row
        elif newer["run_mode"] == row["run_mode"]:
            pairs[row["agent_name"]] = NewestPair(
                row["agent_name"], row["release"], newer["release"]
            )
        else:
            found[row["agent_name"]] = row
    return [*pairs.values()][:PAIRS]


def _changed(request: PageRequest, pair: NewestPair) -> dict[str, Any]:
    agent = [("agent", pair.agent)] if pair.agent is not None else []
    href = links.with_query(
        "/releases", [*agent, ("base", pair.base), ("candidate", pair.candidate)]
    )
    key = comparison_key(request, pair.base, pair.candidate, pair.agent)
    found: Comparisons | None = request.snapshot.made_before(key)
    if found is None:
        request.ahead(key, lambda later: _compare(later, pair))
    cohorts = (
        request.snapshot.cached(("decided", key), lambda: [*_cohorts(found)]) if found else []
    )
    return {**pair._asdict(), "href": href, "compared": found is not None, "cohorts": cohorts}


def _compare(request: PageRequest, pair: NewestPair) -> None:
    try:
        compared_releases(request, pair.base, pair.candidate, pair.agent)
    except NothingToCompare:
        return


def _cohorts(found: Comparisons) -> Iterator[dict[str, Any]]:
    for comparison in found.cohorts:
        view = decision_view(comparison, found, DEFAULT_RULE)
        yield {**view._asdict(), "headline": view.headline}
