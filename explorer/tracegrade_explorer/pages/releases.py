"""`/releases`: whether the new release is better, with the results of `tracegrade compare`."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from tracegrade_explorer import links
from tracegrade_explorer.alerts.marks import alert_marks
from tracegrade_explorer.errors import BadFilter
from tracegrade_explorer.filters.grammar import Filter
from tracegrade_explorer.kills.links import killed_releases, lines_of_release
from tracegrade_explorer.pages.comparisons import PairToCompare, comparison_so_far, pair_of
from tracegrade_explorer.pages.definitions import several_definitions
from tracegrade_explorer.pages.newest_releases import NewestReleases, listed, newest_releases
from tracegrade_explorer.pages.release_rows import cohort_rows
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse, WrittenJson
from tracegrade_explorer.snapshots.snapshot import Row, read_cached
from tracegrade_scoring.compare.as_json import render_json
from tracegrade_scoring.compare.model import Comparison, Comparisons
from tracegrade_scoring.compare.rule_outcomes import apply_rules
from tracegrade_scoring.compare.sides import sides_of
from tracegrade_scoring.rendering.kill_pages import KillLine
from tracegrade_watch.alert import Alert

MOST_NAMES: Final = 50
"""Values of a dimension to choose from, and releases of an agent that has too many."""
OWN: Final = ("agent", "base", "candidate", "by", "where")
REFRESH_SECS: Final = 2
"""After so long a page asks again for a comparison that is under way."""


class Choice(NamedTuple):
    """Two releases that may be compared."""

    agent: str
    mode: str
    text: str
    href: str
    releases: dict[str, str]
    """By `base` and `candidate`."""


def releases(request: PageRequest) -> PageResponse:
    """Return two releases side by side, or the choices if none was made."""
    given = _given(request)
    found = newest_releases(request.con)
    view = _view(request, given, found)
    rows = found.releases
    if not given.get("base") or not given.get("candidate"):
        columns = [*rows[0]] if rows else ["release"]
        data = {"releases": rows, "reasons": found.reasons, "mixed": view["mixed"]}
        return PageContent("releases", "Releases", view, data, columns, rows)
    by, where = (given.get(key) or None for key in ("by", "where"))
    dimensions = request.snapshot.dimensions
    sides = sides_of(given["base"], given["candidate"], by, where, dimensions)
    pair = pair_of(given["base"], given["candidate"], given.get("agent") or None, sides)
    title = f"{pair.base} and {pair.candidate}"
    both = comparison_so_far(request, pair)
    if both is None:
        waiting = {"comparing": _under_way(pair, rows), "refresh_secs": REFRESH_SECS}
        return PageContent("releases", title, {**view, **waiting}, None)
    cohorts = [
        {**cohort_rows(each, both, sides), "decided_kills": _decided_kills(request, each, both)}
        for each in both.cohorts
    ]
    written = WrittenJson(render_json(apply_rules(both, ())))
    return PageContent("releases", title, {**view, "cohorts": cohorts}, written)


def _view(request: PageRequest, given: dict[str, str], found: NewestReleases) -> dict[str, Any]:
    """Return what the page shows of all releases."""
    rows = [*listed(found.releases, MOST_NAMES)]
    chosen = {given[side] for side in ("base", "candidate") if given.get(side)}
    choices = [*_choices(rows)]
    return {
        "alerts": alert_marks(request, partial(_is_about, given)),
        "choices": choices,
        "releases": sorted(
            chosen | {row["release"] for row in rows if row["release"] is not None}
        ),
        "agents": sorted({row["agent_name"] for row in rows if row["agent_name"] is not None}),
        "given": {**(choices[0].releases if choices else {}), **given},
        "newest": found.agents,
        "kills": [*killed_releases(request)],
        "dimensions": request.snapshot.dimensions,
        "names": [*_names(request, given.get("by", ""))],
        "mixed": several_definitions(request),
        "cohorts": [],
        "comparing": "",
    }


def _names(request: PageRequest, by: str) -> Iterator[str]:
    """Yield the values of a dimension, those of most runs first."""
    if by:
        rows = read_cached(
            request.snapshot, request.con, "dimension_facets", Filter(),
            names=MOST_NAMES, dimensions=by,
        )  # fmt: skip
        yield from (row["name"] for row in rows if row["name"] is not None)


def _decided_kills(
    request: PageRequest, comparison: Comparison, of: Comparisons
) -> list[KillLine]:
    """Return the kills of both releases, the candidate's first."""
    agent_name = comparison.cohort.agent_name
    return [
        line
        for release in (of.candidate, of.base)
        for line in lines_of_release(request, agent_name, release)
    ]


def _is_about(given: Mapping[str, str], alert: Alert) -> bool:
    """Return whether an alert is about a release on the page: the candidate if one is chosen."""
    chosen = given.get("candidate") or alert.candidate
    return not given.get("by") and alert.candidate is not None and alert.candidate == chosen


def _given(request: PageRequest) -> dict[str, str]:
    unknown = [key for key, _ in request.pairs if key not in OWN]
    if unknown:
        msg = f"'{unknown[0]}' is not known here; known: {', '.join(OWN)}"
        raise BadFilter(msg)
    return dict(request.pairs)


def _under_way(pair: PairToCompare, rows: list[Row]) -> str:
    """Return which runs are being compared."""
    if pair.sides:
        return f"the runs of {pair.base} and of {pair.candidate}"
    counts = (
        sum(
            row["runs"] for row in rows
            if row["release"] == release and pair.agent in {None, row["agent_name"]}
        )
        for release in (pair.base, pair.candidate)
    )  # fmt: skip
    return f"{next(counts):,} and {next(counts):,} runs"


def _choices(rows: list[Row]) -> Iterator[Choice]:
    """Yield neighboring releases of each agent and run mode, the newest first."""
    for older, newer in zip(rows[1:], rows, strict=False):
        alike = all(older[key] == newer[key] for key in ("agent_name", "run_mode"))
        if alike and older["release"] is not None and newer["release"] is not None:
            releases = {"base": older["release"], "candidate": newer["release"]}
            agent = {} if newer["agent_name"] is None else {"agent": newer["agent_name"]}
            yield Choice(
                newer["agent_name"] or "(no agent name)",
                newer["run_mode"] or "",
                f"{older['release']} → {newer['release']}",
                links.with_query("/releases", [*agent.items(), *releases.items()]),
                releases,
            )
