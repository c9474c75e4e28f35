"""Aligns decision points with the task, once for each distinct case; most else is SQL.

Source: [Triangle] (TSA); docs/metrics.md, section 1.
"""

import pyarrow as pa

from tracegrade_queries.engine.relations import table
from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.scorers.tool_selection.alignment import decisions

_ALIGNMENTS = pa.schema(
    [
        ("problem", pa.string()),
        ("decision_index", pa.int32()),
        ("point", pa.int32()),
        ("position", pa.int32()),
        ("tool_fits", pa.bool_()),
    ]
)


@relation("alignments", reads=("alignment_problems",))
def _alignments(run: Run) -> pa.Table:
    """Return the decisions of each distinct problem, in order."""
    problems = run.con.sql("SELECT DISTINCT problem FROM alignment_problems ORDER BY problem")
    texts = [text for (text,) in problems.fetchall()]
    rows = ((text, i, *row) for text in texts for i, row in enumerate(decisions(text)))
    return table(_ALIGNMENTS, rows)
