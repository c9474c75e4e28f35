"""Creates the evidence for every criterion of the tasks of attempts.

The order is the way of thought: which conditions there are; what calls returned at the places they
name; what the expressions say; when each condition held.

Makes:
    answer_matches (from pattern_answers): which answers match the pattern of a criterion
    canonical_values (from found_values): JSON texts as they are compared
    criterion_conditions (from task_criteria): the conditions of each criterion
    criterion_values (from task_criteria): the values that conditions ask for
"""

import json
from collections.abc import Iterator
from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_lake.columns import BOOLEAN, INTEGER, TEXT
from tracegrade_queries.build.canonical import canonical_texts
from tracegrade_scoring.attempts.criteria.conditions import CriterionCondition, conditions, values
from tracegrade_scoring.attempts.criteria.expressions import evaluate
from tracegrade_scoring.attempts.patterns import matches
from tracegrade_scoring.relations import materialise, put, table
from tracegrade_scoring.sql import query
from tracegrade_scoring.tasks.relations import WANTED

_OWNER: Final = [("task_id", TEXT), ("sub_goal", TEXT), ("condition", INTEGER)]
# One row per condition; `sub_goal` is '' for the criterion of the task itself.
CONDITIONS: Final = pa.schema(
    [
        *_OWNER,
        ("kind", TEXT),
        ("tool_name", TEXT),
        ("failed", BOOLEAN),
        ("pattern", TEXT),
        ("input", TEXT),
        ("expression", TEXT),
        ("any_of", INTEGER),
        ("alternative", INTEGER),
    ]
)
# One row per value that a condition asks for, in the `part` (arguments | result) of a call; those
# of one part and path are alternatives.
VALUES: Final = pa.schema(
    [
        *_OWNER,
        ("kind", TEXT),
        ("tool_name", TEXT),
        ("failed", BOOLEAN),
        ("part", TEXT),
        ("path", TEXT),
        *WANTED,
    ]
)

Key = tuple[str, str, int]


def judge_criteria(con: duckdb.DuckDBPyConnection) -> None:
    """Create `criterion_conditions`, `criterion_evidence` and `expression_results`.

    Args:
        con: Holds `attempt_bindings`, `attempt_members`, `calls`, `steps`, `attempt_tasks`,
            `trajectories`, `verdict_opinions` and the task relations.
    """
    found = list(_all_conditions(con))
    rows = ((*key, *condition.columns) for key, condition in found)
    put(con, "criterion_conditions", table(CONDITIONS, rows))
    asked = (
        (*key, condition.kind, condition.tool_name, condition.failed, part, path, *expected)
        for key, condition in found
        for part, path, expected in values(condition)
    )
    put(con, "criterion_values", table(VALUES, asked))
    materialise(con, "found_values")
    _canonicalise(con)
    materialise(con, "pattern_answers")
    put(con, "answer_matches", matches(con, "pattern_answers", "final_answer"))
    evaluate(con)
    materialise(con, "condition_evidence")
    materialise(con, "criterion_evidence")


def _all_conditions(con: duckdb.DuckDBPyConnection) -> Iterator[tuple[Key, CriterionCondition]]:
    criteria = con.sql(query("task_criteria"))
    for task_id, sub_goal, success in criteria.fetchall():
        for i, condition in enumerate(conditions(json.loads(success))):
            yield (task_id, sub_goal, i), condition


def _canonicalise(con: duckdb.DuckDBPyConnection) -> None:
    """Create `canonical_values` (text, canonical): each distinct JSON text that is compared."""
    texts = con.sql(
        "SELECT found FROM found_values WHERE found IS NOT NULL "
        "UNION SELECT expected FROM found_values WHERE expected IS NOT NULL ORDER BY ALL"
    ).to_arrow_table()["found"]
    put(con, "canonical_values", pa.table({"text": texts, "canonical": canonical_texts(texts)}))
