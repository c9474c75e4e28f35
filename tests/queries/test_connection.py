"""A connection reads one version of the lake, and nothing else of the machine."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tracegrade_lake import RAW_SPANS, VERDICTS, Column, Lake, Table
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.table_views import Found, with_alike_files
from tracegrade_queries.schema import STEPS, TRAJECTORIES

from .traces import agent, land, request_of, tool

ERASURES = 10


@pytest.mark.parametrize(
    "escape",
    [
        "SELECT * FROM read_text('{outside}')",
        "SELECT * FROM read_csv('{outside}')",
        "SELECT * FROM read_text('{lake}/wal/c/1.wal')",
        "SELECT * FROM glob('{lake}/wal/*/*')",
        "COPY (SELECT 1) TO '{outside}'",
        "ATTACH '{outside}.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '1GB'",
    ],
)
def test_nothing_leads_out_of_the_lake(lake: Lake, tmp_path: Path, escape: str) -> None:
    """No file but the tables' is read or written, nothing is installed, no setting changed."""
    outside = tmp_path / "secret.csv"
    outside.write_text("a\n1\n")
    (lake.root / "wal" / "c").mkdir(parents=True)
    (lake.root / "wal" / "c" / "1.wal").write_text("original")

    with connect(lake) as con, pytest.raises(duckdb.Error):
        con.execute(escape.format(outside=outside, lake=lake.root)).fetchall()
    assert outside.read_text() == "a\n1\n"


@pytest.mark.parametrize("table", [RAW_SPANS, STEPS, TRAJECTORIES, VERDICTS])
def test_missing_table_is_empty_and_typed(lake: Lake, table: object) -> None:
    """A lake without a table reads as that table without rows, with its columns."""
    assert isinstance(table, type(STEPS))
    with connect(lake) as con:
        found = con.table(table.name)

        assert found.columns == table.arrow().names
        assert found.fetchall() == []


def test_declared_types_are_the_types_read(lake: Lake) -> None:
    """Built files have the declared columns, read from Parquet as from an empty table."""
    with connect(lake) as con:
        declared = {table.name: con.table(table.name).types for table in (STEPS, TRAJECTORIES)}
    land(lake, request_of([agent(1), tool(2, 1, at=1)]))
    build(lake)

    with connect(lake) as con:
        read = {table.name: con.table(table.name).types for table in (STEPS, TRAJECTORIES)}
    assert read == declared


def test_connection_keeps_reading_its_version(lake: Lake) -> None:
    """Rows that land after connecting are not seen."""
    land(lake, request_of([agent(1)]))
    with connect(lake) as con:
        land(lake, request_of([tool(2, 1)]), seq=2)

        assert con.sql("SELECT count(*) FROM spans").fetchall() == [(1,)]


def test_connection_opens_beside_an_erasure(lake: Lake) -> None:
    """A file that is removed after it was listed has a successor, which is read instead."""
    land(lake, request_of([agent(1)]))
    with connect(lake) as con:
        rows = con.table(RAW_SPANS.name).to_arrow_table().cast(RAW_SPANS.arrow())

    def erase() -> None:
        for _ in range(ERASURES):
            (file,) = lake.files(RAW_SPANS.name)
            lake.replace(RAW_SPANS, rows)
            Path(file).unlink()

    with ThreadPoolExecutor() as pool:
        erasing = pool.submit(erase)
        while not erasing.done():
            connect(lake).close()
        erasing.result()


def test_table_of_an_earlier_version_is_read(lake: Lake) -> None:
    """Columns that its files lack are NULL."""
    land(lake, request_of([agent(1)]))
    with connect(lake) as con:
        row = con.table("raw_spans").to_arrow_table().cast(RAW_SPANS.arrow())
    earlier = Table(RAW_SPANS.name, RAW_SPANS.grain, RAW_SPANS.columns[:-1])
    other = Lake.create(lake.state / "other")
    other.append(earlier, row.drop_columns([RAW_SPANS.columns[-1].name]))

    with connect(other) as con:
        assert con.sql("SELECT span_id, redacted FROM spans").fetchall() == [(f"{1:016x}", None)]


def test_scores_of_an_earlier_version_hide_nothing_else(lake: Lake) -> None:
    """There is no view of them until they are made anew, and all other tables are read."""
    land(lake, request_of([agent(1)]))
    columns = (Column("trajectory_id", pa.string(), ""), Column("tsa", pa.float64(), ""))
    earlier = Table("trajectory_scores", "", columns, partition_by=())
    lake.append(earlier, pa.table({"trajectory_id": ["t1"], "tsa": [1.0]}))

    with connect(lake) as con:
        assert con.sql("SELECT count(*) FROM spans").fetchall() == [(1,)]
        assert con.sql("SELECT tsa FROM trajectory_scores").fetchall() == [(1.0,)]


def test_spans_leave_out_what_was_sent_twice(lake: Lake) -> None:
    """The view `spans` has no row that is marked as resent; `raw_spans` has them all."""
    land(lake, request_of([agent(1)]))
    with connect(lake) as con:
        row = con.table("raw_spans").to_arrow_table()
    flags = row.schema.get_field_index("resent")
    again = row.set_column(flags, RAW_SPANS.arrow().field("resent"), [[True]])
    lake.append(RAW_SPANS, again.cast(RAW_SPANS.arrow()))

    with connect(lake) as con:
        assert con.sql("SELECT count(*) FROM raw_spans").fetchall() == [(2,)]
        assert con.sql("SELECT count(*) FROM spans").fetchall() == [(1,)]


def test_files_with_the_same_columns_are_not_compared_in_each_query(tmp_path: Path) -> None:
    """Those with others are, also if a column is in another place: each value has its column."""
    rows = ([("a", 1), ("b", 2)], [("a", 3), ("b", 4)], [("b", 5), ("a", 6)], [("a", 7), ("c", 8)])
    paths = [str(tmp_path / f"{number}.parquet") for number in range(len(rows))]
    for path, row in zip(paths, rows, strict=True):
        pq.write_table(pa.table({name: [value] for name, value in row}), path)
    tables = {"alike": paths[:2], "turned": paths[:3:2], "others": paths[:4:3], "one": paths[:1]}
    found = {name: Found(f"read_parquet({files}, union_by_name = true)", files, None)
             for name, files in tables.items()}  # fmt: skip
    with duckdb.connect() as con:
        read = with_alike_files(con, found)
        values = {
            name: con.sql(f"SELECT a FROM {table.relation} ORDER BY a").fetchall()
            for name, table in read.items()
        }

    assert {name for name in read if read[name] != found[name]} == {"alike", "one"}
    assert values == {
        "alike": [(1,), (3,)], "turned": [(1,), (6,)], "others": [(1,), (7,)], "one": [(1,)],
    }  # fmt: skip
