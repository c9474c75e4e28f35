"""Takes the criteria of tasks apart, and writes the values that they compare in one form."""

import json
from collections.abc import Iterator, Mapping
from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_lake.columns import BOOLEAN, INTEGER, TEXT
from tracegrade_queries.build.canonical import canonical_texts
from tracegrade_queries.engine.relations import table
from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.attempts.criteria.conditions import CriterionCondition, conditions, values
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

CriterionKey = tuple[str, str, int]


@relation("criterion_conditions", "criterion_values", reads=("task_criteria",))
def _conditions(run: Run) -> Mapping[str, pa.Table]:
    """Return the conditions of each criterion, and the values that they ask for."""
    found = list(_all_conditions(run.con))
    rows = ((*key, *condition.columns) for key, condition in found)
    needed = (
        (*key, condition.kind, condition.tool_name, condition.failed, part, path, *expected)
        for key, condition in found
        for part, path, expected in values(condition)
    )
    return {
        "criterion_conditions": table(CONDITIONS, rows),
        "criterion_values": table(VALUES, needed),
    }


def _all_conditions(
    con: duckdb.DuckDBPyConnection,
) -> Iterator[tuple[CriterionKey, CriterionCondition]]:
    criteria = con.sql("FROM task_criteria ORDER BY task_id, sub_goal")
    for task_id, sub_goal, success in criteria.fetchall():
        for i, condition in enumerate(conditions(json.loads(success))):
            yield (task_id, sub_goal, i), condition


@relation("canonical_values", reads=("found_values",))
def _canonical_values(run: Run) -> pa.Table:
    """Return (text, canonical): each distinct JSON text that is compared."""
    texts = run.con.sql(
        "SELECT actual FROM found_values WHERE actual IS NOT NULL "
        "UNION SELECT expected FROM found_values WHERE expected IS NOT NULL ORDER BY ALL"
    ).to_arrow_table()["actual"]
    return pa.table({"text": texts, "canonical": canonical_texts(texts)})
