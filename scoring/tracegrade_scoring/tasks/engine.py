"""Asks the SQL engine whether it can run what a task file gives it: expressions, paths, patterns.

Its own module because one engine, in memory and without a way out, answers for all files.
"""

from functools import cache
from threading import Timer
from typing import Final

import duckdb

from tracegrade_queries.engine.bare_engine import bare_engine
from tracegrade_queries.engine.selects import only_reads
from tracegrade_queries.engine.table_views import duckdb_type
from tracegrade_queries.errors import QueryFailed
from tracegrade_queries.schema import STEPS
from tracegrade_scoring.tasks.expression import as_boolean, forbidden

MAX_SECS: Final = 5.0
"""No steps need no time, so an expression that takes longer never ends over real ones."""

MAX_PATTERN_CHARS: Final = 10_000
"""Patterns are compiled once for each row that they are matched with."""


@cache
def expression_fault(sql: str) -> str | None:
    """Return why a boolean expression cannot be run over a trajectory's steps; None if it can."""
    statement = f"SELECT {as_boolean(sql)} FROM steps GROUP BY trajectory_id"
    return forbidden(_engine(), sql) or _not_reading(statement) or _fault(statement)


@cache
def json_path_fault(path: str) -> str | None:
    """Return why the value at a JSON path cannot be read; None if it can."""
    if not path.startswith("$"):
        return "it does not start with $"
    fault = _fault(f"SELECT json_extract('{{}}', given) {_FROM_ROWS}", path)
    return "it has a wildcard" if fault and "wildcard" in fault else fault


@cache
def pattern_fault(pattern: str) -> str | None:
    """Return why a pattern is not valid RE2, according to the engine; None if it is valid."""
    if len(pattern) > MAX_PATTERN_CHARS:
        return f"it has more than {MAX_PATTERN_CHARS:,} characters"
    fault = _fault(f"SELECT regexp_matches('', given) {_FROM_ROWS}", pattern)
    return fault and fault.removeprefix("Invalid Input Error: ")


_FROM_ROWS: Final = "FROM (VALUES ($given), ($given)) AS givens (given)"
"""The form in which the job reads given values: from rows. The engine can do more with constants.
"""


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    return closed_engine()


def closed_engine() -> duckdb.DuckDBPyConnection:
    """Return an engine with an empty table of steps; it reaches nothing else and never spills."""
    columns = ", ".join(f"{column.name} {duckdb_type(column.type)}" for column in STEPS.columns)
    con = bare_engine()
    con.execute(f"CREATE TABLE steps ({columns})")
    return con


def _not_reading(sql: str) -> str | None:
    """Return why a query does not run where users write SQL; None if it does."""
    try:
        only_reads(_engine(), sql)
    except QueryFailed as error:
        return str(error)
    except duckdb.Error as error:
        return _reason(error)
    return None


def _fault(sql: str, given: str | None = None) -> str | None:
    """Return the engine's word on what it cannot run."""
    con = _engine()
    limit = Timer(MAX_SECS, con.interrupt)
    limit.start()
    try:
        con.execute(sql, None if given is None else {"given": given}).fetchall()
    except duckdb.InterruptException:
        return f"it takes more than {MAX_SECS:g} s over no steps"
    except duckdb.Error as error:
        return _reason(error)
    finally:
        limit.cancel()
    return None


def _reason(error: duckdb.Error) -> str:
    return " ".join(str(error).split())
