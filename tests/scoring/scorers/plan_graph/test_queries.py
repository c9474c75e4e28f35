"""The headers of the plan graph's queries are true."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from tests.headers import bare, columns_of, header, relations_read
from tests.scoring.build import call, connection, prepared, specification, trajectory

from tracegrade_scoring.sql import QUERIES as ALL

from .scored import plan
from .test_sub_goals import SUPPORT

PREFIXES = ("sub_goal_", "ambiguous_call", "served_", "plan_", "replan")
QUERIES = [
    path
    for name, path in ALL.paths.items()
    if name.startswith(PREFIXES) and {"scorers", "attempts", "job"}.intersection(path.parts)
]


GREETING = "      greet: {serves: [classify]}\n"
"""A sub-goal that shares its tool with another one."""


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that holds everything that scoring two attempts leaves behind."""
    steps = [
        plan("1", 0, [{"id": "a", "tool": "classify"}, {"id": "b"}]),
        call("1", 1, "classify"),
        plan("1", 2, [{"id": "c"}]),
        call("2", 0, "send", status="error"),
    ]
    attempts = [trajectory(name, task_id="refund") for name in ("1", "2")]
    said = {"subject": "sub_goal", "sub_goal": "route", "value": 1.0, "source": "check"}
    served = {"subject": "served", "sub_goal": "greet", "step_index": 1, "value": 1.0}
    verdicts = [{"trajectory_id": "2", **said}, {"trajectory_id": "1", **served}]
    with connection(steps, attempts, verdicts) as con:
        for table in ("steps", "trajectories", "verdicts"):
            con.execute(f"ALTER TABLE {table} ALTER trajectory_id TYPE INTEGER")
        prepared(
            con,
            specification(SUPPORT + GREETING),
            "plan_graph",
            "own_plan",
            "replanning",
            "run_reasons",
        )
        yield con


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_header_is_true(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """It names what is read, the columns with their types, and a total order."""
    sql = path.read_text(encoding="utf-8")
    said = header(sql)
    result = con.sql(bare(sql))

    assert said.columns == columns_of(result)
    assert said.reads == relations_read(sql)
    if said.order == ["none"]:
        assert result.fetchall()
        return
    key = [result.columns.index(name) for name in said.order]
    keys = [tuple(row[i] for i in key) for row in result.fetchall()]
    assert keys == sorted(set(keys))
    assert keys
