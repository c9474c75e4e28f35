"""`/releases`: whether the new release is better, with the results of `tracegrade compare`."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter
from tracegrade_explorer.filters.grammar import Filter
from tracegrade_explorer.kills.links import killed_releases, lines_of_release
from tracegrade_explorer.pages.newest_releases import newest_releases
from tracegrade_explorer.pages.release_rows import cohort_rows
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse, WrittenJson
from tracegrade_explorer.snapshots.snapshot import Row, read_cached
from tracegrade_scoring.calibrations import CORRECTED_RATES, VERDICT_CALIBRATIONS
from tracegrade_scoring.compare.as_json import render_json
from tracegrade_scoring.compare.judge_corrections import measured_judges
from tracegrade_scoring.compare.model import Comparison, Comparisons
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.rule_outcomes import apply_rules
from tracegrade_scoring.compare.sides import Sides, compared, sides_of
from tracegrade_scoring.rendering.kill_pages import KillLine

MOST_NAMES: Final = 50
"""Values of a dimension to choose from."""
OWN: Final = ("agent", "base", "candidate", "by", "where")


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
    rows = found.releases
    choices = [*_choices(rows)]
    view: dict[str, Any] = {
        "choices": choices,
        "releases": sorted({row["release"] for row in rows if row["release"] is not None}),
        "agents": sorted({row["agent_name"] for row in rows if row["agent_name"] is not None}),
        "given": {**(choices[0].releases if choices else {}), **given},
        "newest": found.agents,
        "kills": [*killed_releases(request)],
        "dimensions": request.snapshot.dimensions,
        "names": [*_names(request, given.get("by", ""))],
        "cohorts": [],
    }
    if not given.get("base") or not given.get("candidate"):
        columns = [*rows[0]] if rows else ["release"]
        return PageContent("releases", "Releases", view, {
            "releases": rows, "reasons": found.reasons,
        }, columns, rows)  # fmt: skip
    by, where = (given.get(key) or None for key in ("by", "where"))
    sides = sides_of(given["base"], given["candidate"], by, where, request.snapshot.dimensions)
    agent = given.get("agent") or None
    if sides is None:
        both = compared_releases(request, given["base"], given["candidate"], agent)
    else:
        both = _compared_sides(request, sides, agent)
    view["cohorts"] = [
        {**cohort_rows(each, both, sides), "decided_kills": _decided_kills(request, each, both)}
        for each in both.cohorts
    ]
    title = f"{given['base']} and {given['candidate']}"
    return PageContent("releases", title, view, WrittenJson(render_json(apply_rules(both, ()))))


def _names(request: PageRequest, by: str) -> Iterator[str]:
    """Yield the values of a dimension, those of most runs first."""
    if by:
        rows = read_cached(
            request.snapshot, request.con, "facets", Filter(), names=MOST_NAMES, dimensions=by
        )
        yield from (row["name"] for row in rows if row["facet"] == by and row["name"] is not None)


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


def _given(request: PageRequest) -> dict[str, str]:
    unknown = [key for key, _ in request.pairs if key not in OWN]
    if unknown:
        msg = f"'{unknown[0]}' is not known here; known: {', '.join(OWN)}"
        raise BadFilter(msg)
    return dict(request.pairs)


def compared_releases(
    request: PageRequest, base: str, candidate: str, agent: str | None
) -> Comparisons:
    """Return the comparison, computed once for a scoring run and a set of judge data.

    Raises:
        NothingToCompare: A release has no run.
    """
    lake = request.snapshot.lake

    def make() -> Comparisons:
        return read_comparisons(
            request.con, request.site.lake, base, candidate, agent, measured=measured_judges(lake)
        )

    found: Comparisons = request.snapshot.cached(
        comparison_key(request, base, candidate, agent), make
    )
    return found


def _compared_sides(request: PageRequest, sides: Sides, agent: str | None) -> Comparisons:
    """Return the comparison of sides that are no releases, computed once for a scoring run."""
    base, candidate = sides.base.label, sides.candidate.label

    def make() -> Comparisons:
        with compared(request.con, sides):
            return read_comparisons(
                request.con,
                request.site.lake,
                base,
                candidate,
                agent,
                measured=measured_judges(request.snapshot.lake),
                compared=sides.keys,
            )

    key = ("sides", *comparison_key(request, base, candidate, agent))
    found: Comparisons = request.snapshot.cached(key, make)
    return found


def comparison_key(
    request: PageRequest, base: str, candidate: str, agent: str | None
) -> tuple[object, ...]:
    """Return the key of the comparison of two releases in a snapshot."""
    judged = (VERDICT_CALIBRATIONS, CORRECTED_RATES)
    versions = [request.snapshot.lake.version(table.name) for table in judged]
    return ("compare", base, candidate, agent, *versions)


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
