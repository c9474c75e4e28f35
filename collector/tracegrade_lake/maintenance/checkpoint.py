"""Keeps logs short: notes the newest version of a table in one file, so that few entries are read.

By itself a table in a folder gets a checkpoint after 100 commits, since a collector commits each
few seconds. Jobs that commit a few times a day would read dozens of entries of each table for
months. So jobs and maintenance write a checkpoint of a table that has more than a few.
"""

from collections.abc import Iterable

from tracegrade_lake.commit import open_for_writing
from tracegrade_lake.crash_points import reach
from tracegrade_lake.lake import Lake
from tracegrade_lake.log_copies import MOST_ENTRIES


def shorten_logs(lake: Lake, tables: Iterable[str]) -> None:
    """Write a checkpoint of each of these tables whose log has many entries after the last one.

    Entries that are older than readers are promised, and needed by no version that is younger,
    are removed. On a store nothing is done, since commits there keep logs short.

    Raises:
        LakeDamaged: A table's log cannot be read.
        LakeUnwritable: The disk refused; the table is as it was.
    """
    for name in tables:
        if lake.storage.table(name).entries_to_read() > MOST_ENTRIES:
            _write_checkpoint(lake, name)


def _write_checkpoint(lake: Lake, name: str) -> None:
    storage = lake.storage.table(name)
    with storage.writing():
        delta = open_for_writing(storage)
        if delta is not None:
            delta.create_checkpoint()
            storage.sync_log(after=delta.version() - 1)
            reach("log_checkpoint_written")
            delta.cleanup_metadata()
