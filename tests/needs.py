"""Takes away the rows that a query's header says it needs, to see that it then has none."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import duckdb

from tracegrade_queries.engine.relations import has_rows, make_empty
from tracegrade_queries.engine.sql import declared_columns, needs

from .headers import bare, columns_of, header

_NEEDED = re.compile(r"(\w+)(?: WHERE (.+?))?(?: GROUP BY (\w+) HAVING (.+))?")


def kept_without(con: duckdb.DuckDBPyConnection, text: str) -> dict[str, int]:
    """Return how many rows a query has without each that it needs; 0 of all if its header is true.

    Args:
        con: Holds all that the query reads.
        text: The text of its file.
    """
    found = {}
    for either in needs(text):
        with ExitStack() as taken_away:
            for needed in either:
                taken_away.enter_context(_without(con, needed))
                assert not has_rows(con, needed)
            rows = con.execute(f"SELECT count(*) FROM ({bare(text)})").fetchall()[0][0]
        make_empty(con, "left_out", declared_columns(text))
        assert columns_of(con.table("left_out")) == header(text).columns
        found[" or ".join(either)] = rows
    return {needed: rows for needed, rows in found.items() if rows}


@contextmanager
def _without(con: duckdb.DuckDBPyConnection, needed: str) -> Iterator[None]:
    """Let a relation have all of its rows but those that are needed."""
    match = _NEEDED.fullmatch(needed)
    assert match, needed
    name, condition, key, having = match.groups()
    kind = "VIEW" if _is_view(con, name) else "TABLE"
    con.execute(f"ALTER {kind} temp.{name} RENAME TO {name}_whole")
    whole = f"{name}_whole" + (f" WHERE {condition}" if condition else "")
    if key:
        rows = f"{name}_whole ANTI JOIN (SELECT {key} FROM {whole} GROUP BY ALL HAVING {having})"
        con.execute(f"CREATE TEMP TABLE {name} AS FROM {rows} USING ({key})")
    else:
        left = f"({condition}) IS NOT TRUE" if condition else "false"
        con.execute(f"CREATE TEMP TABLE {name} AS FROM {name}_whole WHERE {left}")
    try:
        yield
    finally:
        con.execute(f"DROP TABLE temp.{name}")
        con.execute(f"ALTER {kind} temp.{name}_whole RENAME TO {name}")


def _is_view(con: duckdb.DuckDBPyConnection, name: str) -> bool:
    return bool(
        con.execute(
            "SELECT 1 FROM duckdb_views() WHERE database_name = 'temp' AND view_name = $name",
            {"name": name},
        ).fetchall()
    )
