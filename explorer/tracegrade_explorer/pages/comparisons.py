"""Comparisons of releases and slices, each worked out once for a scoring run."""

import time
from typing import Final, NamedTuple

from tracegrade_explorer.responses import HTML, PageRequest
from tracegrade_scoring.calibrations import CORRECTED_RATES, VERDICT_CALIBRATIONS
from tracegrade_scoring.compare.judge_corrections import measured_judges
from tracegrade_scoring.compare.model import Comparisons
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.sides import ComparedSides, compared
from tracegrade_scoring.errors import BadSide, NothingToCompare

POLL_SECS: Final = 0.02
FAILED: Final = "not compared"
"""Begin of the key of the reason why a pair has no comparison."""


class PairToCompare(NamedTuple):
    """Two releases or slices, of all agents or of one."""

    base: str
    candidate: str
    agent: str | None
    sides: ComparedSides | None = None
    """The slices; None for releases."""


def pair_of(
    base: str, candidate: str, agent: str | None, sides: ComparedSides | None
) -> PairToCompare:
    """Return the pair; slices go by the texts of their filters."""
    if sides is None:
        return PairToCompare(base, candidate, agent)
    return PairToCompare(sides.base.label, sides.candidate.label, agent, sides)


def comparison_so_far(request: PageRequest, pair: PairToCompare) -> Comparisons | None:
    """Return a comparison; None for a page if it takes longer than a reader should wait.

    Raises:
        NothingToCompare: A side has no run.
        BadSide: Runs are on both sides.
    """
    if request.form != HTML:
        return comparison_of(request, pair)
    ends = time.monotonic() + request.site.comparison_secs
    while (found := compare_ahead(request, pair)) is None and time.monotonic() < ends:
        time.sleep(POLL_SECS)
    return found


def compare_ahead(request: PageRequest, pair: PairToCompare) -> Comparisons | None:
    """Return a comparison once it is worked out; the first who asks has it begun.

    Raises:
        NothingToCompare: A side has no run.
        BadSide: Runs are on both sides.
    """
    key = comparison_key(request, pair)
    if failed := request.snapshot.made_before((FAILED, key)):
        raise type(failed)(str(failed))
    found: Comparisons | None = request.snapshot.made_before(key)
    if found is None:
        request.ahead(key, lambda later: _compare(later, pair))
    return found


def _compare(request: PageRequest, pair: PairToCompare) -> None:
    """Work out a comparison, or note why there is none."""
    try:
        comparison_of(request, pair)
    except (NothingToCompare, BadSide) as error:
        failed = error
        request.snapshot.cached((FAILED, comparison_key(request, pair)), lambda: failed)


def comparison_of(request: PageRequest, pair: PairToCompare) -> Comparisons:
    """Return the comparison, computed once for a scoring run and a set of judge data.

    Raises:
        NothingToCompare: A side has no run.
        BadSide: Runs are on both sides.
    """
    sides = pair.sides

    def make() -> Comparisons:
        with compared(request.con, sides):
            return read_comparisons(
                request.con,
                request.site.lake,
                pair.base,
                pair.candidate,
                pair.agent,
                measured=measured_judges(request.snapshot.lake),
                compared=sides.keys if sides else (),
            )

    found: Comparisons = request.snapshot.cached(comparison_key(request, pair), make)
    return found


def comparison_key(request: PageRequest, pair: PairToCompare) -> tuple[object, ...]:
    """Return the key of the comparison of a pair in a snapshot."""
    judged = (VERDICT_CALIBRATIONS, CORRECTED_RATES)
    versions = [request.snapshot.lake.version(table.name) for table in judged]
    kind = "slices" if pair.sides else "releases"
    return ("compare", kind, pair.base, pair.candidate, pair.agent, *versions)
