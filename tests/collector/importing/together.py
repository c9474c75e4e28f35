"""Tests of single imports share one build: it costs as much for one import as for dozens.

    @built_together
    def test_a_chat_has_its_answer(folder: Path) -> Scene:
        outcome = yield imported(folder, written(folder, {"messages": [...]}))

        assert outcome.rows("SELECT final_answer FROM trajectories") == [("Hello.",)]

What a test yields is what became of its import, into a lake of its own. The spans and verdicts of
all imports of a module are then in one lake, where ids of traces begin with the number of their
test, and each test goes on with the rows of its traces.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.collector.importing.imports import Outcome
from tests.scenes import finish, scenes_of

from tracegrade_lake import RAW_SPANS, VERDICTS, Lake, Table
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect

Scene: TypeAlias = Generator[Outcome, Outcome, None]

_IDS: Final = {RAW_SPANS: "trace_id", VERDICTS: "trajectory_id"}
"""The tables that imports write, each with the id that begins with that of a trace."""

_READ: Final = ("steps", "trajectories", "verdicts")
"""The tables that tests go on with."""


class Imports(NamedTuple):
    """A lake with the traces of all tests of a module."""

    con: duckdb.DuckDBPyConnection
    scenes: dict[str, tuple[Scene, Outcome]]
    """By the name of the test: the test, and what became of its import."""

    def go_on(self, name: str) -> None:
        """Let a test go on with the rows of its traces."""
        scene, outcome = self.scenes[name]
        own = _beginning(list(self.scenes).index(name))
        for table in _READ:
            self.con.execute(
                f"CREATE OR REPLACE TEMP VIEW {table} AS FROM of_all.{table} "
                f"WHERE starts_with(trajectory_id, '{own}')"
            )
        finish(scene, outcome.built_in(self.con))


def _beginning(number: int) -> str:
    """Return what the ids of a test's traces begin with where those of all tests are."""
    return f"{number:03x}"


@contextmanager
def all_built(folder: Path, request: pytest.FixtureRequest) -> Iterator[Imports]:
    """Build what the tests of a module import."""
    scenes = {}
    lake = Lake.create(folder / "lake")
    for number, (name, test) in enumerate(scenes_of(request).items()):
        own = folder / str(number)
        own.mkdir()
        scene = test(folder=own)
        scenes[name] = scene, next(scene)
    for table in _IDS:
        found = [_rows(table, n, outcome) for n, (_, outcome) in enumerate(scenes.values())]
        lake.append(table, pa.concat_tables(found))
    build(lake)
    with connect(lake) as con:
        con.execute("ATTACH ':memory:' AS of_all")
        for read in _READ:  # read once, not for each test
            con.execute(f"CREATE TABLE of_all.{read} AS FROM {read}")
        yield Imports(con, scenes)


def _rows(table: Table, number: int, outcome: Outcome) -> pa.Table:
    """Return what an import wrote into a table, with ids that no other import has."""
    read = outcome.lake.dataset(table.name)
    rows = table.arrow().empty_table() if read is None else read.to_table()
    rows = rows.select(table.arrow().names).cast(table.arrow())
    ids = rows[_IDS[table]]
    own = pc.utf8_replace_slice(ids, 0, len(_beginning(number)), _beginning(number))
    assert pc.count_distinct(own) == pc.count_distinct(ids), "ids differ only in how they begin"
    return rows.set_column(rows.schema.get_field_index(_IDS[table]), _IDS[table], own)
