"""What one run of the job commits: files staged bucket by bucket, one commit for each table.

Every commit notes the run's number, and `trajectory_scores` comes last: its number says which run
is whole. Readers see all score tables as of that run, so a run that is committing, or was killed
while it did, is not seen. The next run puts right what a killed one left. A run that another one
overtook, since its lock on an object store was lost, commits nothing more.
"""

import uuid
from collections.abc import Mapping
from datetime import date

import pyarrow as pa

from tracegrade_lake import Lake, Table
from tracegrade_lake.crash_points import reach
from tracegrade_queries.engine.bucket_work import Outcome
from tracegrade_queries.engine.staged import stage_other_traces
from tracegrade_scoring.job.discovery import TracesToScore
from tracegrade_scoring.job.last_scoring import NotedFile
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
        found: TracesToScore,
        scored: Outcome,
        before: Mapping[str, int],
    ) -> None:
        """Take the next number.

        Args:
            lake: The lake to write.
            found: What was to be scored; reads the score tables as of the last whole run.
            scored: What all buckets staged.
            before: What `run_numbers` returned before the tables were read.
        """
        self._lake = lake
        self._found = found
        self._files = scored.files
        self._before = before
        self._number = max(before.values()) + 1

    def commit_dated(self, table: Table) -> list[NotedFile]:
        """Let the staged rows stand for all others of the scored traces.

        Returns:
            All files that the table has then.
        """
        dates = sorted(self._dates_scored() | self._found.look.torn.get(table.name, frozenset()))
        days = map(date.fromisoformat, dates)
        kept = stage_other_traces(self._lake, self._found.con, table, days, "traces_to_score")
        files = [*self._files.get(table.name, ()), *kept]
        self._lake.put_files(table, files, dates, self._noting(), self._following(table))
        reach("scores_committed")
        before = self._found.look.lake.tables.get(table.name)
        others = [file for file in before.files if file.date not in dates] if before else []
        return [
            *(NotedFile.of(table, file) for file in others),
            *(NotedFile.staged(table, file) for file in files),
        ]

    def commit_whole(self, table: Table, rows: pa.Table) -> list[NotedFile]:
        """Let the table hold exactly these rows; return its files."""
        before = [file.path for file in self._lake.live_files(table.name)]
        files = self._lake.stage(table, rows, uuid.uuid4().hex)
        follows = self._following(table)
        self._lake.replace_files(table, before, files, self._noting(), follows=follows)
        reach("scores_committed")
        return [NotedFile.staged(table, file) for file in files]

    def _noting(self) -> dict[str, int]:
        return {RUN_ORDER.application: self._number}

    def _following(self, table: Table) -> dict[str, int]:
        return {RUN_ORDER.application: self._before[table.name]}

    def _dates_scored(self) -> set[str]:
        """Return the dates that hold older scores of the traces."""
        found = self._found.con.sql(
            "SELECT DISTINCT scored_date FROM traces_to_score WHERE scored_date IS NOT NULL"
        )
        return {str(day) for (day,) in found.fetchall()}
