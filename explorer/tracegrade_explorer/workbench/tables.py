"""The tables and views of a lake, as a reader of its SQL page sees them."""

from typing import Any

from tracegrade_explorer.responses import PageRequest
from tracegrade_queries.engine.comments import relations


def tables(request: PageRequest) -> list[dict[str, Any]]:
    """Return each table that a query may read, with its rows and columns; counted once."""
    found: list[dict[str, Any]] = request.snapshot.cached("tables", lambda: _counted(request))
    return found


def _counted(request: PageRequest) -> list[dict[str, Any]]:
    con = request.cursor_of_lake()
    present: dict[str, set[str]] = {}
    for view, column in con.sql(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal"
    ).fetchall():
        present.setdefault(view, set()).add(column)
    return [
        {
            "name": each.name,
            "rows": con.view(each.name).count("*").fetchall()[0][0],
            "summary": each.summary,
            "columns": [
                {"name": column.name, "type": column.type, "meaning": column.meaning}
                for column in each.columns
                if column.name in present[each.name]
            ],
        }
        for each in sorted(relations(), key=lambda relation: relation.name)
        if each.name in present
    ]
