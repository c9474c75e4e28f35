"""Runs statements that are parsed once a process: a job has the same few hundred a bucket."""

import atexit
from collections.abc import Mapping, Sequence
from typing import Any, Final

import duckdb

_MAX_PARSED: Final = 2048

_parsed: Final[dict[str, Sequence[duckdb.Statement]]] = {}
# DuckDB's binding complains at the end of a process of each statement that is still there.
atexit.register(_parsed.clear)


def run(
    con: duckdb.DuckDBPyConnection, text: str, parameters: Mapping[str, object] | None = None
) -> None:
    """Run the statements of a text, as `con.execute` does.

    Args:
        con: The connection.
        text: One statement, or several without parameters. One that differs with each call is for
            `con.execute`: here it would only take the place of others.
        parameters: Of the statement.
    """
    for statement in _statements(con, text):
        con.execute(statement, parameters)


def found(
    con: duckdb.DuckDBPyConnection, text: str, parameters: Mapping[str, object] | None = None
) -> list[tuple[Any, ...]]:
    """Return the rows of one statement; as for `run`, it should be the same in all buckets.

    A statement that makes a table returns one row: how many rows that has.
    """
    (statement,) = _statements(con, text)
    return con.execute(statement, parameters).fetchall()


def _statements(con: duckdb.DuckDBPyConnection, text: str) -> Sequence[duckdb.Statement]:
    found = _parsed.get(text)
    if found is None:
        found = con.extract_statements(text)
        if len(_parsed) >= _MAX_PARSED:
            _parsed.clear()
        _parsed[text] = found
    return found
