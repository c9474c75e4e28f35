"""Scores tool selection: decision points, their alignment with the task, criteria a, b and c.

SQL says all of it but three things that Python does once for each distinct case: the alignment,
the matching of tools used with tools expected, and the validation of arguments.
Source: Triangle (TSA); metrics.md, section 1.
"""

import duckdb
import orjson
import pyarrow as pa

from tracegrade_scoring.alignment import align
from tracegrade_scoring.arguments import validate_arguments
from tracegrade_scoring.overlap import Use, overlap
from tracegrade_scoring.relations import materialise, put, table
from tracegrade_scoring.tasks import Specification

_ALIGNMENTS = pa.schema(
    [("problem", pa.string()), ("point", pa.int32()), ("expectation", pa.int32())]
)


_OVERLAPS = pa.schema(
    [
        ("task_id", pa.string()),
        ("uses", pa.string()),
        ("matched", pa.int64()),
        ("total", pa.int64()),
    ]
)


def score(con: duckdb.DuckDBPyConnection, specification: Specification) -> None:
    """Create `decision_rows`, `tool_selection_scores`, `tool_overlap_scores` and `call_scores`.

    Needs what `create_relations` makes, and `endings`.
    """
    validate_arguments(con)
    for name in (
        "call_points",
        "decision_points",
        "expectation_pairs",
        "decision_matches",
        "alignment_problems",
    ):
        materialise(con, name)
    _align(con)
    for name in ("expectation_matches", "better_alternatives", "decision_rows"):
        materialise(con, name)
    for name in ("tool_selection_scores", "call_totals", "call_scores", "tool_uses"):
        materialise(con, name)
    _count_overlaps(con, specification)
    materialise(con, "tool_overlap_scores")


def _align(con: duckdb.DuckDBPyConnection) -> None:
    """Create `alignments` (problem, point, expectation): the pairs of each distinct problem."""
    problems = con.sql("SELECT DISTINCT problem FROM alignment_problems ORDER BY problem")
    pairs = ((text, *pair) for (text,) in problems.fetchall() for pair in align(text))
    put(con, "alignments", table(_ALIGNMENTS, pairs))


def _count_overlaps(con: duckdb.DuckDBPyConnection, specification: Specification) -> None:
    """Create `tool_overlaps` (task_id, uses, matched, total): each distinct bag of tools once."""
    bags = con.sql("SELECT DISTINCT task_id, uses FROM tool_uses ORDER BY task_id, uses")
    rows = (
        (task_id, text, *overlap(specification.tasks[task_id], _uses(text), specification.tools))
        for task_id, text in bags.fetchall()
    )
    put(con, "tool_overlaps", table(_OVERLAPS, rows))


def _uses(text: str) -> list[Use]:
    return [Use(**use) for use in orjson.loads(text)]
