"""Tests of single traces share one build: it costs as much for one trace as for hundreds.

    @built_together
    def test_a_call_is_a_step() -> Scene:
        lake = yield [agent(1), tool(2, 1)]

        assert story(lake) == ["tool_call t ok"]

What a test yields are the spans of its trace, or of a few (`apart`). The traces of a module are
built in one lake, and each test goes on with that part of it in which there are no others'.
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias

import duckdb
import pytest
from tests.scenes import finish, scenes_of

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect

from .traces import Row, TraceRows, land, land_logs, logs_request_of, request_of

Scene: TypeAlias = Generator[Iterable[Row], TraceRows, None]

_OWN = f"{0:016x}"
"""What the ids of a test's traces begin with; those of others begin with another number."""
_IDS = {
    "steps": ("trace_id", "trajectory_id"),
    "trajectories": ("trace_id", "trajectory_id", "parent_trajectory_id"),
    "agents": ("trace_id", "trajectory_id", "parent_trajectory_id"),
}
"""The columns of each table that hold the id of a trace."""


class Together(NamedTuple):
    """A lake with the traces of all tests of a module."""

    con: duckdb.DuckDBPyConnection
    scenes: dict[str, Scene]
    """By the name of the test, in the order of their traces."""

    def go_on(self, name: str) -> None:
        """Let a test go on with the rows of its traces, whose ids are those that it gave them."""
        theirs = _beginning(list(self.scenes).index(name))
        for table, columns in _IDS.items():
            own = [f"'{_OWN}' || {each}[{len(_OWN) + 1}:] AS {each}" for each in columns]
            self.con.execute(
                f"CREATE OR REPLACE TEMP VIEW {table} AS SELECT * REPLACE ({', '.join(own)}) "
                f"FROM of_all.{table} WHERE starts_with(trace_id, '{theirs}')"
            )
        finish(self.scenes[name], self.rows)

    @property
    def rows(self) -> TraceRows:
        """Return the rows with which the last test went on."""
        return TraceRows(self.con)


def _beginning(number: int) -> str:
    """Return what the ids of a test's traces begin with where those of all tests are."""
    return f"{1 + number:016x}"


@contextmanager
def all_built(folder: Path, request: pytest.FixtureRequest) -> Iterator[Together]:
    """Build the traces of a module's tests."""
    with built(folder, {name: test() for name, test in scenes_of(request).items()}) as found:
        yield found


@contextmanager
def built(folder: Path, scenes: dict[str, Scene]) -> Iterator[Together]:
    """Build the traces of scenes, by their names; a span may bring log records along."""
    spans = [
        each | {"traceId": _beginning(number) + each["traceId"].removeprefix(_OWN)}
        for number, scene in enumerate(scenes.values())
        for each in next(scene)
    ]
    records = [
        record | {"traceId": each["traceId"]}
        for each in spans
        for record in each.pop("records", [])
    ]
    lake = Lake.create(folder / "lake")
    land(lake, request_of(spans))
    if records:
        land_logs(lake, logs_request_of(records))
    build(lake)
    with connect(lake) as con:
        con.execute("ATTACH ':memory:' AS of_all")
        for table in _IDS:  # read once, not for each test
            con.execute(f"CREATE TABLE of_all.{table} AS FROM {table}")
        yield Together(con, scenes)
