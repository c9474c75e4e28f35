"""Joins small staged files of one date to one, so that a job that runs often leaves few files.

A file of a wide table with one row is nearly all footer, and every later job opens it. Only files
that no table holds yet are joined; live files are merged by compaction.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from tracegrade_lake import Lake, StagedFile, Table

SMALL_BYTES: Final = 2_000_000
"""Largest size together of files that are joined: less than a tenth of a second of work."""


class Joined(NamedTuple):
    """Staged files, the small ones of a date joined."""

    files: Sequence[StagedFile]
    """To be committed."""
    made: Sequence[StagedFile]
    """The files among them that were made of others."""
    parts: Sequence[StagedFile]
    """The staged files that were joined; not to be committed."""


def join_small(lake: Lake, table: Table, staged: Iterable[StagedFile]) -> Joined:
    """Return the staged files of a table with one in the place of all small ones of a date.

    Args:
        lake: The lake.
        table: A built or score table: the lineage in footers, from which logs of raw tables can be
            rebuilt, is lost.
        staged: Staged files, which stay.
    """
    files, made, parts = [], [], []
    for group in _by_date(staged):
        if len(group) > 1 and sum(file.size for file in group) <= SMALL_BYTES:
            one = lake.stage_batches(
                table, group[0].partition, _rows(lake, table, group), uuid.uuid4().hex
            )
            made += [one] if one else []
            parts += group
        else:
            files += group
    return Joined([*files, *made], made, parts)


def _by_date(staged: Iterable[StagedFile]) -> Iterable[list[StagedFile]]:
    groups: dict[str | None, list[StagedFile]] = {}
    for file in staged:
        groups.setdefault(file.partition.get("date"), []).append(file)
    return groups.values()


def _rows(lake: Lake, table: Table, files: Iterable[StagedFile]) -> Iterator[pa.Table]:
    for file in files:
        with _opened(lake, table, file) as parquet:
            yield parquet.read(use_threads=False)


def _opened(lake: Lake, table: Table, file: StagedFile) -> pq.ParquetFile:
    """Open a staged file, which another machine or an earlier try may have put to its place."""
    if file.path.exists():
        return pq.ParquetFile(file.path)
    return lake.open_parquet(table.name, file.name)


def discard(lake: Lake, table: Table, files: Iterable[StagedFile]) -> None:
    """Remove files that were staged and are in no version of the table, wherever they are."""
    for file in files:
        if file.path.exists():
            file.path.unlink()
        else:
            lake.remove_files(table.name, [file.name])
