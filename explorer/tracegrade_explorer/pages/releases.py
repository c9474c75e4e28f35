"""`/releases`: whether the new release is better, with the results of `tracegrade compare`."""

import time
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter
from tracegrade_explorer.filters.grammar import Filter
from tracegrade_explorer.kills.links import killed_releases, lines_of_release
from tracegrade_explorer.pages.newest_releases import NewestReleases, newest_releases
from tracegrade_explorer.pages.release_rows import cohort_rows
from tracegrade_explorer.responses import HTML, PageContent, PageRequest, PageResponse, WrittenJson
from tracegrade_explorer.snapshots.snapshot import Row, read_cached
from tracegrade_scoring.calibrations import CORRECTED_RATES, VERDICT_CALIBRATIONS
from tracegrade_scoring.compare.as_json import render_json
from tracegrade_scoring.compare.judge_corrections import measured_judges
from tracegrade_scoring.compare.model import Comparison, Comparisons
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.rule_outcomes import apply_rules
from tracegrade_scoring.compare.sides import ComparedSides, compared, sides_of
from tracegrade_scoring.errors import NothingToCompare
from tracegrade_scoring.rendering.kill_pages import KillLine

MOST_NAMES: Final = 50
"""Values of a dimension to choose from."""
OWN: Final = ("agent", "base", "candidate", "by", "where")
POLL_SECS: Final = 0.02
REFRESH_SECS: Final = 2
"""After so long a page asks again for a comparison that is under way."""
NOTHING: Final = "nothing to compare"
"""Begin of the key of the reason why a pair has no comparison."""


class PairToCompare(NamedTuple):
    """Two releases, of all agents or of one."""

    base: str
    candidate: str
    agent: str | None


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
        data = {"releases": rows, "reasons": found.reasons}
        return PageContent("releases", "Releases", view, data, columns, rows)
    pair = PairToCompare(given["base"], given["candidate"], given.get("agent") or None)
    title = f"{pair.base} and {pair.candidate}"
    by, where = (given.get(key) or None for key in ("by", "where"))
    sides = sides_of(pair.base, pair.candidate, by, where, request.snapshot.dimensions)
    both = (
        _compared_sides(request, sides, pair.agent) if sides else _comparison_so_far(request, pair)
    )
    if both is None:
        waiting = {"comparing": [*_runs_of(pair, rows)], "refresh_secs": REFRESH_SECS}
        return PageContent("releases", title, {**view, **waiting}, None)
    cohorts = [
        {**cohort_rows(each, both, sides), "decided_kills": _decided_kills(request, each, both)}
        for each in both.cohorts
    ]
    written = WrittenJson(render_json(apply_rules(both, ())))
    return PageContent("releases", title, {**view, "cohorts": cohorts}, written)


def _view(request: PageRequest, given: dict[str, str], found: NewestReleases) -> dict[str, Any]:
    """Return what the page shows of all releases."""
    rows = found.releases
    choices = [*_choices(rows)]
    return {
        "choices": choices,
        "releases": sorted({row["release"] for row in rows if row["release"] is not None}),
        "agents": sorted({row["agent_name"] for row in rows if row["agent_name"] is not None}),
        "given": {**(choices[0].releases if choices else {}), **given},
        "newest": found.agents,
        "kills": [*killed_releases(request)],
        "dimensions": request.snapshot.dimensions,
        "names": [*_names(request, given.get("by", ""))],
        "cohorts": [],
        "comparing": [],
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


def _given(request: PageRequest) -> dict[str, str]:
    unknown = [key for key, _ in request.pairs if key not in OWN]
    if unknown:
        msg = f"'{unknown[0]}' is not known here; known: {', '.join(OWN)}"
        raise BadFilter(msg)
    return dict(request.pairs)


def _runs_of(pair: PairToCompare, rows: list[Row]) -> Iterator[int]:
    """Yield how many runs there are of both releases."""
    for release in (pair.base, pair.candidate):
        yield sum(
            row["runs"] for row in rows
            if row["release"] == release and pair.agent in {None, row["agent_name"]}
        )  # fmt: skip


def _comparison_so_far(request: PageRequest, pair: PairToCompare) -> Comparisons | None:
    """Return a comparison; None for a page if it takes longer than a reader should wait.

    Raises:
        NothingToCompare: A release has no run.
    """
    if request.form != HTML:
        return compared_releases(request, pair)
    ends = time.monotonic() + request.site.comparison_secs
    while (found := compare_ahead(request, pair)) is None and time.monotonic() < ends:
        time.sleep(POLL_SECS)
    return found


def compare_ahead(request: PageRequest, pair: PairToCompare) -> Comparisons | None:
    """Return a comparison once it is worked out; the first who asks has it begun.

    Raises:
        NothingToCompare: A release has no run.
    """
    key = comparison_key(request, pair)
    if why := request.snapshot.made_before((NOTHING, key)):
        raise NothingToCompare(why)
    found: Comparisons | None = request.snapshot.made_before(key)
    if found is None:
        request.ahead(key, lambda later: _compare(later, pair))
    return found


def _compare(request: PageRequest, pair: PairToCompare) -> None:
    """Work out a comparison, or note why there is none."""
    try:
        compared_releases(request, pair)
    except NothingToCompare as error:
        why = str(error)
        request.snapshot.cached((NOTHING, comparison_key(request, pair)), lambda: why)


def compared_releases(request: PageRequest, pair: PairToCompare) -> Comparisons:
    """Return the comparison, computed once for a scoring run and a set of judge data.

    Raises:
        NothingToCompare: A release has no run.
    """
    lake = request.snapshot.lake

    def make() -> Comparisons:
        return read_comparisons(
            request.con, request.site.lake, *pair, measured=measured_judges(lake)
        )

    found: Comparisons = request.snapshot.cached(comparison_key(request, pair), make)
    return found


def _compared_sides(request: PageRequest, sides: ComparedSides, agent: str | None) -> Comparisons:
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

    key = ("sides", *comparison_key(request, PairToCompare(base, candidate, agent)))
    found: Comparisons = request.snapshot.cached(key, make)
    return found


def comparison_key(request: PageRequest, pair: PairToCompare) -> tuple[object, ...]:
    """Return the key of the comparison of two releases in a snapshot."""
    judged = (VERDICT_CALIBRATIONS, CORRECTED_RATES)
    versions = [request.snapshot.lake.version(table.name) for table in judged]
    return ("compare", *pair, *versions)


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
