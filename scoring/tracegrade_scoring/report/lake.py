"""Opens a lake for a report, all its tables as one scoring run left them."""

from pathlib import Path

from tracegrade_collector.lake import Lake
from tracegrade_queries.connection import connect
from tracegrade_scoring.report.model import Report
from tracegrade_scoring.report.read import read_report
from tracegrade_scoring.schema import SCORE_TABLES


def read_lake(root: str | Path) -> Report:
    """Return the report of a lake as it is now.

    Raises:
        LakeMissing: There is no lake.
    """
    with connect(Lake.open(root), tables=SCORE_TABLES) as con:
        return read_report(con, str(root))
