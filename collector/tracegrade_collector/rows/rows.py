"""Requests as received → rows of `raw_spans` and `raw_logs`; nothing of a span is lost.

All spans of many requests are converted at once. `wire.py` reads the bytes, `item_columns.py`
makes the columns, and this module joins them with the parts that spans share (resource, scope,
record). Bytes in a form that only protobuf reads correctly go through `row_loop.py`. `messages.py`
is the way back.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from tracegrade_collector.encoding.otlp import Encoding, Signal, decode
from tracegrade_collector.errors import MalformedRequest
from tracegrade_collector.rows import row_loop
from tracegrade_collector.rows.attributes import Duplicate
from tracegrade_collector.rows.content_hash import HASH_BYTES, content_hashes, shared_seed
from tracegrade_collector.rows.item_columns import ItemColumns, log_columns, span_columns
from tracegrade_collector.rows.memory import give_back
from tracegrade_collector.rows.pieces import pieces
from tracegrade_collector.rows.shortening import Shorten, shortened
from tracegrade_collector.rows.sources import Record, Shared, record_columns, shared_columns
from tracegrade_collector.rows.wire import (
    NonCanonicalBytes,
    ScopeBlock,
    SharedBytes,
    item_columns,
    scope_blocks,
)
from tracegrade_lake.columns import Table
from tracegrade_lake.schema import RAW_LOGS, RAW_SPANS

__all__ = ["Record", "log_rows", "span_rows"]

BATCH_BYTES = 16 << 20
"""Bytes of requests that become columns at once: enough to share the cost of a call (5 ms), and
few enough for Arrow's offsets (2 GiB) and the memory of intermediate steps."""


class _Rows(NamedTuple):
    table: Table
    columns: Callable[[pa.RecordBatch], ItemColumns]
    by_loop: Callable[[Iterable[Record], str], pa.Table]


_ROWS: Final = {
    Signal.TRACES: _Rows(RAW_SPANS, span_columns, row_loop.span_rows),
    Signal.LOGS: _Rows(RAW_LOGS, log_columns, row_loop.log_rows),
}


def span_rows(
    records: Iterable[Record], collector_id: str, shorten: Shorten | None = None
) -> pa.Table:
    """Return one row of `raw_spans` per valid span, in the order received.

    Args:
        records: A protobuf body must be one that `otlp.decode` accepts.
        collector_id: Who received them.
        shorten: Cuts values of more than `LONG_BYTES` before they are made columns.

    Raises:
        MalformedRequest: A record is not a request of spans.
    """
    return _rows(records, Signal.TRACES, collector_id, shorten)


def log_rows(
    records: Iterable[Record], collector_id: str, shorten: Shorten | None = None
) -> pa.Table:
    """Return one row of `raw_logs` per valid log record, in the order received.

    Args:
        records: A protobuf body must be one that `otlp.decode` accepts.
        collector_id: Who received them.
        shorten: Cuts values of more than `LONG_BYTES` before they are made columns.

    Raises:
        MalformedRequest: A record is not a request of logs.
    """
    return _rows(records, Signal.LOGS, collector_id, shorten)


def _rows(
    records: Iterable[Record], signal: Signal, collector_id: str, shorten: Shorten | None
) -> pa.Table:
    empty = _ROWS[signal].table.arrow().empty_table()
    protobuf = (as_protobuf(record, signal) for record in records)
    batches = pieces(protobuf, lambda each: (each.body, each.encoding), BATCH_BYTES)
    return pa.concat_tables(
        [empty, *(_batch_rows(batch, signal, collector_id, shorten) for batch in batches)]
    )


def as_protobuf(record: Record, signal: Signal) -> Record:
    """Return a request as protobuf that `otlp.decode` accepts at once.

    Raises:
        MalformedRequest: It is not a request of this signal.
    """
    if record.signal is not signal:
        msg = f"record {record.seq} holds {record.signal}, wanted {signal}"
        raise MalformedRequest(msg)
    if record.encoding is Encoding.PROTOBUF and not record.is_repaired:
        return record
    body = decode(record.body, signal, record.encoding).SerializeToString(deterministic=True)
    return record._replace(encoding=Encoding.PROTOBUF, body=body)


def _batch_rows(
    batch: list[Record], signal: Signal, collector_id: str, shorten: Shorten | None
) -> pa.Table:
    """Return the rows of some requests; an unusual one among them is found by halving."""
    try:
        return _RequestBatch(batch, signal, shorten).rows(collector_id)
    except NonCanonicalBytes:
        if len(batch) == 1:
            (record,) = batch
            short = record._replace(body=_short(record.body, signal, shorten))
            return _ROWS[signal].by_loop([short], collector_id)
        middle = len(batch) // 2
        halves = (batch[:middle], batch[middle:])
        return pa.concat_tables(
            _batch_rows(half, signal, collector_id, shorten) for half in halves
        )


def _short(body: bytes, signal: Signal, shorten: Shorten | None) -> bytes:
    short = shortened(body, signal, shorten) if shorten else body
    if short is not body:
        give_back()  # size of the long value in its rows
    return short


class _RequestBatch:
    """Some requests taken apart: their items, and what each of these shares with others."""

    def __init__(self, records: Sequence[Record], signal: Signal, shorten: Shorten | None) -> None:
        self._records = records
        self._bodies: list[bytes] = []
        self._signal = signal
        self._digests: list[bytes] = []
        self._places: dict[SharedBytes, int] = {}
        self._seeds: list[int] = []
        self._ends: list[int] = []
        self._shared: list[int] = []
        self._record: list[int] = []
        for index, record in enumerate(records):
            self._bodies.append(_short(record.body, signal, shorten))
            sent = scope_blocks(record.body, signal)
            short = (
                sent if self._bodies[-1] is record.body else scope_blocks(self._bodies[-1], signal)
            )
            for block in sent:
                shared = block.shared if short is sent else next(short).shared
                if block.items:
                    self._add(index, block, shared)

    def _add(self, record: int, block: ScopeBlock, shared: SharedBytes) -> None:
        """Add the items of a scope with this shared content, which may be shortened."""
        position = self._places.setdefault(shared, len(self._places))
        if position == len(self._seeds):
            self._seeds.append(shared_seed(*block.shared))
        self._digests += content_hashes(block.items, self._seeds[position])
        self._ends.append(len(self._digests))
        self._shared.append(position)
        self._record.append(record)

    def rows(self, collector_id: str) -> pa.Table:
        """Return one row per valid item."""
        declared, item_columns_of, _ = _ROWS[self._signal]
        own = item_columns_of(item_columns(self._bodies, self._signal))
        count = len(self._digests)
        shared_of, record_of = self._per_item(self._shared), self._per_item(self._record)
        shared, shared_duplicates = shared_columns([_shared(each) for each in self._places])
        record = record_columns(self._records, collector_id)
        duplicates = _with_shared(own.duplicates, shared_duplicates, shared_of)
        oversize = {at: list(each.items()) for at, each in own.oversize.items()}
        columns = own.columns | {
            **{name: column.take(shared_of) for name, column in shared.items()},
            **{name: column.take(record_of) for name, column in record.items()},
            "duplicate_attributes": _sparse(duplicates, count),
            "oversize": _sparse(oversize, count),
            "content_hash": _hex_texts(self._digests),
            "resent": pa.repeat(pa.scalar(False), count),
            "redacted": None,
        }
        return _table(declared, columns, own.is_valid)

    def _per_item(self, per_block: list[int]) -> pa.Int32Array:
        ends = pa.array(self._ends, pa.int32())
        runs = pa.RunEndEncodedArray.from_arrays(ends, pa.array(per_block, pa.int32()))
        return pc.run_end_decode(runs)


def _shared(found: SharedBytes) -> Shared:
    resource = None if found.resource is None else Resource.FromString(found.resource)
    scope = None if found.scope is None else InstrumentationScope.FromString(found.scope)
    return Shared(resource, found.resource_url, scope, found.scope_url)


def _with_shared(
    own: dict[int, list[Duplicate]], shared: list[list[Duplicate]], shared_of: pa.Int32Array
) -> dict[int, list[Duplicate]]:
    """Return the later entries of equal keys, those in resource and scope after an item's own."""
    if not any(shared):
        return own
    places = shared_of.to_pylist()
    every = {at: own.get(at, []) + shared[position] for at, position in enumerate(places)}
    return {at: found for at, found in every.items() if found}


def _sparse(found: dict[int, Any], count: int) -> list[Any] | None:
    return [found.get(at) for at in range(count)] if found else None


def _hex_texts(digests: Sequence[bytes]) -> pa.StringArray:
    size = 2 * HASH_BYTES
    offsets = pa.arange(0, size * (len(digests) + 1), size).cast(pa.int32())
    digits = b"".join(digests).hex().encode()
    return pa.StringArray.from_buffers(len(digests), offsets.buffers()[1], pa.py_buffer(digits))


def _table(declared: Table, columns: dict[str, Any], is_valid: pa.BooleanArray) -> pa.Table:
    schema = declared.arrow()
    arrays = [_column(columns[field.name], field.type, len(is_valid)) for field in schema]
    rows = pa.table(arrays, schema=schema)
    return rows if pc.all(is_valid).as_py() is not False else rows.filter(is_valid)


def _column(values: Any, type_: pa.DataType, count: int) -> pa.Array:
    if values is None:
        return pa.nulls(count, type_)
    return values.cast(type_) if isinstance(values, pa.Array) else pa.array(values, type_)
