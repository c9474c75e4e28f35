"""A notebook reads lakes of both kinds as DuckDB, as Polars, and through saved queries."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pytest
from tests.headers import header, parameters_used
from tests.lake.stores import BUCKET, put_environment
from tests.scoring.build import specification
from tests.slow import slow_after

import tracegrade_queries as tg
from tracegrade_harness.lake import write
from tracegrade_lake import Lake
from tracegrade_lake.errors import LakeMissing
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.layers import find_query, saved
from tracegrade_queries.errors import QueryFailed, TableMissing, UnknownQuery
from tracegrade_queries.schema import STEPS
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.schema import TRAJECTORY_SCORES

from .traces import agent, capture, captures, land, request_of, tool

PAGE = Path(tg.__file__).parents[2] / "docs" / "guides" / "query.md"

VALUES = {
    "base": "1",
    "candidate": "2",
    "ms": 1,
    "rows": 3,
    "times": 1,
    "trajectory": "",
    "turns": 1,
}
"""A value for each parameter of a saved query."""


def filled(lake: Lake) -> str:
    """Build a lake of two calls, one of them failed; return its path."""
    spans = [agent(1), tool(2, 1, at=1), tool(3, 1, at=2, error="down")]
    land(lake, request_of(spans), request_of(spans[:1]))
    build(lake)
    return str(lake.location)


@pytest.fixture(scope="module")
def in_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a lake that holds two calls."""
    return filled(Lake.create(tmp_path_factory.mktemp("notebook") / "lake"))


@pytest.fixture(scope="module", params=slow_after(1, ["in_folder", "object store"]))
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Where a lake is that holds two calls."""
    if request.param == "in_folder":
        yield request.getfixturevalue(request.param)
        return
    folder = tmp_path_factory.mktemp("notebook")
    with pytest.MonkeyPatch.context() as patch:
        put_environment(request.getfixturevalue("server"), patch.setenv)
        patch.setenv("TRACEGRADE_STATE", str(folder / "state"))
        yield filled(Lake.create(f"s3://{BUCKET}/notebook"))


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake of some real traces that was scored without tasks, and into which a suite ran."""
    lake = Lake.create(tmp_path_factory.mktemp("scored") / "lake")
    land(lake, *(capture(name) for name in captures() if name.startswith("langgraph_otel")))
    score(lake, specification("tasks: {}"))
    write(lake, "run", "suite", [])
    return lake


def test_both_engines_read_the_same_rows(place: str) -> None:
    """As a folder and as a URL; spans without what was sent twice."""
    with tg.connect(place) as con:
        calls = con.sql("SELECT tool_name, status FROM steps WHERE kind = 'tool_call'").fetchall()
        spans = con.sql("SELECT count(*) FROM spans").fetchall()

    frame = tg.scan(place, "steps").filter(pl.col("kind") == "tool_call")
    assert sorted(calls) == [("t", "error"), ("t", "ok")]
    assert sorted(frame.select("tool_name", "status").collect().rows()) == sorted(calls)
    assert tg.scan(place, "spans").select(pl.len()).collect().rows() == spans


def test_a_saved_query_answers_with_its_values(place: str) -> None:
    """Its answer is a relation, to be read as a data frame or asked on."""
    with tg.connect(place) as con:
        answer = tg.ask(con, "repeated_calls", times=1)

        assert answer.columns == [name for name, _ in header(find_query("repeated_calls")).columns]
        assert tg.ask(con, "tool_error_rates").project("calls, errors").fetchall() == [(2, 1)]


def test_example_of_the_guide_needs_what_is_installed(
    in_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs as written, with what the extra `all` brings: there is no pandas here."""
    monkeypatch.chdir(Path(in_folder).parent)
    examples = re.findall(
        r"^```python\n(.+?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    (example,) = [each for each in examples if "tg.connect(" in each]
    found: dict[str, object] = {}
    exec(example, found)  # noqa: S102 - our own text

    assert isinstance(found["con"], duckdb.DuckDBPyConnection)
    found["con"].close()


def test_what_cannot_be_asked_is_told(place: str) -> None:
    """A query, a value or a table that is not there; scores of a lake that has none."""
    with tg.connect(place) as con:
        with pytest.raises(UnknownQuery, match="no query is named 'nothing'"):
            tg.ask(con, "nothing")
        with pytest.raises(UnknownQuery, match="did you mean 'repeated_calls'"):
            tg.ask(con, "repeated_cals")
        needed = r"needs a value for \$times; write ask\(con, 'repeated_calls', times=\.\.\.\)"
        with pytest.raises(QueryFailed, match=needed):
            tg.ask(con, "repeated_calls")
        with pytest.raises(QueryFailed, match=r"has no \$turns; leave it out"):
            tg.ask(con, "repeated_calls", times=1, turns=2)
        with pytest.raises(QueryFailed, match="takes no values"):
            tg.ask(con, "tool_error_rates", turns=2)
        with pytest.raises(
            QueryFailed, match="no run of it was scored yet; run `tracegrade score"
        ):
            tg.ask(con, "worst_tasks")
    known = "agents, built_files, built_traces, logs, priced_dates, raw_logs"
    with pytest.raises(TableMissing, match=f"the lake has no table 'decisions'; known: {known}"):
        tg.scan(place, "decisions")


def test_nothing_in_a_lake_can_be_changed(place: str) -> None:
    """A view is not a table, and files outside the lake cannot be written."""
    with tg.connect(place) as con:
        with pytest.raises(duckdb.Error):
            con.execute("DELETE FROM steps")
        with pytest.raises(duckdb.Error):
            con.execute("COPY (SELECT 1) TO 'x.parquet'")


def test_a_lake_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Neither engine makes one."""
    with pytest.raises(LakeMissing):
        tg.connect(tmp_path / "none")
    with pytest.raises(LakeMissing):
        tg.scan(tmp_path / "none", "steps")


def test_a_table_that_is_not_built_yet_has_its_columns(lake: Lake) -> None:
    """It has no rows."""
    frame = tg.scan(lake, "steps").collect()

    assert (frame.columns, frame.height) == (STEPS.arrow().names, 0)


def test_each_saved_query_can_be_asked_of_a_scored_lake(scored: Lake) -> None:
    """The tables that are written have what it reads; those without rows are there as well."""
    with tg.connect(scored) as con:
        for name in saved():
            needed = {each.removeprefix("$") for each in parameters_used(find_query(name))}
            answer = tg.ask(con, name, **{each: VALUES[each] for each in needed})

            assert answer.columns == [column for column, _ in header(find_query(name)).columns], (
                name
            )
            answer.fetchall()


def test_scores_are_scanned_too(scored: Lake) -> None:
    """Each is a struct."""
    frame = tg.scan(scored, TRAJECTORY_SCORES.name).collect()

    assert frame.height > 0
    assert set(frame["success"].struct.field("status")) <= {"scored", "not_applicable", "error"}


IN_JUPYTER = """
import sys, types

shell = types.ModuleType("IPython")
shell.get_ipython = lambda: types.SimpleNamespace(config={"IPKernelApp": {}})
sys.modules["IPython"], sys.modules["ipywidgets"] = shell, None

import tracegrade_queries as tg

con = tg.connect(sys.argv[1])
print(con.sql("SELECT count(*) AS steps, current_setting('enable_progress_bar') FROM steps")
      .fetchall())
"""
"""What the engine takes for a notebook: no file is run, and IPython says that it is one."""


def test_a_notebook_without_widgets_opens_a_lake(in_folder: str) -> None:
    """The engine does not allow switching off a progress bar that it could not draw."""
    done = subprocess.run(
        [sys.executable, "-c", IN_JUPYTER, in_folder], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[(2, False)]\n"
