"""Scores tool selection: decision points, their alignment with the task, criteria a, b and c.

SQL says all of it but two things: Python aligns, once for each distinct case, and validates the
arguments of each call.
Source: [Triangle] (TSA); docs/metrics.md, section 1.

Makes:
    alignments (from alignment_problems): the decisions of each distinct problem
"""

from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_scoring.relations import materialise, put, table
from tracegrade_scoring.scorers.tool_selection.alignment import decisions
from tracegrade_scoring.scorers.tool_selection.arguments import validate_arguments
from tracegrade_scoring.scorers.tool_selection.differing_values import compare_values

_ALIGNMENTS = pa.schema(
    [
        ("problem", pa.string()),
        ("decision_index", pa.int32()),
        ("point", pa.int32()),
        ("position", pa.int32()),
        ("tool_fits", pa.bool_()),
    ]
)

_JUDGED: Final = (
    "better_alternatives",
    "wrong_arguments",
    "decision_rows",
    "call_totals",
    "tool_selection_scores",
    "call_scores",
)


def score(con: duckdb.DuckDBPyConnection) -> None:
    """Create `decision_rows`, `tool_selection_scores` and `call_scores`.

    Needs what `create_relations` makes, and `endings`.
    """
    validate_arguments(con)
    for name in ("call_points", "fitting_pairs", "alignment_problems"):
        materialise(con, name)
    _align(con)
    materialise(con, "decision_points")
    compare_values(con)
    for name in _JUDGED:
        materialise(con, name)


def _align(con: duckdb.DuckDBPyConnection) -> None:
    """Create `alignments`: the decisions of each distinct problem, in order."""
    problems = con.sql("SELECT DISTINCT problem FROM alignment_problems ORDER BY problem")
    texts = [text for (text,) in problems.fetchall()]
    rows = ((text, i, *row) for text in texts for i, row in enumerate(decisions(text)))
    put(con, "alignments", table(_ALIGNMENTS, rows))
