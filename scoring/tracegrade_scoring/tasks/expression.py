"""Finds why a SQL expression of a task file is not limited to an attempt's own steps.

The engine reads no other files and reaches no network. But an expression could still read other
attempts or tables, read the time, or depend on an order that is not fixed. Then the same lake
would not give the same scores. So the parsed expression may hold only columns of `steps`,
constants, operators, and functions that the engine marks as consistent.
"""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import duckdb

from tracegrade_queries.build.nesting import is_too_deep
from tracegrade_queries.schema import STEPS

MAX_CHARS: Final = 100_000

MAX_LEVELS: Final = 800
"""Limit of the levels of the parsed expression as JSON, which has about two for each operator
level.
"""

_SELECTED: Final = "select_list"

_REFUSED: Final = {
    "SUBQUERY": "it has a subquery",
    "WINDOW": "it has a window function, which sees other attempts",
    "STAR": "it has a star other than that of count(*)",
    "PARAMETER": "it has a parameter",
}

_NEEDS_ORDER: Final = frozenset(
    {"any_value", "arbitrary", "array_agg", "first", "group_concat", "last", "list", "listagg"}
    | {"string_agg"}
)
"""Aggregates whose result depends on the order of rows, which is free."""

_CLOCKS: Final = frozenset({"current_localtime", "current_localtimestamp"})
"""DuckDB 2.0.0 marks these, and `age` with one argument, as consistent."""

_INEXACT: Final = ("approx_", "reservoir_")
"""Beginnings of the names of aggregates that only estimate."""

_COLUMNS: Final = frozenset(column.name for column in STEPS.columns)


def forbidden(con: duckdb.DuckDBPyConnection, sql: str) -> str | None:
    """Return a forbidden part of the expression; None without one, or if it is not SQL.

    Args:
        con: Any connection; it only parses the expression, and does not run it.
        sql: A boolean expression, aggregated over the attempt's rows of `steps`.
    """
    if len(sql) > MAX_CHARS:
        return f"it has more than {MAX_CHARS:,} characters"
    try:
        con.extract_statements(f"SELECT {as_boolean(sql)}")
    except duckdb.Error:
        return None
    text = _serialized(con, sql)
    if is_too_deep(text, MAX_LEVELS):
        return "it is nested too deeply"
    parsed = _parsed(text)
    if parsed is None:
        return "it is more than one expression"
    nodes = list(nodes_of(parsed))
    lambdas = {name for node in nodes if node.get("class") == "LAMBDA" for name in _names(node)}
    return next((fault for node in nodes if (fault := _fault(con, node, lambdas))), None)


def columns_read(con: duckdb.DuckDBPyConnection, sql: str) -> list[str]:
    """Return the columns of `steps` that an expression without faults reads, sorted."""
    nodes = nodes_of(_parsed(_serialized(con, sql)))
    named = {
        node["column_names"][-1].lower() for node in nodes if node.get("class") == "COLUMN_REF"
    }
    return sorted(named & _COLUMNS)


def as_boolean(sql: str) -> str:
    """Return an expression as a part of a query; it ends where its line does."""
    return f"({sql}\n)::BOOLEAN"


def _serialized(con: duckdb.DuckDBPyConnection, sql: str) -> str:
    """Return the engine's parse of a query for the expression, as JSON.

    It has no brackets around it, so that none of its own can close them.
    """
    statement = "SELECT json_serialize_sql($asked)"
    ((text,),) = con.execute(statement, {"asked": f"SELECT {sql}"}).fetchall()
    return str(text)


def _parsed(serialized: str) -> dict[str, Any] | None:
    """Return the expression of a query; None if the query selects anything else, or is none."""
    read = json.loads(serialized)
    if read["error"] or len(read["statements"]) != 1:
        return None
    query = read["statements"][0]["node"]
    selected = query.pop(_SELECTED, ())
    if len(selected) != 1 or query != _nothing_else():
        return None
    expression: dict[str, Any] = selected[0]
    return expression


@cache
def _nothing_else() -> dict[str, Any]:
    """Return the parts of a query around the expression, if it has nothing else."""
    with duckdb.connect() as con:
        query: dict[str, Any] = json.loads(_serialized(con, "TRUE"))["statements"][0]["node"]
    del query[_SELECTED]
    return query


def nodes_of(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects of a tree, outer ones first, in order."""
    left = [tree]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            yield part
            left += reversed(part.values())
        elif isinstance(part, list):
            left += reversed(part)


def _names(node: dict[str, Any]) -> Iterator[str]:
    """Yield the parameters of a lambda."""
    for part in nodes_of(node["lhs"]):
        yield from part.get("column_names", ())


def _fault(con: duckdb.DuckDBPyConnection, node: dict[str, Any], lambdas: set[str]) -> str | None:
    kind = node.get("class")
    if kind in _REFUSED:
        return _REFUSED[kind]
    if kind == "COLUMN_REF" and node["column_names"][-1].lower() not in _COLUMNS | lambdas:
        name = ".".join(node["column_names"])
        return f"{name} is not a column of steps"
    if kind == "FUNCTION":
        return _function_fault(con, node)
    return None


def _function_fault(con: duckdb.DuckDBPyConnection, node: dict[str, Any]) -> str | None:
    if (fault := unsteady(con, node)) is not None:
        return fault
    name = node["function_name"].lower()
    if name in _NEEDS_ORDER and not node["order_bys"]["orders"]:
        return f"{name}() needs an ORDER BY in its brackets, such as step_index"
    return None


def unsteady(con: duckdb.DuckDBPyConnection, node: dict[str, Any]) -> str | None:
    """Return why a call of a function may give another result for the same rows; None if not."""
    name = node["function_name"].lower()
    asks_clock = name in _CLOCKS or (name == "age" and len(node["arguments"]) == 1)
    if node["schema"] or asks_clock or name not in _consistent(con):
        return f"{name}() is not a function that always gives the same result for the same steps"
    return f"{name}() only estimates" if name.startswith(_INEXACT) else None


@cache
def _consistent(con: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Return the names of functions that depend on nothing but their arguments and the time zone.

    Some functions are consistent for some types, and only within a query for others. These depend
    on the time zone, which is always UTC here: DuckDB 2.0.1 marks `+` in this way, since it takes
    times with a zone.
    """
    found = con.sql(
        "SELECT function_name FROM duckdb_functions() GROUP BY function_name "
        "HAVING bool_and(coalesce(stability LIKE 'CONSISTENT%', FALSE)) "
        "AND bool_or(stability = 'CONSISTENT') "
        # Functions of lists, such as list_sum, are macros of consistent functions.
        "OR bool_and(function_type = 'macro' AND starts_with(function_name, 'list_'))"
    )
    return frozenset(name for (name,) in found.fetchall())
