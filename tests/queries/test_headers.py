"""The header of every query of this layer is true: what it reads, takes and returns.

The relations of the shared pass are checked as they stand after a real build of every captured
trace; saved queries on the case folders beside this file (`cases/<query>/<case>/`: one NDJSON file
for each table that the query reads, `params.json`, and in `expect.csv` the rows it must return).
"""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest
from tests.headers import bare, columns_of, header, parameters_used, relations_read
from tests.needs import kept_without

from tracegrade_harness.schema import HARNESS_TRIALS
from tracegrade_lake import Lake
from tracegrade_queries.build.split import split_into_steps
from tracegrade_queries.engine.connection import COUNTED, DEDUPLICATED, connect
from tracegrade_queries.engine.layers import BUILT, find_query, saved
from tracegrade_queries.engine.sql import QUERIES, needs, query
from tracegrade_queries.engine.table_views import duckdb_type, view_sql
from tracegrade_queries.graph import headers
from tracegrade_queries.relations import RELATIONS as PLAN
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.schema import SCORE_TABLES

from .traces import capture, captures, land, take_all

TABLES = {table.name: table for table in (*BUILT.tables, *SCORE_TABLES, HARNESS_TRIALS)}
CASES = sorted(path.parent for path in (Path(__file__).parent / "cases").rglob("expect.csv"))
SAVED = list(saved())
IN_STEPS = [
    name
    for name, path in QUERIES.paths.items()
    if "steps" in path.parts and not headers.macros_made(query(name))
]
TAKEN = {name: taken for name in IN_STEPS if (taken := headers.taken(query(name)))}
"""What is changed in place, by the name that it has then."""
RELATIONS = [name for name in IN_STEPS if name not in TAKEN]

each_relation = pytest.mark.parametrize("name", RELATIONS)


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with all relations of every captured trace, also by names that were taken."""
    lake = Lake.create(tmp_path_factory.mktemp("headers") / "lake")
    land(lake, *map(capture, captures()))
    with connect(lake) as con:
        take_all(con)
        read = set().union(*(header(query(name)).reads for name in IN_STEPS))
        split_into_steps(con, PLAN.names & {*IN_STEPS, *read})
        for taken in TAKEN.values():
            last = taken
            while later := next((name for name, each in TAKEN.items() if each == last), None):
                last = later
            con.execute(f"CREATE TEMP VIEW {taken} AS FROM {last}")
        yield con


@each_relation
def test_relation_has_the_columns_of_its_header(
    passed: duckdb.DuckDBPyConnection, name: str
) -> None:
    """Names, order and types of what a stage makes are as its header says."""
    made = passed.table(name)
    table = TABLES.get(name.removeprefix("built_"))
    if table is not None:
        assert made.columns == table.arrow().names
        return

    assert header(query(name)).columns == columns_of(made)


@pytest.mark.parametrize("name", [name for name in RELATIONS if needs(query(name))])
def test_relation_has_no_rows_without_those_it_needs(
    passed: duckdb.DuckDBPyConnection, name: str
) -> None:
    """What is not planned, since rows under `Needs:` are missing, would have had none."""
    assert kept_without(passed, query(name)) == {}


@pytest.mark.parametrize("name", [*RELATIONS, *QUERIES.in_folder("build"), *SAVED])
def test_query_reads_what_its_header_says(name: str) -> None:
    """The relations under `Reads:` are those that the query reads, no more and no less."""
    assert header(find_query(name)).reads == relations_read(find_query(name))


@pytest.mark.parametrize("name", SAVED)
def test_saved_query_has_a_case(name: str) -> None:
    """No saved query lands untested."""
    assert any(case.parent.name == name for case in CASES)


class Answer(NamedTuple):
    """What a saved query gives over the tables of a case."""

    case: Path
    result: duckdb.DuckDBPyRelation


@pytest.fixture(scope="module", params=CASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def answer(request: pytest.FixtureRequest) -> Answer:
    """The answer in each case, which tests share."""
    return Answer(request.param, run(request.param))


def test_rows_are_the_expected(answer: Answer) -> None:
    """The query returns exactly the rows of expect.csv, in that order."""
    case, result = answer
    with (case / "expect.csv").open() as file:
        names, *expected = csv.reader(file)
    assert result.columns == names
    found = [["" if value is None else str(value) for value in row] for row in result.fetchall()]
    assert found == expected


def test_header_is_true(answer: Answer) -> None:
    """The header names the columns, their types and the parameters that are really used."""
    sql = find_query(answer.case.parent.name)
    said = header(sql)

    assert said.columns == columns_of(answer.result)
    assert said.parameters == parameters_used(sql)


def run(case: Path) -> duckdb.DuckDBPyRelation:
    """Run a saved query over the tables of a case, typed as the project declares them."""
    con = duckdb.connect()
    sql = find_query(case.parent.name)
    for name in sorted(header(sql).reads):
        if name not in shown(con):
            provide(con, case, name)
    params = json.loads((case / "params.json").read_text())
    return con.sql(bare(sql), params=params)


def provide(con: duckdb.DuckDBPyConnection, case: Path, name: str) -> None:
    """Create a table with the rows of the case, or a view; a view's tables may be empty."""
    if name not in SCORES.views:
        fill(con, case, name)
        return
    for read in sorted(header(find_query(name)).reads):
        if read in shown(con):
            continue
        if read in SCORES.views or (case / f"{read}.jsonl").exists():
            provide(con, case, read)
        else:
            con.execute(view_sql(TABLES[read], None))
    con.execute(f"CREATE VIEW {name} AS {find_query(name)}")


def shown(con: duckdb.DuckDBPyConnection) -> set[str]:
    """Return the names of the tables and views that there are."""
    return {name for (name,) in con.sql("SELECT table_name FROM duckdb_columns()").fetchall()}


def fill(con: duckdb.DuckDBPyConnection, case: Path, name: str) -> None:
    """Create a table with the rows of its file; what a row leaves out is NULL."""
    table = TABLES[{**DEDUPLICATED, COUNTED: "verdicts"}.get(name, name)]
    types = ", ".join(f"{c.name}: '{duckdb_type(c.type)}'" for c in table.columns)
    rows = f"read_json('{case / name}.jsonl', columns = {{{types}}})"
    con.execute(f"CREATE TABLE {name} AS FROM {rows}")
