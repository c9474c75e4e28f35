"""Commits one run of the job: files staged bucket by bucket, one commit for each table.

Every commit notes the run's number, and `trajectory_scores` comes last: its number says which run
is whole. Readers see all score tables as of that run, so a run that is committing, or was killed
while it did, is not seen. The next run puts right what a killed one left. A run that another one
overtook, since its lock on an object store was lost, commits nothing more.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

import pyarrow as pa

from tracegrade_lake import Lake, StagedFile, Table
from tracegrade_lake.commit import LiveFile
from tracegrade_lake.crash_points import reach
from tracegrade_queries.engine.bucket_work import Outcome
from tracegrade_queries.engine.executor import Executor
from tracegrade_queries.engine.pinned import PinnedLake, dated_on
from tracegrade_queries.engine.replacing import Replacement
from tracegrade_queries.engine.staged import stage_other_traces
from tracegrade_scoring.job.discovery import TracesToScore
from tracegrade_scoring.job.last_scoring import ProcessedFile
from tracegrade_scoring.job.score_bucket import STAGED
from tracegrade_scoring.layer import RUN_ORDER
from tracegrade_scoring.schema import SCORE_TABLES


def run_numbers(lake: Lake) -> dict[str, int]:
    """Return by score table the number of the run that committed to it last; 0 for none."""
    noted = RUN_ORDER.application
    return {table.name: lake.noted_version(table.name, noted)[1] for table in SCORE_TABLES}


class ScoringCommit:
    """The commit of one run of the job: for each table the files that its buckets staged."""

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
            found: The traces to score; reads the score tables as of the last whole run.
            scored: The staged files of all buckets.
            before: The result of `run_numbers` before the tables were read.
        """
        self._lake = lake
        self._found = found
        self._files = scored.files
        self._before = before
        self._number = max(before.values()) + 1
        self._leaving = Replacement(lake, self._traces_scored(), self._files_of_old_scores())

    def share_out(self, executor: Executor) -> None:
        """Have the files rewritten that hold older scores of the traces."""
        self._leaving.share_out(executor)

    def commit_dated(self, table: Table) -> list[ProcessedFile]:
        """Replace all rows of the scored traces by the staged rows.

        Returns:
            All files of the table after the commit.
        """
        if table.name in self._found.scope.torn:
            return self._commit_torn(table)
        new = self._files.get(table.name, ())
        replaced = self._leaving.commit(table, new, self._noting(), self._following(table))
        reach("scores_committed")
        others = [file for file in self._pinned(table) if file.path not in replaced.removed]
        return _noted(table, others, replaced.added)

    def _commit_torn(self, table: Table) -> list[ProcessedFile]:
        """Commit to a table that a run which was killed left as it must not be."""
        dates = sorted(self._dates_scored() | self._found.scope.torn[table.name])
        days = map(date.fromisoformat, dates)
        other_files = stage_other_traces(
            self._lake, self._found.con, table, days, "traces_to_score"
        )
        files = [*self._files.get(table.name, ()), *other_files]
        self._lake.put_files(table, files, dates, self._noting(), self._following(table))
        reach("scores_committed")
        return _noted(
            table, [each for each in self._pinned(table) if each.date not in dates], files
        )

    def commit_whole(self, table: Table, rows: pa.Table) -> list[ProcessedFile]:
        """Let the table hold exactly these rows; return its files."""
        before = [file.path for file in self._lake.live_files(table.name)]
        files = self._lake.stage(table, rows, uuid.uuid4().hex)
        follows = self._following(table)
        self._lake.replace_files(table, before, files, self._noting(), follows=follows)
        reach("scores_committed")
        return [ProcessedFile.staged(table, file) for file in files]

    def _noting(self) -> dict[str, int]:
        return {RUN_ORDER.application: self._number}

    def _following(self, table: Table) -> dict[str, int]:
        return {RUN_ORDER.application: self._before[table.name]}

    def _dates_scored(self) -> set[str]:
        """Return the dates that hold older scores of the traces."""
        return {str(day) for day in self._traces_scored()["old_date"].unique().to_pylist()}

    def _traces_scored(self) -> pa.Table:
        """Return the traces that have older rows, and the dates of these.

        If scores were erased, other scores of their traces may have evidence of them.
        """
        dates = "[scored_date]" if self._found.sums_are_whole else "[date, scored_date]"
        return self._found.con.sql(
            f"SELECT trace_id, old_date FROM traces_to_score, unnest({dates}) AS dates (old_date) "
            "WHERE old_date IS NOT NULL"
        ).to_arrow_table()

    def _files_of_old_scores(self) -> PinnedLake:
        of_dates = dated_on(self._dates_scored())
        whole = [table for table in STAGED if table.name not in self._found.scope.torn]
        return self._found.scope.lake.only({table.name: of_dates for table in whole})

    def _pinned(self, table: Table) -> Sequence[LiveFile]:
        """Return the files of a table that the run found."""
        found = self._found.scope.lake.tables.get(table.name)
        return found.files if found else ()


def _noted(
    table: Table, others: Iterable[LiveFile], files: Iterable[StagedFile]
) -> list[ProcessedFile]:
    """Return what is noted of files that stayed, and of those that were committed."""
    return [
        *(ProcessedFile.of(table, file) for file in others),
        *(ProcessedFile.staged(table, file) for file in files),
    ]
