"""Finds the results of calls that an agent made use of later: the fourth dimension.

A result is used if one of its distinctive tokens is a whole token in a later argument or message
of the agent that received it. Source: docs/metrics.md, section 2.2.
"""

from typing import Final

import polars as pl
import pyarrow as pa

from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.attempts.distinctive_tokens import distinctive_tokens

_CALL: Final = ("attempt_id", "call_index")
_TOKEN: Final = ("trajectory_id", "token")


@relation("utilizations", reads=("utilization_texts",))
def _utilizations(run: Run) -> pa.Table:
    """Return (attempt_id, call_index, used): which results were used later.

    One row for each call that changed nothing and whose result has a distinctive token, of
    attempts whose task states expectations; `used` is never NULL.
    """
    return _uses(pl.DataFrame(run.table("utilization_texts"))).to_arrow()


def _uses(mentioned: pl.DataFrame) -> pl.DataFrame:
    """Return the calls whose results have tokens, and whether one of these is used again."""
    numbered = mentioned.with_row_index("row")
    is_result = pl.col("call_index").is_not_null()
    results = numbered.filter(is_result)
    found = distinctive_tokens(results.drop(_CALL))
    again = distinctive_tokens(numbered.filter(~is_result).drop(_CALL))
    used = _mentioned_later(found, again)["row"].unique().implode()
    with_tokens = results.join(found, on="row", how="semi")
    return with_tokens.select(*_CALL, pl.col("row").is_in(used).alias("used"))


def _mentioned_later(found: pl.DataFrame, again: pl.DataFrame) -> pl.DataFrame:
    """Return the found tokens that occur again at a later step of the same trajectory."""
    found = _likely_in(again, found)
    again = _likely_in(found, again)
    last = again.group_by(_TOKEN).agg(pl.col("step_index").max().alias("last"))
    return found.join(last, on=_TOKEN).filter(pl.col("last") > pl.col("step_index"))


def _likely_in(others: pl.DataFrame, tokens: pl.DataFrame) -> pl.DataFrame:
    """Return the tokens that are among the others, and by chance some that are not.

    A search for hashes is cheaper than a join of texts, since most texts have no equal.
    """
    hashed = pl.col("trajectory_id").hash() ^ pl.col("token").hash()
    return tokens.filter(hashed.is_in(others.select(hashed.implode()).to_series()))
