"""The lake: Delta tables over Parquet files that this package writes and syncs itself."""

from tracegrade_lake.columns import Column, Struct, Table, list_of
from tracegrade_lake.commit import Owner
from tracegrade_lake.lake import Lake
from tracegrade_lake.schema import RAW_LOGS, RAW_SPANS, VERDICTS
from tracegrade_lake.staging import StagedFile

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
