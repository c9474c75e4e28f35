"""What one run of the job commits: files staged bucket by bucket, one commit for each table.

Every commit notes the run's number, and `trajectory_scores` comes last: its number says which run
is whole. Readers see all score tables as of that run, so a run that is committing, or was killed
while it did, is not seen. The next run puts right what a killed one left. A run that another one
overtook, since its lock on an object store was lost, commits nothing more.
"""

import uuid
from collections.abc import Mapping
from datetime import date

import duckdb
import pyarrow as pa

from tracegrade_lake import Lake, Table
from tracegrade_lake.crash_points import reach
from tracegrade_queries.engine.bucket_work import Outcome
from tracegrade_queries.engine.pinned import last_run
from tracegrade_queries.engine.staged import stage_other_traces
from tracegrade_scoring.layer import RUN_ORDER
from tracegrade_scoring.schema import SCORE_TABLES


def run_numbers(lake: Lake) -> dict[str, int]:
    """Return by score table the number of the run that committed to it last; 0 for none."""
    noted = RUN_ORDER.application
    return {table.name: lake.noted_version(table.name, noted)[1] for table in SCORE_TABLES}


class ScoringCommit:
    """What one run of the job commits: for each table the files that its buckets staged."""

    def __init__(
        self,
        lake: Lake,
        con: duckdb.DuckDBPyConnection,
        scored: Outcome,
        before: Mapping[str, int],
    ) -> None:
        """Take the next number.

        Args:
            lake: The lake to write.
            con: Reads the score tables as of the last whole run; holds `traces_to_score`.
            scored: What all buckets staged.
            before: What `run_numbers` returned before the tables were read.
        """
        self._lake = lake
        self._con = con
        self._files = scored.files
        self._whole = last_run(lake, RUN_ORDER)
        self._before = before
        self._number = max(before.values()) + 1

    def commit_dated(self, table: Table) -> None:
        """Let the staged rows stand for all others of the scored traces."""
        dates = sorted(self._dates_scored() | self._dates_torn(table))
        kept = stage_other_traces(self._lake, self._con, table, dates, "traces_to_score")
        files = [*self._files.get(table.name, ()), *kept]
        self._lake.put_files(
            table, files, list(map(str, dates)), self._noting(), self._following(table)
        )
        reach("scores_committed")

    def commit_whole(self, table: Table, rows: pa.Table) -> None:
        """Let the table hold exactly these rows."""
        before = [file.path for file in self._lake.live_files(table.name)]
        files = self._lake.stage(table, rows, uuid.uuid4().hex)
        follows = self._following(table)
        self._lake.replace_files(table, before, files, self._noting(), follows=follows)
        reach("scores_committed")

    def _noting(self) -> dict[str, int]:
        return {RUN_ORDER.application: self._number}

    def _following(self, table: Table) -> dict[str, int]:
        return {RUN_ORDER.application: self._before[table.name]}

    def _dates_scored(self) -> set[date]:
        """Return the dates that hold older scores of the traces."""
        found = self._con.sql(
            "SELECT DISTINCT scored_date FROM traces_to_score WHERE scored_date IS NOT NULL"
        )
        return {day for (day,) in found.fetchall()}

    def _dates_torn(self, table: Table) -> set[date]:
        """Return the dates at which a run that was killed left other rows than the last whole."""
        version = self._lake.version_noting(table.name, RUN_ORDER.application, self._whole)
        if version == self._lake.version(table.name):
            return set()
        now = {(file.path, file.date) for file in self._lake.live_files(table.name)}
        before = (
            {(file.path, file.date) for file in self._lake.live_files(table.name, version)}
            if version is not None
            else set()
        )
        return {date.fromisoformat(day) for _, day in now ^ before if day}
