"""Aligns decision points with the task, once for each distinct case; most else is SQL.

Source: [Triangle] (TSA); docs/metrics.md, section 1.
"""

from typing import Any

import pyarrow as pa

from tracegrade_queries.engine.relations import table
from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.scorers.tool_selection.alignment import (
    AlignmentProblem,
    FittingPair,
    decisions,
)

_DECISIONS = pa.schema(
    [
        ("decision_index", pa.int32()),
        ("point", pa.int32()),
        ("position", pa.int32()),
        ("tool_fits", pa.bool_()),
    ]
)


@relation("alignments", reads=("alignment_problems",))
def _alignments(run: Run) -> pa.Table:
    """Return the decisions of each distinct problem; the problems are in any order."""
    columns = ", ".join(AlignmentProblem._fields)
    posed = run.con.sql(f"SELECT DISTINCT {columns} FROM alignment_problems").to_arrow_table()
    rows = [
        (number, i, *decision)
        for number, problem in enumerate(posed.to_pylist())
        for i, decision in enumerate(decisions(_problem(problem)))
    ]
    numbers = pa.array([number for number, *_ in rows], pa.int64())
    found = table(_DECISIONS, (row[1:] for row in rows))
    return pa.Table.from_arrays(
        [*posed.take(numbers).columns, *found.columns], [*posed.column_names, *found.column_names]
    )


def _problem(row: dict[str, Any]) -> AlignmentProblem:
    pairs = tuple(FittingPair(**pair) for pair in row["pairs"])
    return AlignmentProblem(**{**row, "pairs": pairs})
