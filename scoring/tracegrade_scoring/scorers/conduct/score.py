"""Scores how each attempt went about it: repeated calls, recovery from failures, its end.

All of it is SQL but the canonical form of JSON, and most needs no task. Source: [Harness],
"Trajectory scoring"; docs/metrics.md, section 3.

Makes:
    canonical_repeats (from repeated_results): results of repeated calls, in canonical form
"""

from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_queries.build.canonical import canonical_texts
from tracegrade_scoring.relations import materialise, put

_STAGES: Final = (
    "call_repeats",
    "reworded_calls",
    "reworded_loops",
    "unread_repeats",
    "loop_traps",
    "recoveries",
    "expected_calls",
    "last_needed_calls",
    "failed_call_rows",
    "conduct_scores",
)


def score(con: duckdb.DuckDBPyConnection) -> None:
    """Create `conduct_scores`, one row for each distinct set of scores, and `failed_call_rows`.

    `failed_call_rows` has one row for each call that failed.

    Args:
        con: Holds what `create_relations`, tool selection and plan graphs create, and `endings`.
    """
    materialise(con, "repeated_results")
    texts = con.table("repeated_results").to_arrow_table()["result"]
    same = pa.table({"result": texts, "canonical": canonical_texts(texts)})
    put(con, "canonical_repeats", same)
    for name in _STAGES:
        materialise(con, name)
