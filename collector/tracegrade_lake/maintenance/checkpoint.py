"""Notes the newest version of a table in one file, so that opening it reads few entries."""

from tracegrade_lake.commit import open_for_writing
from tracegrade_lake.lake import Lake


def write_checkpoint(lake: Lake, table: str) -> None:
    """Write a checkpoint of a table's newest version; nothing if there is no such table.

    Raises:
        LakeDamaged: The table's log cannot be read.
        LakeUnwritable: The disk refused; the table is as it was.
    """
    storage = lake.storage.table(table)
    with storage.writing():
        delta = open_for_writing(storage)
        if delta is not None:
            delta.create_checkpoint()
            storage.sync_log(after=delta.version() - 1)
