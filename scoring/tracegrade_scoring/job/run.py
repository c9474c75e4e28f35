"""What one run writes: files staged bucket by bucket, then one commit for each table.

Every commit notes the run's number, and `trajectory_scores` comes last: its number says which run
is whole. Readers see all score tables as of that run, so a run that is committing, or was killed
while it did, is not seen. The next run puts right what a killed one left.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake import Lake, StagedFile, Table
from tracegrade_lake.crash_points import reach
from tracegrade_queries.engine.connection import last_run
from tracegrade_scoring.layer import RUN_ORDER
from tracegrade_scoring.schema import SCORE_TABLES

PART_ROWS: Final = 20_000
"""Rows that are held at a time of those that a rewrite keeps; each has some hundred values."""

_OF_TRACES: Final = "split_part(trajectory_id, '-', 1) IN (SELECT trace_id FROM traces_to_score)"


class Run:
    """One run's files, and how they become the tables' rows."""

    def __init__(self, lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
        """Start a run.

        Args:
            lake: The lake to write.
            con: Reads the score tables as of the last whole run; holds `traces_to_score`.
        """
        self._lake = lake
        self._con = con
        self._files: dict[str, list[StagedFile]] = {}
        self._whole = last_run(lake, RUN_ORDER)
        noted = [
            lake.noted_version(table.name, RUN_ORDER.application)[1] for table in SCORE_TABLES
        ]
        self._number = max(noted) + 1

    def stage(self, table: Table, rows: pa.Table) -> list[StagedFile]:
        """Write rows, in part as dictionaries, as files that no reader sees yet; for `add`."""
        by_date = rows.take(pc.sort_indices(rows["date"]))  # before there is more to move
        return self._lake.stage(table, plain(table, by_date), uuid.uuid4().hex)

    def add(self, files: Mapping[Table, Sequence[StagedFile]]) -> None:
        """Let staged files be committed with their tables."""
        for table, staged in files.items():
            self._add(table, staged)

    def commit_dated(self, table: Table) -> None:
        """Let the staged rows stand for all others of the scored traces."""
        dates = sorted(self._dates_scored() | self._dates_torn(table))
        for day in dates:
            self._stage_kept(table, day)
        files = self._files.pop(table.name, [])
        self._lake.put_files(
            table, files, list(map(str, dates)), {RUN_ORDER.application: self._number}
        )
        reach("scores_committed")

    def commit_whole(self, table: Table, rows: pa.Table) -> None:
        """Let the table hold exactly these rows."""
        before = [file.path for file in self._lake.live_files(table.name)]
        files = self._lake.stage(table, rows, uuid.uuid4().hex)
        self._lake.replace_files(table, before, files, {RUN_ORDER.application: self._number})
        reach("scores_committed")

    def _add(self, table: Table, files: Sequence[StagedFile]) -> None:
        self._files.setdefault(table.name, []).extend(files)

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

    def _stage_kept(self, table: Table, day: date) -> None:
        """Write the rows of a date that stay as they are, a part at a time."""
        kept = self._con.sql(
            f"SELECT * FROM {table.name} WHERE date = $date AND NOT {_OF_TRACES}",
            params={"date": day},
        )
        parts = _parts(table, kept)
        name = uuid.uuid4().hex
        file = self._lake.stage_batches(table, {"date": str(day)}, parts, name)
        self._add(table, [file] if file else [])


def plain(table: Table, rows: pa.Table) -> pa.Table:
    """Return the rows typed as declared, whatever stood in dictionaries in full."""
    columns = (
        pa.chunked_array(
            [chunk.dictionary_decode() for chunk in column.chunks], column.type.value_type
        )
        if pa.types.is_dictionary(column.type)
        else column
        for column in rows.columns
    )
    return pa.table(list(columns), names=rows.column_names).cast(table.arrow())


def _parts(table: Table, rows: duckdb.DuckDBPyRelation) -> Iterator[pa.Table]:
    """Yield the rows, typed as declared, in parts that fit into memory."""
    for batch in rows.to_arrow_reader(PART_ROWS):
        part = pa.Table.from_batches([batch]).select(table.arrow().names)
        yield part.cast(table.arrow()).drop_columns(["date"])
