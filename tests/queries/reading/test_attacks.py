"""SQL of users reads the lake and does nothing else; the kernel is a second wall behind that."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from tests.commands import tracegrade
from tests.queries.reading.attacks import OTHERS, READS, WRITES
from tests.queries.traces import agent, land, request_of, tool

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect, spill_folder
from tracegrade_queries.engine.layers import find_query, saved
from tracegrade_queries.engine.no_writes import forbid_writes, in_thread, landlock_version
from tracegrade_queries.engine.selects import READING_FUNCTIONS, only_reads
from tracegrade_queries.errors import QueryFailed

NEEDS_LANDLOCK = pytest.mark.skipif(not landlock_version(), reason="the kernel has no Landlock")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with one step, whose files stay as they are."""
    made = Lake.create(tmp_path_factory.mktemp("attacks") / "lake")
    land(made, request_of([agent(1), tool(2, 1, at=1)]))
    build(made)
    return made


@pytest.fixture
def con(lake: Lake) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection as commands have it."""
    with connect(lake) as made:
        yield made


def live(lake: Lake) -> Path:
    """Return a file of the lake that the engine may read."""
    return Path(lake.files("steps")[0])


def written(text: str, lake: Lake) -> str:
    """Return an attack on this lake."""
    return text.replace("{file}", str(live(lake))).replace("{outside}", str(outside(lake)))


def outside(lake: Lake) -> Path:
    """Return a path that is not the lake's."""
    return lake.root.parent / "outside"


def digest(lake: Lake) -> dict[str, str]:
    """Return what all files below the lake's parent hold."""
    files = sorted(each for each in lake.root.parent.rglob("*") if each.is_file())
    return {str(each): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}


@pytest.mark.parametrize("text", [*WRITES, *OTHERS])
def test_what_does_more_than_read_does_not_run(
    lake: Lake, con: duckdb.DuckDBPyConnection, text: str
) -> None:
    """Whatever it is hidden in: EXPLAIN, a part of a SELECT, a function that runs a text."""
    before = digest(lake)
    with pytest.raises((QueryFailed, duckdb.Error)):
        con.sql(only_reads(con, written(text, lake))).fetchall()
    assert digest(lake) == before


@pytest.mark.parametrize("text", WRITES)
def test_what_writes_is_refused_before_the_engine_runs_it(
    lake: Lake, con: duckdb.DuckDBPyConnection, text: str
) -> None:
    """By us, in one line; the engine would not refuse it."""
    with pytest.raises(QueryFailed, match=r"^[^\n]+$"):
        only_reads(con, written(text, lake))


@pytest.mark.parametrize("text", READS)
def test_what_only_reads_runs(lake: Lake, con: duckdb.DuckDBPyConnection, text: str) -> None:
    """In every form of a SELECT, and EXPLAIN of it."""
    assert con.sql(only_reads(con, written(text, lake))).columns


@pytest.mark.parametrize("text", [WRITES[0], WRITES[3], WRITES[7]])
@pytest.mark.parametrize("form", ["table", "parquet"])
def test_the_command_refuses_them(lake: Lake, text: str, form: str) -> None:
    """With exit code 2, and the lake as it was."""
    before = digest(lake)
    ended = tracegrade("sql", written(text, lake), "--lake", lake.root, "--format", form)
    assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (2, "", 1)
    assert digest(lake) == before


def test_a_saved_query_reads(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    """Every one of them passes the same check."""
    before = digest(lake)
    for name in saved():
        assert only_reads(con, find_query(name))
    assert digest(lake) == before


@NEEDS_LANDLOCK
@pytest.mark.parametrize("text", [WRITES[0], WRITES[3], WRITES[7], WRITES[9]])
def test_the_kernel_refuses_what_gets_past_us(lake: Lake, text: str) -> None:
    """Asked without the check, in a thread that may not write; it can still read, and spill."""
    before = digest(lake)

    def attack() -> None:
        assert forbid_writes([spill_folder(lake)])
        with connect(lake) as con, pytest.raises(duckdb.Error, match="Permission denied"):
            con.execute(written(text, lake))

    in_thread(attack)
    assert digest(lake) == before


def test_after_a_query_its_process_still_writes(lake: Lake, tmp_path: Path) -> None:
    """What was forbidden is of the query's threads, and of no pool that others share."""
    assert tracegrade("sql", "FROM steps", "--lake", lake.root, "--format", "csv").returncode == 0
    land(Lake.create(tmp_path / "other"), request_of([agent(1)]))


@NEEDS_LANDLOCK
def test_the_engines_own_threads_may_not_write_either(lake: Lake, tmp_path: Path) -> None:
    """Whoever asks them; a thread that did not forbid it to itself still may."""

    def opened() -> duckdb.DuckDBPyConnection:
        assert forbid_writes([tmp_path / "spill", tmp_path / "missing"])
        return duckdb.connect(config={"threads": 4, "temp_directory": str(tmp_path / "spill")})

    def write(con: duckdb.DuckDBPyConnection) -> None:
        for number in range(100):  # on a busy machine this thread may write all of one by itself
            parts = tmp_path / f"parts{number}"
            con.execute(f"COPY (FROM range(5000000)) TO '{parts}' (PER_THREAD_OUTPUT)")

    (tmp_path / "spill").mkdir()
    with (
        in_thread(opened) as con,
        pytest.raises(duckdb.IOException, match="Permission denied"),
    ):
        write(con)
    (tmp_path / "free").write_text("")


@NEEDS_LANDLOCK
def test_what_does_not_fit_into_memory_is_still_spilled(tmp_path: Path) -> None:
    """Into the one folder that may be written."""
    spill = tmp_path / "spill"
    spill.mkdir()

    def sort() -> int:
        forbid_writes([spill])
        with duckdb.connect(config={"memory_limit": "40MB", "threads": 1}) as con:
            con.execute(f"SET temp_directory = '{spill}'")
            con.execute("CREATE TABLE mixed AS SELECT hash(n) AS h FROM range(10000000) t(n)")
            ((files,),) = con.sql("SELECT count(*) FROM duckdb_temporary_files()").fetchall()
            return int(files)

    assert in_thread(sort) > 0


def test_every_function_that_returns_a_table_was_looked_at() -> None:
    """A new version of the engine may bring more: of each it is decided whether it only reads."""
    with duckdb.connect() as con:
        found = con.sql(
            "SELECT DISTINCT function_name FROM duckdb_functions() "
            "WHERE function_type IN ('table', 'table_macro')"
        ).fetchall()
    telling = ("duckdb_", "pragma_")
    others = {name for (name,) in found if not name.startswith(telling)} - READING_FUNCTIONS
    assert others <= ACTING


ACTING = {
    "add_grammar_extension", "arrow_scan", "arrow_scan_dumb", "checkpoint",
    "create_external_resource", "deregister_external_resource",
    "destroy_external_resource", "disable_logging", "disable_profiling",
    "enable_logging", "enable_profiling", "force_checkpoint",
    "json_execute_serialized_sql", "pandas_scan", "python_arrow_scan",
    "python_map_function", "query", "read_duckdb", "read_single_csv_file",
    "read_single_json_file", "read_single_parquet_file", "register_external_resource",
    "register_external_resource_type", "remove_grammar_extension", "seq_scan",
    "test_all_types", "test_vector_types", "truncate_duckdb_logs", "which_secret",
}  # fmt: skip
