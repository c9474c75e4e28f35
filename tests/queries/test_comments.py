"""A connection says what its tables and columns hold, in the words of their declarations."""

import pyarrow as pa
import pytest

import tracegrade_queries as tg
from tracegrade_lake import Column, Lake, Table
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.comments import relations
from tracegrade_queries.engine.layers import BUILT
from tracegrade_queries.schema import STEPS
from tracegrade_queries.sql_command import Output, Question, print_rows
from tracegrade_scoring.schema import DECISIONS, SCORE_TABLES, TRAJECTORY_SCORES

from .traces import agent, land, request_of, tool

COMMENTS = "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE NOT internal"


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with spans, steps and empty tables of scores."""
    lake = Lake.create(tmp_path_factory.mktemp("scored") / "lake")
    land(lake, request_of([agent(1), tool(2, 1, at=1)]))
    build(lake)
    for table in (DECISIONS, TRAJECTORY_SCORES):
        lake.append(table, table.arrow().empty_table())
    return lake


def test_every_column_has_the_text_of_its_declaration(scored: Lake) -> None:
    """Of tables and views, of this package and of those above it, and no column is without."""
    declared = {
        (relation.name, column.name): column.meaning
        for relation in relations()
        for column in relation.columns
    }

    with tg.connect(scored) as con:
        found = {(table, column): text for table, column, text in con.sql(COMMENTS).fetchall()}
    assert {table for table, _ in found} > {"spans", "steps", "decisions", "scores"}
    assert found == {key: declared[key] for key in found}


def test_every_view_says_what_a_row_is(scored: Lake) -> None:
    """In the sentence of its declaration."""
    with tg.connect(scored) as con:
        rows = con.sql("SELECT view_name, comment FROM duckdb_views() WHERE NOT internal")
        found = dict(rows.fetchall())

    declared = {each.name: each.summary for each in relations()}
    assert found == {name: declared[name] for name in found}
    assert found["steps"] == "One row is one step of a trajectory."


def test_columns_of_an_earlier_version_have_texts_too(lake: Lake) -> None:
    """Missing columns in its files do not matter, and undeclared tables do not either."""
    column = Column("trajectory_id", pa.string(), "")
    for name in ("decisions", "model_prices"):
        table = Table(name, "", (column,), partition_by=())
        lake.append(table, pa.table({"trajectory_id": ["t1"]}))

    with tg.connect(lake) as con:
        found = dict(con.sql(f"SELECT table_name, comment FROM ({COMMENTS})").fetchall())
    assert found["decisions"] == DECISIONS.columns[0].meaning
    assert found["model_prices"] is None


def test_command_shows_them(scored: Lake, capfd: pytest.CaptureFixture[str]) -> None:
    """A query of the engine's own catalog has them."""
    query = "SELECT comment FROM duckdb_columns() WHERE column_name = 'call_step'"
    print_rows(Question(query, None), lake=str(scored.root), output=Output("csv"))

    (text,) = [column.meaning for column in STEPS.columns if column.name == "call_step"]
    assert text in capfd.readouterr().out


def test_fields_of_structs_are_declared() -> None:
    """Each column with fields says what they hold, and its type is what they make."""
    for table in (*BUILT.tables, *SCORE_TABLES):
        for column in table.columns:
            type_ = column.type.value_type if pa.types.is_list(column.type) else column.type
            made = column.struct.type if column.struct else None
            assert made == (type_ if pa.types.is_struct(type_) else None), column.name
