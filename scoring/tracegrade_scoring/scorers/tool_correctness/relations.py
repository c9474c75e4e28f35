"""Matches calls with expectations, once for each distinct case; SQL does the rest.

Source: [Agentic], "Tool Correctness"; docs/metrics.md, section 2.
"""

import pyarrow as pa

from tracegrade_queries.engine.relations import table
from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.scorers.tool_correctness.grading import grade

_SOLUTIONS = pa.schema(
    [
        ("problem", pa.string()),
        ("matched", pa.int64()),
        ("similarity", pa.float64()),
        ("common", pa.int64()),
    ]
)

_WEIGHTS = pa.schema([("weights", pa.list_(pa.float64())), ("threshold", pa.float64())])


@relation("grading_weights")
def _grading_weights(run: Run) -> pa.Table:
    """Return weights and threshold of the score, one row."""
    options = run.context.tool_correctness
    return table(_WEIGHTS, [(options.weights, options.threshold)])


@relation("grading_solutions", reads=("grading_problems",))
def _grading_solutions(run: Run) -> pa.Table:
    """Return the grade of each distinct problem."""
    problems = run.con.sql("SELECT DISTINCT problem FROM grading_problems ORDER BY problem")
    found = ((text, grade(text)) for (text,) in problems.fetchall())
    rows = ((text, g.matched, float(g.similarity), g.common) for text, g in found)
    return table(_SOLUTIONS, rows)
