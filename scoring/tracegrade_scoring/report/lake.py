"""Opens a lake for a report, all its tables as one scoring run left them."""

from pathlib import Path

from duckdb import DuckDBPyConnection

from tracegrade_collector.lake import Lake
from tracegrade_queries.connection import connect
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.report.model import Report
from tracegrade_scoring.report.read import read_report
from tracegrade_scoring.schema import SCORE, SCORE_TABLES


def read_lake(root: Path) -> Report:
    """Return the report of a lake as it is now.

    Raises:
        LakeMissing: There is no lake.
    """
    with connect(Lake.open(root), tables=SCORE_TABLES) as con:
        create_scores(con)
        return read_report(con, str(root))


def create_scores(con: DuckDBPyConnection) -> None:
    """Create the view `scores`: `trajectory_scores` with one row per trajectory and metric."""
    fields = ", ".join(f"score.{name}" for name in SCORE.names)
    con.execute(
        f"CREATE VIEW scores AS SELECT trajectory_id, task_id, release, agent_name, metric, "  # noqa: S608 - declared names
        f"{fields} FROM trajectory_scores UNPIVOT (score FOR metric IN ({', '.join(METRICS)}))"
    )
