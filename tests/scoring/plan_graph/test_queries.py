"""The headers of the plan graph's queries are true."""

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import duckdb
import pytest

import tracegrade_queries
from tracegrade_scoring import plan_graph, replanning

from ..build import call, connection, prepared, specification, trajectory
from .scored import plan
from .test_sub_goals import SUPPORT

FOLDER = Path(tracegrade_queries.__file__).parent / "metrics"
QUERIES = sorted(
    path for stem in ("sub_goal_*", "plan_*", "replan*") for path in FOLDER.glob(f"{stem}.sql")
)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that holds everything that scoring two attempts leaves behind."""
    steps = [
        plan("t1", 0, [{"id": "a", "tool": "classify"}, {"id": "b"}]),
        call("t1", 1, "classify"),
        plan("t1", 2, [{"id": "c"}]),
        call("t2", 0, "send", status="error"),
    ]
    attempts = [trajectory(name, task_id="refund") for name in ("t1", "t2")]
    with connection(steps, attempts) as con:
        prepared(con, specification(SUPPORT))
        plan_graph.score(con)
        replanning.score(con)
        yield con


def header(sql: str) -> dict[str, list[str]]:
    """Return the lines under each heading of a query's header."""
    sections: dict[str, list[str]] = {}
    for line in takewhile(lambda line: line.startswith("--"), sql.splitlines()):
        if heading := re.fullmatch(r"-- (\w+):", line):
            sections[heading[1]] = []
        elif sections and re.match(r"--   \S", line):
            sections[list(sections)[-1]].append(line.removeprefix("--   "))
    return sections


def tables_read(sql: str) -> set[str]:
    """Return the names after FROM and JOIN that the query does not define itself."""
    code = re.sub(r"--.*", "", sql)
    named = set(re.findall(r"(?:FROM|JOIN)\s+([a-z]\w+)", code))
    return named - set(re.findall(r"(\w+) AS \(", code))


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_header_is_true(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """It names what is read, the columns with their types, and a total order."""
    sql = path.read_text(encoding="utf-8")
    said = header(sql)
    columns = [row[:2] for row in con.execute(f"DESCRIBE {sql}").fetchall()]
    found = con.execute(sql).fetchall()

    assert [tuple(line.split()[:2]) for line in said["Columns"]] == columns
    assert set(said["Reads"]) == tables_read(sql)
    names = [name for name, _ in columns]
    key = [names.index(name) for name in said["Order"][0].split(", ")]
    keys = [tuple(row[i] for i in key) for row in found]
    assert keys == sorted(set(keys))
    assert keys or path.stem in EMPTY


EMPTY = {"sub_goal_values"}
"""Queries that find nothing in these two attempts, whose task asks for no value in a result."""
