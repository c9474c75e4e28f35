"""Creates one relation of the scoring job from the query of the same name."""

import duckdb

from tracegrade_queries.sql import query


def materialise(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Run the query of that name and keep its rows as the temporary table of that name."""
    con.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query(name)}")
