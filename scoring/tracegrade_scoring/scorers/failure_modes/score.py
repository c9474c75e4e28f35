"""Finds the failure modes that each attempt shows: loops, cascades, drift and the like.

All of it is SQL but the tokens of texts and the forms of words.
Source: [Harness], "Failure-mode taxonomy"; docs/metrics.md, section 9.

Makes:
    claim_words (from claim_names): words by which an answer says that something was done
    cascade_tokens (from cascade_candidate_texts): the distinctive words of texts
"""

from typing import Final

import duckdb
import polars as pl
import pyarrow as pa

from tracegrade_lake.columns import BOOLEAN, TEXT, TEXTS
from tracegrade_scoring.attempts.distinctive_tokens import distinctive_tokens
from tracegrade_scoring.relations import create_macro, materialise, put, table
from tracegrade_scoring.scorers.failure_modes.claims import claim_words
from tracegrade_scoring.sql import query, unordered

_STAGES: Final = (
    "call_sub_goals",
    "sub_goal_requirements",
    "off_plan_destructions",
    "claimable_sub_goals",
)

_COMMITMENTS: Final = ("answer_claims", "premature_commitments", "cascade_candidates")

_CLAIM_WORDS: Final = pa.schema(
    [("name", TEXT), ("is_tool", BOOLEAN), ("participles", TEXTS), ("nouns", TEXTS)]
)

_MODES: Final = ("cascades", "goal_drifts", "failure_modes", "failure_rows", "failure_scores")


def score(con: duckdb.DuckDBPyConnection) -> None:
    """Create `failure_scores`, one row for each distinct set of scores, and `failure_rows`.

    `failure_rows` has one row for each attempt and mode that it shows.

    Args:
        con: Holds what `create_relations`, tool selection, plan graphs and conduct create.
    """
    create_macro(con, "mode_score")
    for name in _STAGES:
        materialise(con, name)
    put(con, "claim_words", _claim_words(con))
    for name in _COMMITMENTS:
        materialise(con, name)
    texts = pl.DataFrame(con.sql(unordered("cascade_candidate_texts")).to_arrow_table())
    put(con, "cascade_tokens", distinctive_tokens(texts).unique().to_arrow())
    for name in _MODES:
        materialise(con, name)


def _claim_words(con: duckdb.DuckDBPyConnection) -> pa.Table:
    """Return the words of each name by which an answer may say that something was done."""
    names = con.sql(query("claim_names")).fetchall()
    return table(_CLAIM_WORDS, [(*name, *claim_words(*name)) for name in names])
