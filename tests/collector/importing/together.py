"""Tests of single imports share one build: it costs as much for one import as for dozens.

    @built_together
    def test_a_chat_has_its_answer(folder: Path) -> Scene:
        outcome = yield imported(folder, written(folder, {"messages": [...]}))

        assert outcome.rows("SELECT final_answer FROM trajectories") == [("Hello.",)]

What a test yields is what became of its import, into a lake of its own. The spans of all imports
of a module are then built in one lake, where ids of traces begin with the number of their test,
and each test goes on with the rows of its traces.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias

import duckdb
import pyarrow as pa
from tests.collector.importing.imports import Outcome
from tests.scenes import finish, scenes_of

from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect

Scene: TypeAlias = Generator[Outcome, Outcome, None]


class Imports(NamedTuple):
    """A lake with the traces of all tests of a module."""

    con: duckdb.DuckDBPyConnection
    scenes: dict[str, tuple[Scene, Outcome, list[str]]]
    """By the name of the test: the test, what became of its import, and the ids of its traces."""

    def go_on(self, name: str) -> None:
        """Let a test go on with the rows of its traces."""
        scene, outcome, traces = self.scenes[name]
        for table in ("steps", "trajectories"):
            self.con.execute(
                f"CREATE OR REPLACE TEMP VIEW {table} AS FROM memory.main.{table} "
                f"WHERE trace_id IN {(*traces, '')}"
            )
        finish(scene, outcome.built_in(self.con))


@contextmanager
def all_built(folder: Path, module: str) -> Iterator[Imports]:
    """Build what the tests of a module import."""
    scenes = {}
    spans: list[pa.Table] = []
    for number, test in enumerate(scenes_of(module)):
        own = folder / str(number)
        own.mkdir()
        scene = test(own)
        outcome = next(scene)
        with connect(outcome.lake) as con:
            found = con.sql(
                f"SELECT * REPLACE ('{number:03x}' || trace_id[:29] AS trace_id) FROM raw_spans"
            ).to_arrow_table()
        spans.append(found)
        traces = sorted({str(each) for each in found["trace_id"].to_pylist()})
        scenes[test.__name__] = scene, outcome, traces
    names = RAW_SPANS.arrow().names
    lake = Lake.create(folder / "lake")
    lake.append(RAW_SPANS, pa.concat_tables(spans).select(names).cast(RAW_SPANS.arrow()))
    build(lake)
    with connect(lake) as con:
        yield Imports(con, scenes)
