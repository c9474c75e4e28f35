"""Finds the failure modes that each attempt shows: loops, cascades, drift and the like.

All of it is SQL but the tokens of texts. Source: [Harness], "Failure-mode taxonomy";
docs/metrics.md, section 9.

Makes:
    cascade_tokens (from cascade_candidate_texts): the distinctive words of texts
"""

from typing import Final

import duckdb
import polars as pl

from tracegrade_scoring.attempts.distinctive_tokens import distinctive_tokens
from tracegrade_scoring.relations import create_macro, materialise, put
from tracegrade_scoring.sql import unordered

_STAGES: Final = (
    "call_sub_goals",
    "sub_goal_requirements",
    "premature_commitments",
    "cascade_candidates",
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
    texts = pl.DataFrame(con.sql(unordered("cascade_candidate_texts")).to_arrow_table())
    put(con, "cascade_tokens", distinctive_tokens(texts).unique().to_arrow())
    for name in _MODES:
        materialise(con, name)
