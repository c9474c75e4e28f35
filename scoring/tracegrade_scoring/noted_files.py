"""The table of the files that a scoring run has read and the next run can skip."""

from typing import Final

import pyarrow as pa

from tracegrade_lake import Column, Lake, Table
from tracegrade_lake.columns import BIGINT, BOOLEAN, TEXT

SCORED_FILES: Final = Table(
    name="scored_files",
    grain="one file at which the last scoring run looked, or which it wrote",
    columns=(
        Column(
            "table_name",
            TEXT,
            "Table of the file: trajectories | verdicts | trajectory_scores | score_sums.",
        ),
        Column("path", TEXT, "Path of the file inside the table's folder."),
        Column("date", pa.date32(), "Its partition; NULL if the table has none."),
        Column("rows", BIGINT, "Rows in it."),
        Column("waits", BOOLEAN, "True if a trace of its date is still to be scored."),
        Column(
            "scored_with",
            TEXT,
            "Version of the scorer and hash of the tasks and tools, the same for all files.",
            former="held_against",
        ),
    ),
    partition_by=(),
)


def was_scored(lake: Lake) -> bool:
    """Return whether a scoring run has looked at a lake, even if it had no run yet."""
    return lake.columns(SCORED_FILES.name) is not None
