"""Compaction, expiry and repair of a lake on an object store: a real S3 server on loopback."""

import hashlib
from pathlib import Path

import pytest

from tracegrade_collector.maintenance.repair import Repaired, repair
from tracegrade_lake import Lake
from tracegrade_lake.maintenance.compaction import Compacted, CompactOptions, compact
from tracegrade_lake.maintenance.expiry import Expired, clean, expire

from .lake_rows import LONG_AGO, land, silent, span, today
from .stores import Fault, Reply, Store

NOW = CompactOptions(min_age_secs=0)


@pytest.fixture
def lake(store: Store, request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    """A lake with three files of a date that is over, and one of today."""
    prefix = hashlib.sha256(request.node.name.encode()).hexdigest()[:12]
    lake = Lake.create(store.url(prefix), tmp_path / "state")
    for seq in (1, 2, 3):
        land(lake, [span(seq * 10, seq), span(1, seq)])
    land(lake, [span(40, 4, date=today())])
    return lake


def numbers(lake: Lake, *, with_resent: bool = True) -> list[int]:
    """Return the numbers of the spans in the live objects, sorted."""
    found = []
    for file in lake.live_files("raw_spans"):
        with lake.open_parquet("raw_spans", file.path) as parquet:
            found += parquet.read(["span_id", "resent"]).to_pylist()
    return sorted(int(row["span_id"], 16) for row in found if with_resent or not row["resent"])


def test_a_date_on_a_store_is_compacted(lake: Lake) -> None:
    """One object instead of three, repeated rows marked; the old ones stay for readers."""
    before = {file.path for file in lake.live_files("raw_spans")}
    done = compact(lake, NOW, silent)

    assert (done.files_before, done.files_after, done.marked_resent) == (3, 1, 2)
    assert numbers(lake) == [1, 1, 1, 10, 20, 30, 40]
    assert numbers(lake, with_resent=False) == [1, 10, 20, 30, 40]
    assert before <= {file.path for file in lake.stored_files("raw_spans")}
    assert compact(lake, NOW, silent) == Compacted()


@pytest.mark.slow
def test_a_lost_answer_compacts_once(lake: Lake, store: Store) -> None:
    """The store committed, but said it had not: the files are there, and the rows once."""
    lost = Fault("PUT", r"_delta_log/\d+\.json", reply=Reply(500, "InternalError"), applied=True)
    store.faults.append(lost)
    compact(lake, NOW, silent)

    assert lost.hits == 1
    assert numbers(lake) == [1, 1, 1, 10, 20, 30, 40]


def test_dates_on_a_store_expire(lake: Lake) -> None:
    """They leave at once; their objects are too young to be removed."""
    done = expire(lake, 30, silent)

    assert (done.dates, done.rows, done.removed_files) == (1, 6, 0)
    assert numbers(lake) == [40]
    assert clean(lake, silent) == Expired()


def test_a_missing_object_leaves_the_table(lake: Lake) -> None:
    """Logs on a store are never torn, but objects can be removed by a hand."""
    assert repair(lake, silent) == Repaired()
    gone = next(file for file in lake.live_files("raw_spans") if file.date == str(LONG_AGO))
    lake.remove_files("raw_spans", [gone.path])

    assert repair(lake, silent) == Repaired(files_missing=1, rows_lost=2)
    assert len(numbers(lake)) == 5
