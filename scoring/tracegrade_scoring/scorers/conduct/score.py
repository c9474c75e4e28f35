"""Scores how each attempt went about it: repeats, recovery from failures, ending, failure modes.

All of it is SQL but the tokens of texts; most needs no task. Source: [Harness], "Trajectory
scoring" and "Failure-mode taxonomy"; docs/metrics.md, sections 3 and 9.

Makes:
    suspect_tokens (from cascade_candidate_texts): the distinctive words of texts
"""

from typing import Final

import duckdb
import polars as pl

from tracegrade_scoring.attempts.distinctive_tokens import distinctive_tokens
from tracegrade_scoring.relations import define, materialise, put
from tracegrade_scoring.sql import unordered

_STAGES: Final = (
    "call_repeats",
    "unread_repeats",
    "loop_traps",
    "recoveries",
    "expected_calls",
    "last_needed_calls",
    "call_sub_goals",
    "sub_goal_requirements",
    "premature_commitments",
    "cascade_candidates",
)

_MODES: Final = ("cascades", "goal_drifts", "failure_modes", "failure_rows", "failed_call_rows")


def score(con: duckdb.DuckDBPyConnection) -> None:
    """Create `conduct_scores`, `failure_scores`, `failure_rows` and `failed_call_rows`.

    The scores have one row for each attempt, `failure_rows` one for each attempt and mode that it
    shows, `failed_call_rows` one for each call that failed.

    Args:
        con: Holds what `create_relations`, tool selection and plan graphs make, and `endings`.
    """
    for name in _STAGES:
        materialise(con, name)
    texts = pl.DataFrame(con.sql(unordered("cascade_candidate_texts")).to_arrow_table())
    put(con, "suspect_tokens", distinctive_tokens(texts).unique().to_arrow())
    for name in _MODES:
        materialise(con, name)
    define(con, "conduct_scores")
    define(con, "failure_scores")
