"""Matches patterns that are values of rows, compiling each distinct pattern once.

Its own module because the engine compiles a pattern that it reads from a row for every row, and
one that is a constant once.
"""

from collections.abc import Mapping

import duckdb
import pyarrow as pa
from duckdb import (
    CaseExpression,
    ColumnExpression,
    ConstantExpression,
    Expression,
    FunctionExpression,
    StarExpression,
)

from tracegrade_queries.graph import Run, relation


@relation("pattern_matches", reads=("patterned_results",))
def _pattern_matches(run: Run) -> pa.Table:
    """Return which error patterns a result matches."""
    return matches(run.con, "patterned_results", "returned")


@relation("argument_matches", reads=("patterned_calls",))
def _argument_matches(run: Run) -> pa.Table:
    """Return which patterns the arguments of a call match."""
    return matches(run.con, "patterned_calls", "arguments")


@relation("answer_matches", reads=("pattern_answers",))
def _answer_matches(run: Run) -> pa.Table:
    """Return which answers match the pattern of a criterion."""
    return matches(run.con, "pattern_answers", "final_answer")


def matches(con: duckdb.DuckDBPyConnection, name: str, text: str) -> pa.Table:
    """Return the rows of a relation and `fits`: whether its `pattern` (RE2) is found in its text.

    Args:
        con: Holds the relation.
        name: Its name.
        text: The column of the text, which is left out of the result.
    """
    found = con.sql(f"SELECT DISTINCT pattern FROM {name} ORDER BY pattern").fetchall()
    cases = {
        pattern: FunctionExpression(
            "regexp_matches", ColumnExpression(text), ConstantExpression(pattern)
        )
        for (pattern,) in found
    }
    fits = by_value("pattern", cases, ConstantExpression(False)).alias("fits")
    return con.table(name).select(StarExpression(exclude=[text]), fits).to_arrow_table()


def by_value(column: str, cases: Mapping[str, Expression], nothing: Expression) -> Expression:
    """Return the expression of a row by what its column holds, so that each has its constants.

    Args:
        column: Its name.
        cases: By value of the column; a row of another value has NULL.
        nothing: Of the type of all cases, for use without any; never evaluated.
    """
    chosen = CaseExpression(ConstantExpression(False), nothing)
    for value, expression in cases.items():
        chosen = chosen.when(ColumnExpression(column) == ConstantExpression(value), expression)
    return chosen
