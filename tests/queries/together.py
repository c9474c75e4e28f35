"""Tests of single traces share one build: it costs as much for one trace as for hundreds.

    @built_together
    def test_a_call_is_a_step() -> Scene:
        lake = yield [agent(1), tool(2, 1)]

        assert story(lake) == ["tool_call t ok"]

What a test yields are the spans of its trace. The traces of a module are built in one lake, and
each test goes on with that part of it in which there is no other trace.
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

import duckdb
from tests.scenes import scenes_of

from tracegrade_queries.engine.connection import connect

from .traces import Row, TraceRows, built_apart

Scene: TypeAlias = Generator[Iterable[Row], TraceRows, None]

_IDS = {
    "steps": ("trace_id", "trajectory_id"),
    "trajectories": ("trace_id", "trajectory_id", "parent_trajectory_id"),
}
"""The columns of each table that hold the id of a trace."""


class Together(NamedTuple):
    """A lake with the traces of all tests of a module."""

    con: duckdb.DuckDBPyConnection
    scenes: dict[str, Scene]
    """By the name of the test, in the order of their traces."""

    def go_on(self, name: str) -> None:
        """Let a test go on with the rows of its trace, whose id is as if it was the first."""
        trace = f"{1 + list(self.scenes).index(name):032x}"
        for table, columns in _IDS.items():
            first = [f"replace({each}, '{trace}', '{1:032x}') AS {each}" for each in columns]
            self.con.execute(
                f"CREATE OR REPLACE TEMP VIEW {table} AS SELECT * REPLACE ({', '.join(first)}) "
                f"FROM memory.main.{table} WHERE trace_id = '{trace}'"
            )
        with suppress(StopIteration):  # the test ends
            self.scenes[name].send(TraceRows(self.con))


@contextmanager
def all_built(folder: Path, module: str) -> Iterator[Together]:
    """Build the traces of a module's tests."""
    scenes = {test.__name__: test() for test in scenes_of(module)}
    lake = built_apart(folder, [next(scene) for scene in scenes.values()])
    with connect(lake) as con:
        yield Together(con, scenes)
