"""Replaces the rows of some traces: rewrites only the files that hold them.

The columns of ids show which files these are; ids are random, so the ranges of whole files do not
help. The work on files is distributed among the workers of buckets, like all work that grows with
a date. Each file is examined once: if another process replaced files at the same time, as
compaction does, only the new ones are processed here.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

import pyarrow as pa

from tracegrade_lake import Lake, StagedFile, Table
from tracegrade_lake.backoff import Backoff
from tracegrade_lake.commit import LiveFile
from tracegrade_lake.crash_points import reach
from tracegrade_lake.errors import FilesReplaced
from tracegrade_lake.lake import NOTHING_BEFORE
from tracegrade_lake.maintenance.row_removal import PATIENCE_SECS, stage_others
from tracegrade_lake.maintenance.row_selection import count_rows, rows_of_traces
from tracegrade_queries.engine.bucket_work import Bucket, Outcome, together
from tracegrade_queries.engine.executor import SLOT_LIMITS, Executor
from tracegrade_queries.engine.joining import discard, join_small
from tracegrade_queries.engine.layers import table_named
from tracegrade_queries.engine.pinned import PinnedLake, among
from tracegrade_queries.engine.relations import table as table_of_rows

FOUND: Final = "files_with_rows"
"""Under which an outcome names the files that hold rows of the traces."""

_FOUND: Final = pa.schema(
    [("table_name", pa.string()), ("path", pa.string()), ("others", pa.string())]
)
"""`others`: the name of the file with the other rows; NULL if there are none."""


LEAST_BYTES: Final = 16_000_000
"""Minimum size of files that form a bucket: some seconds of work."""


class Replaced(NamedTuple):
    """The changes of a commit to the files of a table."""

    removed: Sequence[str]
    """Paths of those that held rows of the traces."""
    added: Sequence[StagedFile]
    """Files that hold their other rows, and the new rows."""


NOTHING_REPLACED: Final = Replaced((), ())


def leave_out_traces(bucket: Bucket[None]) -> Outcome:
    """Stage the other rows of the files of a bucket that hold rows of its traces.

    Args:
        bucket: Its files are of any tables whose rows belong to traces.

    Returns:
        Its table `files_with_rows` lists the files with rows.
    """
    lake = bucket.lake.open()
    ids = sorted(bucket.traces["trace_id"].to_pylist())
    staged: dict[str, list[StagedFile]] = {}
    rows = []
    for name, table in bucket.lake.tables.items():
        for file in table.files:
            others = _without(lake, name, file, ids)
            if others is not None:
                staged.setdefault(name, []).extend(others)
                rows.append((name, file.path, others[0].name if others else None))
    return Outcome(staged, {FOUND: table_of_rows(_FOUND, rows)})


def _without(lake: Lake, name: str, file: LiveFile, ids: Sequence[str]) -> list[StagedFile] | None:
    """Return the other rows of a file, staged; None if it has no row to replace."""
    table = table_named(name)
    selection = rows_of_traces(table, ids)
    if selection is None or not count_rows(lake, name, file.path, selection):
        return None
    others = stage_others(lake, table, file, selection)
    return [others] if others else []


class Replacement:
    """The rows of some traces, on their way out of tables."""

    def __init__(self, lake: Lake, traces: pa.Table, files: PinnedLake) -> None:
        """Replace the rows of these traces.

        Args:
            lake: The lake of the tables.
            traces: `trace_id` of traces with rows; other traces cost time.
            files: All files of the dates on which they have rows, by table.
        """
        self._lake = lake
        self._traces = traces.select(["trace_id"])
        self._files = files
        self._looked: dict[tuple[str, str], list[StagedFile] | None] = {}

    def share_out(self, executor: Executor) -> None:
        """Let workers examine all files, and rewrite those with such rows."""
        buckets = list(self._buckets(executor.slots))
        if not buckets:
            return
        outcome = together(executor.run(leave_out_traces, buckets))
        staged = {
            (name, file.name): file for name in outcome.files for file in outcome.files[name]
        }
        for name, table in self._files.tables.items():
            self._looked |= {(name, file.path): None for file in table.files}
        for name, path, others in zip(*outcome.tables[FOUND].columns, strict=True):
            key = (name.as_py(), others.as_py())
            self._looked[name.as_py(), path.as_py()] = [staged[key]] if others.is_valid else []
        reach("rows_left_out")

    def _buckets(self, slots: int) -> Iterator[Bucket[None]]:
        """Yield the files by their sizes: a bucket for each slot, or fewer of small files."""
        sizes = [
            (file.size, name, file.path)
            for name, table in self._files.tables.items()
            for file in table.files
        ]
        largest_first = sorted(sizes, reverse=True) if len(self._traces) else []
        enough = -(-sum(size for size, *_ in sizes) // LEAST_BYTES)
        buckets = min(slots, len(largest_first), enough)
        for number in range(buckets):
            mine = largest_first[number::buckets]
            paths = {
                name: among([path for _, of, path in mine if of == name])
                for name in self._files.tables
            }
            yield Bucket(self._files.only(paths), self._traces, SLOT_LIMITS, None)

    def commit(
        self,
        table: Table,
        new: Sequence[StagedFile],
        transactions: Mapping[str, int],
        follows: Mapping[str, int] = NOTHING_BEFORE,
    ) -> Replaced:
        """Replace the rows of the traces with the new rows, in one commit.

        Args:
            table: The table.
            new: Staged files of it.
            transactions: To note in the same commit.
            follows: As for `Lake.put_files`.

        Returns:
            The changes; small files of a date are joined.

        Raises:
            FilesReplaced: Others replaced its files again and again.
        """
        backoff = Backoff(PATIENCE_SECS)
        while True:
            found = self._replaced(table)
            joined = join_small(self._lake, table, [*new, *found.added])
            reach("rows_joined")
            done = Replaced(found.removed, joined.files)
            if not (done.added or done.removed or transactions):
                return done
            try:
                self._lake.replace_files(
                    table,
                    done.removed,
                    done.added,
                    transactions,
                    follows=follows,
                    comes_again=True,
                )
            except FilesReplaced:
                discard(self._lake, table, joined.made)
                if not backoff.pause():
                    raise
                continue
            discard(self._lake, table, joined.parts)
            return done

    def _replaced(self, table: Table) -> Replaced:
        """Return the replacements for the table's current files."""
        pinned = self._files.tables.get(table.name)
        if pinned is None or not len(self._traces):
            return NOTHING_REPLACED
        dates = {file.date for file in pinned.files}
        live = [file for file in self._lake.live_files(table.name) if file.date in dates]
        found = {file.path: self._others(table, file) for file in live}
        holding = {path: others for path, others in found.items() if others is not None}
        return Replaced(list(holding), list(chain.from_iterable(holding.values())))

    def _others(self, table: Table, file: LiveFile) -> list[StagedFile] | None:
        key = (table.name, file.path)
        if key not in self._looked:
            ids = sorted(self._traces["trace_id"].to_pylist())
            self._looked[key] = _without(self._lake, table.name, file, ids)
        return self._looked[key]
