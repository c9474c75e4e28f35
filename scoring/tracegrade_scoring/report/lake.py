"""Opens a lake for a report, all its tables as one scoring run left them."""

from collections.abc import Callable
from pathlib import Path

from tracegrade_queries.engine.connection import connect, open_lake
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.report.model import (
    DEFAULT_OPTIONS,
    EVERY_ATTEMPT,
    Counting,
    Report,
    ReportOptions,
)
from tracegrade_scoring.report.read import read_report
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.read import CHARACTERS, STEP_ROWS, read_timeline

UNLIMITED = 2**31
"""More than a run has steps, or a text characters."""


def read_lake(
    place: str | Path,
    note: Callable[[str], object],
    counting: Counting = EVERY_ATTEMPT,
    options: ReportOptions = DEFAULT_OPTIONS,
) -> Report:
    """Return the report of a lake as it is now; `note` gets a line if reading it is slow.

    Raises:
        LakeMissing: There is no lake.
    """
    with connect(open_lake(place, note), layers=(SCORES,)) as con:
        return read_report(con, str(place), counting, options)


def read_run(
    place: str | Path, note: Callable[[str], object], name: str, *, whole: bool
) -> Timeline:
    """Return one run of a lake as it is now.

    Args:
        place: Path or URL of the lake.
        note: Gets a line if reading it is slow.
        name: Id of the trajectory, or enough of its beginning.
        whole: Read every step and text, not just what a page can hold.

    Raises:
        LakeMissing: There is no lake.
        TrajectoryUnknown: No trajectory has this id, or several begin so.
    """
    rows, characters = (UNLIMITED, UNLIMITED) if whole else (STEP_ROWS, CHARACTERS)
    with connect(open_lake(place, note), layers=(SCORES,)) as con:
        return read_timeline(con, str(place), name, rows=rows, characters=characters)
