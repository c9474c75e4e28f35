"""Exports the lake's spans and log records as OTLP: JSON lines, or requests to an endpoint.

An item that a client sent twice is exported once. Entries with equal keys return to their original
positions, and items with such keys are counted. So an export differs from the received data only
where a value was redacted: the attribute `tracegrade.collector.redacted` of an item lists these.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_collector.encoding.otlp import ExportRequest, Signal
from tracegrade_collector.encoding.otlp_http import OtlpHttp
from tracegrade_collector.encoding.otlp_json import write_json
from tracegrade_collector.rows.otlp_messages import TableRow, log_request, span_request
from tracegrade_lake import RAW_LOGS, RAW_SPANS, Lake, Table
from tracegrade_lake.errors import LakeDamaged

REQUEST_ROWS = 1000
"""Rows per request: what a batch exporter sends, twice over."""

REQUEST_BYTES = 8 << 20
"""Bytes of rows in one request, unless a single row is larger. Receivers take 20 MiB and more, and
an import takes lines of 64 MiB; a character of JSON takes up to six bytes.
"""

TABLES: dict[Signal, Table] = {Signal.TRACES: RAW_SPANS, Signal.LOGS: RAW_LOGS}


@dataclass(frozen=True)
class Exported:
    """Counts of an export."""

    items: int
    """Spans, or log records."""

    with_repeated_keys: int
    """Items that had a key twice in one list."""

    redacted: int
    """Items that differ from the received ones, and list the differences."""


def export_json(lake: Lake, signal: Signal, trace_id: str | None, out: TextIO) -> Exported:
    """Write requests as OTLP/JSON, one per line, in the order received.

    Raises:
        LakeDamaged: A file of the lake cannot be read.
    """
    counts: Counter[str] = Counter()
    for rows in raw_rows(lake, signal, trace_id):
        json.dump(write_json(_request(signal, rows)), out, ensure_ascii=False)
        out.write("\n")
        counts += _counts(rows)
    return Exported(counts["items"], counts["with_repeated_keys"], counts["redacted"])


def export_http(lake: Lake, signal: Signal, trace_id: str | None, endpoint: OtlpHttp) -> Exported:
    """Send requests as OTLP/HTTP protobuf, in the order received.

    Raises:
        EndpointFailed: The endpoint refused, or could not be reached often enough.
        LakeDamaged: A file of the lake cannot be read.
    """
    counts: Counter[str] = Counter()
    for rows in raw_rows(lake, signal, trace_id):
        endpoint.send(signal, _request(signal, rows))
        counts += _counts(rows)
    return Exported(counts["items"], counts["with_repeated_keys"], counts["redacted"])


def raw_rows(lake: Lake, signal: Signal, trace_id: str | None) -> Iterator[list[TableRow]]:
    """Yield rows that no client sent before, a request's worth at a time.

    Raises:
        LakeDamaged: A file of the lake cannot be read.
    """
    name = TABLES[signal].name
    for live in lake.live_files(name):
        file = lake.open_parquet(name, live.path)
        try:
            for batch in file.iter_batches(REQUEST_ROWS):
                for rows in _fitting(_selected(batch, trace_id)):
                    yield rows.to_pylist()
        except (OSError, KeyError, pa.ArrowException) as error:
            msg = f"{live.path} of {name} cannot be read: {error}"
            raise LakeDamaged(msg) from error


def _selected(batch: pa.RecordBatch, trace_id: str | None) -> pa.RecordBatch:
    is_selected = pc.invert(batch["resent"])
    if trace_id is not None:
        is_selected = pc.and_(is_selected, pc.equal(batch["trace_id"], trace_id.lower()))
    return batch.filter(is_selected)


def _fitting(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield rows, if there are any, in pieces that each fit into a request."""
    if rows.num_rows > 1 and rows.nbytes > REQUEST_BYTES:
        middle = rows.num_rows // 2
        yield from _fitting(rows.slice(0, middle))
        yield from _fitting(rows.slice(middle))
    elif rows.num_rows:
        yield rows


def _request(signal: Signal, rows: list[TableRow]) -> ExportRequest:
    """Return rows as a request.

    Raises:
        LakeDamaged: They lack what every span or log record has that was received.
    """
    try:
        return span_request(rows) if signal is Signal.TRACES else log_request(rows)
    except (TypeError, ValueError) as error:
        msg = (
            f"{TABLES[signal].name} holds rows that are not from OTLP; only rows that "
            "`tracegrade collect` or `tracegrade import` wrote can be exported"
        )
        raise LakeDamaged(msg) from error


def _counts(rows: list[TableRow]) -> Counter[str]:
    return Counter(
        items=len(rows),
        with_repeated_keys=sum(row["duplicate_attributes"] is not None for row in rows),
        redacted=sum(row.get("redacted") is not None for row in rows),
    )
