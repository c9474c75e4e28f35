"""Scores a lake, and reads from it the runs to check."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from duckdb import DuckDBPyConnection

from tracegrade.suggestions import did_you_mean
from tracegrade.terminal.progress import progress
from tracegrade.terminal.visible import visible
from tracegrade_ci.baseline import NoBaseline, StoredBaseline
from tracegrade_ci.errors import CheckRefused
from tracegrade_ci.pairing import CandidateRuns, is_outdated, runs_of
from tracegrade_ci.release_rows import ReleaseRows, ScoredBy, release_rows, scored_by
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.compare.sides import releases_in_words
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.own_metrics.in_force import MetricOptions, with_metrics
from tracegrade_scoring.tasks.specification import usable_specification

Note = Callable[[str], object]


def score_lake(lake: Lake, tasks: Path | None, note: Note) -> None:
    """Score what is new in a lake, as `tracegrade score` does; wait for another job.

    Args:
        lake: The lake.
        tasks: A task file, or a folder of them; None for those that the lake was scored by last.
        note: Gets a line for each part of the tasks that cannot be used.
    """
    specification, notes = usable_specification(tasks, forget=False, note=note)
    for each in notes:
        note(each)
    specification = with_metrics(lake, specification, MetricOptions(), note)
    with progress() as show:
        score(
            lake,
            specification,
            wait=True,
            progress=lambda buckets, of: show(f"scored bucket {buckets} of {of}"),
        )


@contextmanager
def opened_scores(lake: Lake) -> Iterator[DuckDBPyConnection]:
    """Yield an engine with the tables of a lake as one scoring run left them."""
    with connect(lake, layers=(SCORES,)) as con:
        yield con


def scored_release(
    con: DuckDBPyConnection, release: str, prices: str
) -> tuple[ReleaseRows, ScoredBy]:
    """Return the rows of a release.

    Args:
        con: Of `opened_scores`.
        release: The release.
        prices: Digest of the prices of the lake.

    Raises:
        CheckRefused: It has no scored run.
    """
    scored = scored_by(con, release)
    if scored is None:
        raise CheckRefused(_unknown(con, release))
    return release_rows(con, release), scored._replace(prices=prices)


def candidate_runs(
    con: DuckDBPyConnection, release: str, baseline: StoredBaseline | NoBaseline, prices: str
) -> CandidateRuns:
    """Return the runs to check, and the baseline's if the lake scored all by other tasks.

    Raises:
        CheckRefused: The release has no scored run.
    """
    rows, scored = scored_release(con, release, prices)
    rescored = None
    if isinstance(baseline, StoredBaseline) and baseline.notes.release != release:
        base = baseline.notes.release
        if is_outdated(baseline, rows, scored) and scored_by(con, base) is not None:
            found = release_rows(con, base)
            rescored = found if runs_of(found) >= runs_of(baseline.rows) else None
    return CandidateRuns(release, rows, scored, rescored)


def _unknown(con: DuckDBPyConnection, release: str) -> str:
    names = con.sql("SELECT DISTINCT release FROM trajectory_scores ORDER BY ALL").fetchall()
    known = [name for (name,) in names if name is not None]
    hint = did_you_mean(release, known) or f"scored releases: {releases_in_words(known)}"
    return f"no run of release '{visible(release)}' has been scored; {hint}"
