"""Isolates traces that make scoring fail, so that all others are scored.

A bucket that fails is halved until the trace that makes it fail is alone. That trace gets no
scores and a row of `unscorable_traces`, and is left out until its spans, tasks or the scorer
change. Faults of the disk, the lake or the machine are none of a trace.
"""

from collections.abc import Callable, Iterator
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake import Lake
from tracegrade_lake.errors import LakeError
from tracegrade_lake.tables import is_known, rows_of
from tracegrade_queries.engine.bucket_work import Bucket, Outcome, together
from tracegrade_queries.engine.relations import table
from tracegrade_scoring.errors import SumsTooLarge
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.unscorable import UNSCORABLE_TRACES

FAILED: Final = "failed_traces"
"""Name of an outcome's table of traces that failed alone: `trace_id`, `input_hash`, `reason`."""

MOST_TRACES: Final = 16
"""Of a bucket; more that fail are no fault of traces."""

REASON_CHARS: Final = 300

_FAILED: Final = pa.schema(
    {"trace_id": pa.string(), "input_hash": pa.string(), "reason": pa.string()}
)
_OF_THE_MACHINE: Final = (LakeError, OSError, duckdb.IOException, duckdb.InterruptException)

BucketWork = Callable[[Bucket[Specification]], Outcome]


def without_failing_traces(bucket: Bucket[Specification], work: BucketWork) -> Outcome:
    """Return the outcome of a bucket, less the traces that fail alone.

    Raises:
        Exception: That of the work, if the machine or more than a few traces failed.
    """
    failed: list[tuple[str, str, str]] = []
    too_large: list[tuple[str, str, str]] = []
    outcome = together(_outcomes(bucket, work, failed, too_large))
    rows = table(_FAILED, [*failed, *too_large])
    return outcome._replace(tables={**outcome.tables, FAILED: rows})


def _outcomes(
    bucket: Bucket[Specification],
    work: BucketWork,
    failed: list[tuple[str, str, str]],
    too_large: list[tuple[str, str, str]],
) -> Iterator[Outcome]:
    """Yield the outcomes of the parts of a bucket that can be scored; add what failed.

    Traces that are too large to be added up are found at once and however many there are: their
    sender decides on both.
    """
    try:
        yield work(bucket)
    except _OF_THE_MACHINE:
        raise
    except Exception as error:
        if isinstance(error, SumsTooLarge) and error.traces:
            found = pc.is_in(bucket.traces["trace_id"], value_set=pa.array(error.traces))
            too_large += _rows(bucket.traces.filter(found), error)
            others = bucket.traces.filter(pc.invert(found))
            if len(others):
                yield from _outcomes(bucket._replace(traces=others), work, failed, too_large)
            return
        size = len(bucket.traces)
        if size == 1:
            if len(failed) >= MOST_TRACES:
                raise
            failed += _rows(bucket.traces, error)
            return
        for part in (bucket.traces.slice(0, size // 2), bucket.traces.slice(size // 2)):
            yield from _outcomes(bucket._replace(traces=part), work, failed, too_large)


def _rows(traces: pa.Table, error: Exception) -> list[tuple[str, str, str]]:
    rows = traces.select(["trace_id", "input_hash"]).to_pylist()
    return [(row["trace_id"], row["input_hash"], _reason(error)) for row in rows]


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:REASON_CHARS]


def unscorable_traces(lake: Lake) -> pa.Table:
    """Return the traces that the lake notes as unscorable."""
    if not is_known(lake, UNSCORABLE_TRACES):
        return UNSCORABLE_TRACES.arrow().empty_table()
    return rows_of(lake, UNSCORABLE_TRACES)


def note_unscorable(
    lake: Lake, scored: pa.ChunkedArray, failed: pa.Table | None, scored_with: str
) -> None:
    """Note which traces are unscorable, unless that is what the lake notes.

    Args:
        lake: The lake to write.
        scored: Ids of the traces that a run tried.
        failed: Those of them that failed, as an outcome has them; None if there were no buckets.
        scored_with: What the run scored with.
    """
    before = unscorable_traces(lake)
    stays = pc.and_(
        pc.invert(pc.is_in(before["trace_id"], value_set=scored.combine_chunks())),
        pc.equal(before["scored_with"], scored_with),
    )
    rows = before.filter(stays).to_pylist()
    rows += [{**row, "scored_with": scored_with} for row in failed.to_pylist()] if failed else []
    rows.sort(key=lambda row: row["trace_id"])
    if rows != before.to_pylist():
        lake.replace(UNSCORABLE_TRACES, pa.Table.from_pylist(rows, UNSCORABLE_TRACES.arrow()))
