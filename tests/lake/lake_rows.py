"""Rows of the raw tables for tests of the lake's maintenance, and a lake that holds them."""

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from tracegrade_lake import RAW_SPANS, Lake, Table

LONG_AGO = datetime.now(UTC).date() - timedelta(days=300)
DAY_NS = 24 * 3600 * 10**9


def today() -> date:
    """Return the date of now, which a run of the suite may outlive."""
    return datetime.now(UTC).date()


def span(number: int, seq: int, **fields: Any) -> dict[str, Any]:
    """Return a span that came with the request `seq`; equal numbers are equal spans."""
    return {
        "trace_id": f"{number % 7:032x}",
        "span_id": f"{number:016x}",
        "name": f"span {number}",
        "start_ns": number,
        "attributes": [("number", str(number)), ("text", "x" * (number % 50))],
        "events": [],
        "collector_id": "c1",
        "wal_seq": seq,
        "received_ns": seq * 1000,
        "content_hash": hashlib.md5(str(number).encode()).hexdigest(),  # noqa: S324 - no secret
        "resent": False,
        "date": LONG_AGO,
        **fields,
    }


def log_record(number: int, seq: int, **fields: Any) -> dict[str, Any]:
    """Return a log record without ids, as `span`."""
    return {
        "time_ns": number,
        "body": f"log {number}",
        "collector_id": "c1",
        "wal_seq": seq,
        "received_ns": seq * 1000,
        "content_hash": hashlib.md5(str(number).encode()).hexdigest(),  # noqa: S324 - no secret
        "resent": False,
        "date": LONG_AGO,
        **fields,
    }


def land(lake: Lake, rows: Iterable[Mapping[str, Any]], table: Table = RAW_SPANS) -> None:
    """Commit rows of one collector as its lander would: a file per date, named for its first."""
    rows = list(rows)
    collector = rows[0]["collector_id"]
    seqs = [row["wal_seq"] for row in rows]
    made = pa.Table.from_pylist(rows, schema=table.arrow())
    staged = lake.stage(table, made, f"{collector}-{min(seqs):020d}")
    signal = "traces" if table is RAW_SPANS else "logs"
    assert lake.add_files(table, staged, f"{collector}/{signal}", max(seqs))


def read(lake: Lake, table: Table = RAW_SPANS) -> list[dict[str, Any]]:
    """Return all rows of the table, as DuckDB reads its live files, in no order."""
    files = lake.files(table.name)
    if not files:
        return []
    query = "SELECT * FROM read_parquet($files, union_by_name = true)"
    with duckdb.connect() as con:
        rows: list[dict[str, Any]] = (
            con.sql(query, params={"files": files}).to_arrow_table().to_pylist()
        )
    return rows


def numbers(lake: Lake, *, with_resent: bool = True) -> list[int]:
    """Return the numbers of the spans in the table, sorted."""
    rows = read(lake)
    return sorted(int(row["span_id"], 16) for row in rows if with_resent or not row["resent"])


def make_old(lake: Lake, days: float, table: Table = RAW_SPANS) -> None:
    """Let all files of a table look as if written so many days ago."""
    then = time.time() - timedelta(days=days).total_seconds()
    for file in (lake.root / table.name).rglob("*.parquet"):
        os.utime(file, (then, then))


def age_log(lake: Lake, days: float, table: str = RAW_SPANS.name) -> None:
    """Let every removal in the log of a table, or with `*` of all, have been so many days ago."""
    for entry in lake.root.glob(f"{table}/_delta_log/*.json"):
        lines = [json.loads(line) for line in entry.read_bytes().splitlines()]
        for removal in [line["remove"] for line in lines if "remove" in line]:
            removal["deletionTimestamp"] -= int(days * 24 * 3600 * 1000)
        entry.write_text("".join(json.dumps(line) + "\n" for line in lines))


def live_names(lake: Lake, table: Table = RAW_SPANS) -> list[str]:
    """Return the names of the table's live files, sorted."""
    return sorted(Path(file).name for file in lake.files(table.name))


def silent(text: str) -> None:
    """Take a line of progress."""
