"""Rows of a lake, for tests."""

from typing import Any

from tracegrade_lake import Lake


def rows(lake: Lake, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table, in an order that does not depend on its files."""
    dataset = lake.dataset(table)
    found = dataset.to_table().to_pylist() if dataset else []
    return sorted(found, key=lambda row: [str(row[name]) for name in sorted(row)])


def verdicts(lake: Lake) -> dict[tuple[str, str | None], str | None]:
    """Return the judges' labels by the number of the trace and the sub-goal."""
    return {
        (str(int(row["trajectory_id"][:32], 16)), row["sub_goal"]): row["label"]
        for row in rows(lake, "verdicts")
        if row["source"].startswith("judge:")
    }
