"""One version of a table as its log describes it: columns, files and transactions that agree."""

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple
from urllib.parse import unquote

from deltalake import DeltaTable

from tracegrade_lake.columns import Table
from tracegrade_lake.commit import LiveFile, live_files, open_table
from tracegrade_lake.lake import Lake
from tracegrade_lake.log_entries import transaction_version
from tracegrade_lake.schema import RAW_LOGS, RAW_SPANS
from tracegrade_lake.tables import table_of

DECLARED: Final = {table.name: table for table in (RAW_SPANS, RAW_LOGS)}


class Snapshot(NamedTuple):
    """A version of a table."""

    table: Table
    """As declared; for a table that higher layers declare, with the columns that the log has."""

    version: int
    files: list[LiveFile]
    """By path."""

    transaction_version: Callable[[str], int | None]
    """The highest version that an application had committed then; None if it never did."""

    removed_paths: Callable[[], set[str]]
    """Returns the files of earlier versions that are kept for slow readers."""


def snapshot(lake: Lake, name: str) -> Snapshot | None:
    """Return a table's newest version; None if there is no such table.

    Raises:
        LakeDamaged: Its log cannot be read.
        LakeUnreachable: The object store does not answer.
    """
    delta = open_table(lake.storage.table(name))
    if delta is None:
        return None
    return Snapshot(
        DECLARED.get(name) or table_of(name, delta),
        delta.version(),
        sorted(live_files(delta), key=lambda file: file.path),
        partial(transaction_version, delta),
        lambda: {unquote(path) for path in _tombstones(delta)},
    )


def _tombstones(delta: DeltaTable) -> list[str]:
    return delta.vacuum(retention_hours=0, dry_run=True, enforce_retention_duration=False)
