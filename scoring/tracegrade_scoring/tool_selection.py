"""Scores tool selection: decision points, their alignment with the task, criteria a, b and c.

SQL says all of it but two things that Python does once for each distinct case: the alignment and
the validation of arguments.
Source: Triangle (TSA); metrics.md, section 1.
"""

import duckdb
import pyarrow as pa

from tracegrade_scoring.alignment import align
from tracegrade_scoring.arguments import validate_arguments
from tracegrade_scoring.relations import define, materialise, put, table

_ALIGNMENTS = pa.schema(
    [("problem", pa.string()), ("point", pa.int32()), ("expectation", pa.int32())]
)


def score(con: duckdb.DuckDBPyConnection) -> None:
    """Create `decision_rows`, `tool_selection_scores` and `call_scores`.

    Needs what `create_relations` makes, and `endings`.
    """
    validate_arguments(con)
    for name in (
        "call_points",
        "decision_points",
        "fitting_pairs",
        "expectation_pairs",
        "decision_matches",
        "alignment_problems",
    ):
        materialise(con, name)
    _align(con)
    for name in ("expectation_matches", "better_alternatives", "decision_rows", "call_totals"):
        materialise(con, name)
    define(con, "tool_selection_scores")
    define(con, "call_scores")


def _align(con: duckdb.DuckDBPyConnection) -> None:
    """Create `alignments` (problem, point, expectation): the pairs of each distinct problem."""
    problems = con.sql("SELECT DISTINCT problem FROM alignment_problems ORDER BY problem")
    pairs = ((text, *pair) for (text,) in problems.fetchall() for pair in align(text))
    put(con, "alignments", table(_ALIGNMENTS, pairs))
