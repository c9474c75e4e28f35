"""Scores tool correctness: selection, parameters, sequence and utilization, each and as one.

SQL says all of it but the matching of calls with expectations, which Python does once for each
distinct case. Source: [Agentic], "Tool Correctness"; docs/metrics.md, section 2.

Makes:
    grading_solutions (from grading_problems): the grade of each distinct problem
    grading_weights: weights and threshold of the score
"""

import duckdb
import pyarrow as pa

from tracegrade_scoring.relations import materialise, put, table
from tracegrade_scoring.scorers.tool_correctness.grading import grade
from tracegrade_scoring.scorers.tool_correctness.utilisation import find_uses
from tracegrade_scoring.tasks.model import ToolCorrectness

_SOLUTIONS = pa.schema(
    [
        ("problem", pa.string()),
        ("matched", pa.int64()),
        ("similarity", pa.float64()),
        ("common", pa.int64()),
    ]
)

_WEIGHTS = pa.schema([("weights", pa.list_(pa.float64())), ("threshold", pa.float64())])


def score(con: duckdb.DuckDBPyConnection, options: ToolCorrectness) -> None:
    """Create `tool_correctness_scores`, one row for each attempt.

    Args:
        con: Holds what `create_relations` makes, and `fitting_pairs`.
        options: Weights, threshold, and whose reading of the dimensions.
    """
    put(con, "grading_weights", table(_WEIGHTS, [(options.weights, options.threshold)]))
    for name in ("graded_expectations", "call_turns", "grading_problems"):
        materialise(con, name)
    _solve(con)
    find_uses(con)
    grades = "agentic_grades" if options.compat == "agentic" else "tool_grades"
    materialise(con, "tool_grades", grades)
    materialise(con, "tool_correctness_scores")


def _solve(con: duckdb.DuckDBPyConnection) -> None:
    """Create `grading_solutions`: the grade of each distinct problem."""
    problems = con.sql("SELECT DISTINCT problem FROM grading_problems ORDER BY problem")
    found = ((text, grade(text)) for (text,) in problems.fetchall())
    rows = ((text, g.matched, float(g.similarity), g.common) for text, g in found)
    put(con, "grading_solutions", table(_SOLUTIONS, rows))
