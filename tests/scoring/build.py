"""Small lakes in memory: steps and trajectories with the declared columns, the rest left NULL."""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa
import yaml

from tracegrade_collector.lake import Table
from tracegrade_queries.schema import STEPS, TRAJECTORIES, VERDICTS
from tracegrade_scoring.prepare import create_relations
from tracegrade_scoring.tasks import Specification

Row = Mapping[str, Any]


def specification(text: str) -> Specification:
    """Return a specification from the YAML of a task file, unchecked."""
    values = yaml.safe_load(text)
    return Specification.model_validate({k: v for k, v in values.items() if k != "version"})


def connection(
    steps: Sequence[Row] = (), trajectories: Sequence[Row] = (), verdicts: Sequence[Row] = ()
) -> duckdb.DuckDBPyConnection:
    """Return a connection in which the three built tables hold the given rows."""
    con = duckdb.connect()
    for table, rows in ((STEPS, steps), (TRAJECTORIES, trajectories), (VERDICTS, verdicts)):
        con.register("_rows", arrow(table, rows))
        con.execute(f"CREATE TEMP TABLE {table.name} AS FROM _rows")
        con.unregister("_rows")
    return con


def arrow(table: Table, rows: Sequence[Row]) -> pa.Table:
    """Return the rows as a table of the declared schema."""
    return pa.Table.from_pylist([dict(row) for row in rows], schema=table.arrow())


def prepared(con: duckdb.DuckDBPyConnection, spec: Specification) -> duckdb.DuckDBPyConnection:
    """Return the connection after the relations that metrics read were made."""
    create_relations(con, spec)
    return con


def trajectory(trajectory_id: str = "t1", **columns: Any) -> Row:
    """Return one complete root trajectory."""
    given = {"trace_id": trajectory_id, "complete": True, "sample_weight": 1.0, **columns}
    return {"trajectory_id": trajectory_id, **given}


def call(trajectory_id: str, step_index: int, tool_name: str, **columns: Any) -> Row:
    """Return one tool call that went well, without arguments."""
    given = {
        "status": "ok",
        "arguments": "{}",
        "span_id": f"s{step_index}",
        "flags": [],
        **columns,
    }
    return {
        "trajectory_id": trajectory_id,
        "step_index": step_index,
        "kind": "tool_call",
        "tool_name": tool_name,
        **given,
    }
