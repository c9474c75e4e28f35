"""Opens a lake for a report, all its tables as one scoring run left them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from duckdb import DuckDBPyConnection

from tracegrade_queries.engine.connection import connect, connect_whole, open_lake
from tracegrade_scoring.compare.judge_corrections import measured_judges
from tracegrade_scoring.compare.lake import declared_tasks
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.rendering.own_metrics import note_unreadable
from tracegrade_scoring.report.model import (
    AS_TIERS,
    DEFAULT_OPTIONS,
    EVERYTHING,
    AttemptPolicy,
    Report,
    ReportOptions,
    Selection,
)
from tracegrade_scoring.report.read import read_report
from tracegrade_scoring.report.rules import ReleaseRule, with_outcomes
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.read import PAGE, Window, read_timeline

UNLIMITED = 2**31
"""More than a run has steps, or a text characters."""


class ReportRequest(NamedTuple):
    """A reader's choices for a report."""

    counting: AttemptPolicy = AS_TIERS
    options: ReportOptions = DEFAULT_OPTIONS
    selection: Selection = EVERYTHING
    rules: Sequence[ReleaseRule] = ()
    """Conditions that must not be true of a release."""


ALL_RUNS: Final = ReportRequest()


def read_lake(
    location: str | Path, note: Callable[[str], object], request: ReportRequest = ALL_RUNS
) -> Report:
    """Return the report of a lake as it is now.

    `note` gets a line if reading it is slow, and one of metrics whose definition cannot be read.

    Raises:
        LakeMissing: There is no lake.
        NothingToReport: It has no run of the requested agent or a requested release.
        TaskFileInvalid: Trials are declared, and the tasks that the lake keeps cannot be read.
    """
    with opened_report(location, note, request) as (_, report):
        return report


@contextmanager
def opened_report(
    location: str | Path, note: Callable[[str], object], request: ReportRequest
) -> Iterator[tuple[DuckDBPyConnection, Report]]:
    """Yield what reads a lake as one scoring run left it, and its report; raise as `read_lake`."""
    lake = open_lake(location, note)
    declared = list(declared_tasks(lake)) if request.counting.trials else []
    con, pinned = connect_whole(lake, (SCORES,))
    with con:
        note_unreadable(con, note)
        counting, options, selection, rules = request
        measured = measured_judges(lake)
        report = read_report(
            con, str(location), counting, options, declared, measured, selection, pinned
        )
        yield con, with_outcomes(report, rules)


def read_run(
    location: str | Path, note: Callable[[str], object], name: str, *, whole: bool
) -> Timeline:
    """Return one run of a lake as it is now.

    Args:
        location: Path or URL of the lake.
        note: Gets a line if reading it is slow.
        name: Id of the trajectory, or enough of its beginning.
        whole: Read every step and text, not just what a page can hold.

    Raises:
        LakeMissing: There is no lake.
        TrajectoryUnknown: No trajectory has this id, or several begin so.
    """
    window = Window(rows=UNLIMITED, characters=UNLIMITED) if whole else PAGE
    with connect(open_lake(location, note), layers=(SCORES,)) as con:
        return read_timeline(con, str(location), name, window)
