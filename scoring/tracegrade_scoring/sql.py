"""The SQL files of this package, by name, and the dependencies of their relations."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import duckdb

from tracegrade_queries.engine.sql import MACROS, Queries
from tracegrade_queries.engine.statements import found
from tracegrade_queries.graph import RelationPlan

QUERIES: Final = Queries(Path(__file__).parent)

query = QUERIES.text
unordered = QUERIES.unordered

_RUNS: Final = ("attempt_id", "trajectory_id", "step_trajectory_id", "example")
"""Columns that name the run of a row: by its number in a bucket, by its id in a lake."""


def _types_of_runs(con: duckdb.DuckDBPyConnection) -> Mapping[str, str]:
    ids = found(con, "SELECT typeof(trajectory_id) FROM trajectories LIMIT 1")
    return {column: kind for column in _RUNS for (kind,) in ids}


RELATIONS: Final = RelationPlan(
    QUERIES, "tasks", "attempts", "scorers", macros=MACROS, types=_types_of_runs
)
"""The relations of this package; those of a bucket are made for `job/score_bucket.py`."""
