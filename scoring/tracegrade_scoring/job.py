"""`tracegrade score`: brings the score tables up to date with the lake and the task files.

What has been scored is written in the scores themselves (hashes of spans, verdicts and task files)
and `trajectory_scores` is committed last: a run that was cut off is simply repeated. One job at a
time holds the lake's lock.
"""

import datetime
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa

from tracegrade_collector.lake import Lake, Table
from tracegrade_queries.build import build
from tracegrade_queries.connection import connect
from tracegrade_queries.sql import query
from tracegrade_scoring.bucket import STAGED, create_staging, drop_bucket, score_bucket
from tracegrade_scoring.errors import ScoringBusy
from tracegrade_scoring.release import release_scores
from tracegrade_scoring.schema import RELEASE_SCORES, SCORE_TABLES, SCORER_VERSION
from tracegrade_scoring.tasks import Specification

BUCKET_STEPS: Final = 500_000
"""Steps that one bucket aims at."""

LOCK_NAME: Final = "score.lock"


class ScoreSummary(NamedTuple):
    """What one run did."""

    traces: int
    """Traces that were scored, or removed because they are no longer there."""
    trajectories: int
    """Trajectories that were scored."""


def score(
    lake: Lake,
    specification: Specification,
    *,
    full: bool = False,
    bucket_steps: int = BUCKET_STEPS,
) -> ScoreSummary:
    """Build what is new in the lake and score every trajectory that needs it.

    Args:
        lake: The lake to read and write.
        specification: What to score against; an empty one scores what needs no task.
        full: Score every settled trajectory, not just new and changed ones.
        bucket_steps: Steps to hold in memory at a time, about; changes no score.

    Raises:
        ScoringBusy: Another job is scoring this lake.
    """
    with _alone(lake):
        _drop_outdated(lake)
        build(lake, full=full)
        with connect(lake, tables=SCORE_TABLES) as con:
            _find_traces(con, specification, full=full)
            create_staging(con)
            traces = _count(con, "traces_to_score")
            if traces:
                _score_buckets(con, specification, bucket_steps)
                _write(lake, con)
            return ScoreSummary(traces, _count(con, "new_trajectory_scores"))


@contextmanager
def _alone(lake: Lake) -> Iterator[None]:
    """Hold the lake's lock for scoring; it ends with the process."""
    descriptor = os.open(lake.state / LOCK_NAME, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        msg = f"another job is scoring the lake at {lake.place}; wait until it has ended"
        raise ScoringBusy(msg) from error
    finally:
        os.close(descriptor)


def _drop_outdated(lake: Lake) -> None:
    """Remove score tables that have other columns than declared: they are written anew."""
    for table in SCORE_TABLES:
        if lake.columns(table.name) not in (None, table.arrow().names):
            lake.drop(table.name)


def _find_traces(
    con: duckdb.DuckDBPyConnection, specification: Specification, *, full: bool
) -> None:
    """Create `traces_to_score` (trace_id, date, steps, input_hash)."""
    parameters = {
        "everything": full,
        "scorer_version": SCORER_VERSION,
        "specification_hash": specification.hash,
    }
    con.execute(f"CREATE TEMP TABLE traces_to_score AS {query('unscored_traces')}", parameters)


def _score_buckets(
    con: duckdb.DuckDBPyConnection, specification: Specification, bucket_steps: int
) -> None:
    steps = con.sql("SELECT coalesce(sum(steps), 0)::BIGINT FROM traces_to_score").fetchall()[0][0]
    buckets = 1 + int(steps) // bucket_steps
    for bucket in range(buckets):
        con.execute(
            "CREATE OR REPLACE TEMP TABLE bucket_traces AS SELECT trace_id FROM traces_to_score "
            "WHERE date IS NOT NULL AND hash(trace_id) % $buckets = $bucket",
            {"buckets": buckets, "bucket": bucket},
        )
        score_bucket(con, specification)
    drop_bucket(con)


def _write(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    """Write the new rows; the scores of trajectories last, since they say what is done."""
    *evidence, scores = STAGED
    rows = release_scores(con)
    for table in evidence:
        _replace_traces(lake, con, table)
    lake.replace(RELEASE_SCORES, rows)
    _replace_traces(lake, con, scores)


def _replace_traces(lake: Lake, con: duckdb.DuckDBPyConnection, table: Table) -> None:
    """Replace the rows of the scored traces; dates that hold older ones are rewritten."""
    dates = _dates(con, f"SELECT DISTINCT date FROM {table.name} WHERE {_OF_TRACES}")
    for date in dates:
        kept = f"SELECT * FROM {table.name} WHERE date = $date AND NOT {_OF_TRACES}"
        rows = f"{kept} UNION ALL BY NAME SELECT * FROM new_{table.name} WHERE date = $date"
        lake.replace_dates(table, _rows(con, table, rows, date=date), [str(date)])
    for date in _dates(con, f"SELECT DISTINCT date FROM new_{table.name}"):
        if date not in dates:
            rows = f"SELECT * FROM new_{table.name} WHERE date = $date"
            lake.append(table, _rows(con, table, rows, date=date))
    if lake.version(table.name) is None:
        lake.append(table, table.arrow().empty_table())


_OF_TRACES: Final = "split_part(trajectory_id, '-', 1) IN (SELECT trace_id FROM traces_to_score)"


def _dates(con: duckdb.DuckDBPyConnection, sql: str) -> list[datetime.date]:
    return [date for (date,) in con.sql(f"{sql} ORDER BY date").fetchall()]


def _rows(con: duckdb.DuckDBPyConnection, table: Table, sql: str, **params: object) -> pa.Table:
    rows: pa.Table = con.sql(f"FROM ({sql}) ORDER BY ALL", params=params).to_arrow_table()
    return rows.select(table.arrow().names).cast(table.arrow())


def _count(con: duckdb.DuckDBPyConnection, table: str) -> int:
    rows: int = con.sql(f"SELECT count(*) FROM {table}").fetchall()[0][0]
    return rows
