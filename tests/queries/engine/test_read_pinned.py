"""What reads pinned files begins again on the files of now, if an erasure removed some of them."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from tests.lake.stores import Store
from tests.queries.traces import agent, land, request_of

from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_lake.job_lake import JobLake
from tracegrade_queries.engine.connection import connect_pinned, read_pinned
from tracegrade_queries.engine.pinned import PinnedLake

KEPT = f"{1:032x}"


@pytest.fixture(params=["folder", "store"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    """A lake with two traces in one file, in a folder or on an object store."""
    location = str(tmp_path / "lake")
    if request.param == "store":
        store: Store = request.getfixturevalue("s3_store")
        location = store.url(tmp_path.name)
    made = Lake.create(location, tmp_path / "state")
    land(made, request_of([agent(1, trace=trace) for trace in (1, 2)]))
    return made


@pytest.fixture(params=[lambda lake: lake, JobLake.of], ids=["reader", "job"])
def reader(request: pytest.FixtureRequest, lake: Lake) -> Lake:
    """The same lake for a reader, and for a job that has opened the table before."""
    as_reader: Callable[[Lake], Lake] = request.param
    made = as_reader(Lake(lake.storage, lake.state))
    assert made.opened(RAW_SPANS.name)
    return made


def remove(lake: Lake, *, is_replaced: bool) -> None:
    """Remove the one file as another process does; a new one has its other trace if replaced."""
    lake = Lake.create(lake.location, lake.state)  # shares nothing that a job has read of a store
    (file,) = lake.live_files(RAW_SPANS.name)
    rows = lake.dataset(RAW_SPANS.name)
    assert rows
    left = [row for row in rows.to_table().to_pylist() if row["trace_id"] == KEPT]
    if is_replaced:
        lake.replace(RAW_SPANS, pa.Table.from_pylist(left, RAW_SPANS.arrow()))
    lake.remove_files(RAW_SPANS.name, [file.path])


def traces_after(reader: Lake, disturb: Callable[[], None]) -> list[list[str]]:
    """Return the traces of each try to read pinned files; the first try is disturbed."""
    tries: list[list[str]] = []

    def read(pinned: PinnedLake) -> None:
        tries.append([])
        if len(tries) == 1:
            disturb()
        with connect_pinned(pinned, (RAW_SPANS,)) as con:
            found = con.sql("SELECT trace_id FROM spans ORDER BY ALL").fetchall()
            tries[-1] += [trace_id for (trace_id,) in found]

    read_pinned(reader, [RAW_SPANS.name], read)
    return tries


def test_reading_begins_again_after_an_erasure(lake: Lake, reader: Lake) -> None:
    """Also for a job, which opens each table once: it opens this one afresh."""
    assert traces_after(reader, lambda: remove(lake, is_replaced=True)) == [[], [KEPT]]


def test_a_damaged_table_is_not_read_again_and_again(lake: Lake, reader: Lake) -> None:
    """A file that is missing but belongs to the table is an error."""
    with pytest.raises(duckdb.Error, match=r"\.parquet"):
        traces_after(reader, lambda: remove(lake, is_replaced=False))
