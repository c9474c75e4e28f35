"""The lake: Delta tables over Parquet files that this package writes and syncs itself.

Exported names are loaded at their first use. The collector's receiver needs only the locks and
files, so it loads neither Arrow nor Delta.
"""

from typing import TYPE_CHECKING

from tracegrade.first_use import at_first_use

if TYPE_CHECKING:
    from tracegrade_lake.columns import Column, Struct, Table, list_of
    from tracegrade_lake.commit import Owner
    from tracegrade_lake.lake import Lake
    from tracegrade_lake.schema import RAW_LOGS, RAW_SPANS, VERDICTS
    from tracegrade_lake.storage import StagedFile

__all__ = [
    "RAW_LOGS",
    "RAW_SPANS",
    "VERDICTS",
    "Column",
    "Lake",
    "Owner",
    "StagedFile",
    "Struct",
    "Table",
    "list_of",
]

__getattr__ = at_first_use(
    __name__,
    {
        "columns": ("Column", "Struct", "Table", "list_of"),
        "commit": ("Owner",),
        "lake": ("Lake",),
        "schema": ("RAW_LOGS", "RAW_SPANS", "VERDICTS"),
        "storage": ("StagedFile",),
    },
)
