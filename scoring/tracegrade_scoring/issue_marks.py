"""Marks: what people decide about issues, the only thing about them that a lake stores."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pyarrow as pa

from tracegrade_lake import Column, Lake, Table
from tracegrade_lake.columns import TEXT, TIMESTAMP
from tracegrade_lake.tables import rows_of

ISSUE_MARKS: Final = Table(
    name="issue_marks",
    grain="one decision of a person about an issue; of an issue's state, owner and note, the "
    "newest that is not NULL counts, and so of what it is merged into",
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
        Column(
            "merged_into",
            TEXT,
            "Key of the issue for which its runs count; its own key ends that; NULL leaves it "
            "unchanged.",
        ),
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


def merged_issues(marks: Marks) -> dict[str, str]:
    """Return for the key of each merged issue the key of the one for which its runs count.

    An issue that was merged into a merged one counts for the last of them; those that were merged
    in a circle count for themselves.
    """
    into = {
        issue: key for issue, rows in marks.items() if (key := _into(rows)) not in {None, issue}
    }
    ends = {issue: _end(into, issue) for issue in into}
    return {issue: end for issue, end in ends.items() if end not in into}


def _into(rows: Sequence[Mapping[str, Any]]) -> Any:
    return next((row["merged_into"] for row in reversed(rows) if row.get("merged_into")), None)


def _end(into: Mapping[str, str], issue: str) -> str:
    passed = set()
    while issue in into and issue not in passed:
        passed.add(issue)
        issue = into[issue]
    return issue


def with_merged(marks: Marks) -> Marks:
    """Return marks by the issue for which they count: those of merged issues are among them."""
    merged = merged_issues(marks)
    found: dict[str, list[dict[str, Any]]] = {}
    for issue, rows in marks.items():
        found.setdefault(merged.get(issue, issue), []).extend(rows)
    return {issue: sorted(rows, key=lambda row: row["marked_at"]) for issue, rows in found.items()}
