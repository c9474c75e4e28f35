"""Marks: what people decide about issues, the only thing about them that a lake stores."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import pyarrow as pa

from tracegrade_lake import Column, Lake, Table
from tracegrade_lake.columns import TEXT, TIMESTAMP
from tracegrade_lake.tables import rows_of

ISSUE_MARKS: Final = Table(
    name="issue_marks",
    grain="one decision of a person about an issue; of an issue's state, owner and note, the "
    "newest that is not NULL counts",
    columns=(
        Column("issue", TEXT, "Key of the issue, as in `issue_runs`."),
        Column(
            "state",
            TEXT,
            "fixed | muted | open (known, or no longer muted or fixed); NULL leaves it unchanged.",
        ),
        Column("release", TEXT, "Release with the fix; NULL unless state is fixed."),
        Column("owner", TEXT, "Person or team that takes care of it; NULL leaves it unchanged."),
        Column("note", TEXT, "NULL leaves it unchanged."),
        Column("marked_by", TEXT, "Name of the person."),
        Column("marked_at", TIMESTAMP, "UTC."),
    ),
    partition_by=(),
)

Marks = Mapping[str, list[dict[str, Any]]]
"""Rows of the table by issue, the newest last."""


def stored_marks(lake: Lake) -> Marks:
    """Return the marks of a lake."""
    found: dict[str, list[dict[str, Any]]] = {}
    rows = rows_of(lake, ISSUE_MARKS).to_pylist()
    for row in sorted(rows, key=lambda row: (row["marked_at"], *map(str, row.values()))):
        found.setdefault(row["issue"], []).append(row)
    return found


def put_mark(lake: Lake, mark: Mapping[str, Any]) -> None:
    """Add a mark, made now; columns that it lacks are NULL."""
    row = {**mark, "marked_at": datetime.now(UTC).replace(tzinfo=None)}
    lake.append(ISSUE_MARKS, pa.Table.from_pylist([row], ISSUE_MARKS.arrow()))
