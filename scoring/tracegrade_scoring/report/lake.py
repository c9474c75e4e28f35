"""Opens a lake for a report, all its tables as one scoring run left them."""

from collections.abc import Callable
from pathlib import Path

from tracegrade_queries.connection import connect, open_lake
from tracegrade_scoring.report.model import Report
from tracegrade_scoring.report.read import read_report
from tracegrade_scoring.schema import SCORE_TABLES


def read_lake(place: str | Path, note: Callable[[str], object]) -> Report:
    """Return the report of a lake as it is now; `note` gets a line if reading it is slow.

    Raises:
        LakeMissing: There is no lake.
    """
    with connect(open_lake(place, note), tables=SCORE_TABLES) as con:
        return read_report(con, str(place))
