"""Rows of a saved query as Python has them."""

from duckdb import DuckDBPyConnection

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.sql import query


def read_rows(con: DuckDBPyConnection, name: str, /, **parameters: object) -> list[ResultRow]:
    """Return the rows of the query of that name, in its order."""
    result = con.execute(query(name), parameters)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
