"""Rows that landed before are marked; no other row is."""

import io
from hashlib import blake2b

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracegrade_collector.land import landed_rows
from tracegrade_collector.land.landed_rows import LandedRows


def hashed(*numbers: int) -> list[str]:
    """Return a content hash for each number."""
    return [blake2b(b"%d" % number, digest_size=16).hexdigest() for number in numbers]


def rows(hashes: list[str], seq: int = 1) -> pa.Table:
    """Return rows of one request with these hashes."""
    count = len(hashes)
    return pa.table(
        {
            "content_hash": pa.array(hashes, pa.string()),
            "wal_seq": pa.repeat(pa.scalar(seq), count),
            "resent": pa.repeat(pa.scalar(False), count),
        }
    )


@given(st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=8))
def test_a_span_is_resent_if_an_equal_one_stands_before_it(batches: list[list[int]]) -> None:
    """In an earlier batch, or earlier in its own."""
    landed = LandedRows(1000, landed_rows.row_positions)
    seen: set[int] = set()

    for batch in batches:
        found = landed.mark(rows(hashed(*batch)))["resent"].to_pylist()
        expected = [number in seen or number in batch[:at] for at, number in enumerate(batch)]
        assert found == expected
        seen.update(batch)


def test_equal_log_records_of_one_request_are_two_events() -> None:
    """In another request they are one that was sent again."""
    landed = LandedRows(1000, landed_rows.row_requests)
    twice = pa.concat_tables([rows(hashed(1, 1), seq=1), rows(hashed(1), seq=2)])

    assert landed.mark(twice)["resent"].to_pylist() == [False, False, True]


def test_hashes_that_differ_in_one_half_are_two_rows() -> None:
    """All 128 bits count."""
    (known,) = hashed(1)
    landed = LandedRows(1000, landed_rows.row_positions)
    landed.mark(rows([known]))
    others = [known[:16] + "0" * 16, "0" * 16 + known[16:]]

    assert landed.mark(rows([*others, known]))["resent"].to_pylist() == [False, False, True]


@pytest.mark.parametrize("batch_rows", [10, 999, 5000])
def test_the_last_rows_are_remembered_and_no_more(batch_rows: int) -> None:
    """At least as many as asked for, however they came; memory has a limit."""
    landed = LandedRows(10_000, landed_rows.row_positions)
    for start in range(0, 40_000, batch_rows):
        landed.mark(rows(hashed(*range(start, min(start + batch_rows, 40_000)))))

    marked = landed.mark(rows(hashed(*range(40_000))))["resent"].to_pylist()
    assert marked[-10_000:] == [True] * 10_000
    assert not any(marked[:20_000])


def test_a_new_process_recalls_the_newest_files() -> None:
    """It marks what the last one landed."""
    files = [parquet(rows(hashed(*range(start, start + 10)))) for start in (20, 10, 0)]
    landed = LandedRows(20, landed_rows.row_positions)
    landed.recall(files)

    marked = landed.mark(rows(hashed(*range(5, 35))))["resent"].to_pylist()
    assert marked == [False] * 5 + [True] * 20 + [False] * 5


def parquet(table: pa.Table) -> pq.ParquetFile:
    """Return a table as a Parquet file in memory."""
    file = io.BytesIO()
    pq.write_table(table, file)
    return pq.ParquetFile(file)
