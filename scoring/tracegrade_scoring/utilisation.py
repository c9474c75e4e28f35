"""Finds the results of calls that an agent made use of later: the fourth dimension.

A result is used if one of its distinctive tokens stands as a whole token in a later argument or
message of the agent that got it. Source: metrics.md, section 2 (s4).
"""

from typing import Final

import duckdb
import polars as pl

from tracegrade_scoring.relations import put, unordered
from tracegrade_scoring.tokens import distinctive_tokens

_CALL: Final = ("attempt_id", "call_index")


def find_uses(con: duckdb.DuckDBPyConnection) -> None:
    """Create `utilisations` (attempt_id, call_index, used).

    One row for each call that changed nothing and whose result has a distinctive token, of
    attempts whose task states expectations; `used` is never NULL.

    Args:
        con: Holds `attempt_members`, `attempts`, `calls`, `steps` and `tasks`.
    """
    told = pl.DataFrame(con.sql(unordered("told_texts")).to_arrow_table())
    put(con, "utilisations", _uses(told).to_arrow())


def _uses(told: pl.DataFrame) -> pl.DataFrame:
    """Return the calls whose results have tokens, and whether one of these is told again."""
    numbered = told.with_row_index("row").with_columns(pl.col("trajectory_id").rank("dense"))
    is_result = pl.col("call_index").is_not_null()
    results = numbered.filter(is_result)
    firsts = results.group_by("trajectory_id").agg(pl.col("step_index").min().alias("first"))
    after = numbered.filter(~is_result).join(firsts, on="trajectory_id")
    after = after.filter(pl.col("step_index") > pl.col("first")).drop("first")
    texts = pl.concat([results, after]).drop(*_CALL)
    found = distinctive_tokens(texts).select(
        "row", "step_index", _pair(pl.col("trajectory_id"), _number("token")).alias("token")
    )
    with_tokens = results.select("row", *_CALL).join(found, on="row", how="semi")
    told_again = (
        found.join(results, on="row", how="anti")
        .group_by("token")
        .agg(pl.col("step_index").max().alias("last"))
    )
    used = (
        found.join(results, on="row", how="semi")
        .join(told_again, on="token")
        .filter(pl.col("last") > pl.col("step_index"))
    )
    return with_tokens.select(*_CALL, pl.col("row").is_in(used["row"].unique()).alias("used"))


def _number(name: str) -> pl.Expr:
    """Return a number for each text of a column, the same for equal ones: these are compared."""
    return pl.col(name).cast(pl.Categorical(pl.Categories.random())).to_physical()


def _pair(high: pl.Expr, low: pl.Expr) -> pl.Expr:
    """Return one number for two that have 32 bits each."""
    return high.cast(pl.UInt64) * 2**32 + low
