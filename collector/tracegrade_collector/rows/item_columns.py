"""Spans and log records of many requests → their own columns, without a loop over them.

`row_loop.py` does the same for one message after another. Loops here are only for rare cases:
equal keys, and times and ids that their column cannot hold.
"""

from typing import NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_collector.encoding.otlp import (
    NO_SPAN_ID,
    NO_TRACE_ID,
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
)
from tracegrade_collector.rows.attributes import Duplicate
from tracegrade_collector.rows.entries import entry_columns, typed_texts
from tracegrade_collector.rows.wire import owned
from tracegrade_lake.columns import BIGINT, TEXT, list_of
from tracegrade_lake.schema import EVENT, LINK

MAX_BIGINT = pa.scalar(2**63 - 1, pa.uint64())
_HEX_DIGITS = pa.scalar(2, pa.int32())

Oversize: TypeAlias = dict[int, dict[str, str]]
"""Values that their column cannot hold, by item and field."""

Duplicates: TypeAlias = dict[int, list[Duplicate]]
"""The later entries of equal keys, by item."""


class ItemColumns(NamedTuple):
    """Columns of the items' own fields; what few items have stands apart."""

    columns: dict[str, pa.Array]
    duplicates: Duplicates
    oversize: Oversize
    is_valid: pa.BooleanArray
    """Whether `otlp.reject_invalid` leaves the item in."""


def span_columns(spans: pa.RecordBatch) -> ItemColumns:
    """Return the columns of spans as `wire.item_columns` reads them.

    Raises:
        NonCanonicalBytes: A value is set twice.
    """
    own = entry_columns(spans["attributes"], lambda _: "span")
    events, links = _Children("events", spans["events"]), _Children("links", spans["links"])
    start_ns, end_ns = spans["start_time_unix_nano"], spans["end_time_unix_nano"]
    parent_ids = _hex(spans["parent_span_id"])
    status = dict(zip(("message", "code"), map(owned, spans["status"].flatten()), strict=True))
    columns = {
        "trace_id": _hex(spans["trace_id"]),
        "span_id": _hex(spans["span_id"]),
        "parent_span_id": _known(parent_ids, NO_SPAN_ID),
        "start_ns": _bigints(start_ns),
        "end_ns": _bigints(end_ns),
        "status_code": status["code"],
        "status_message": status["message"],
        "attributes": own.attributes,
        "attribute_types": own.types,
        "events": _events(events, own.duplicates),
        "links": _links(links, own.duplicates),
    } | {name: owned(spans[name]) for name in _SAME_IN_SPANS}
    oversize: Oversize = {}
    _note_large(oversize, "start_ns", start_ns)
    _note_large(oversize, "end_ns", end_ns)
    _note_zeros(oversize, "parent_span_id", parent_ids, NO_SPAN_ID)
    _note_large_events(oversize, events)
    return ItemColumns(columns, own.duplicates, oversize, _valid_spans(spans, links))


def log_columns(logs: pa.RecordBatch) -> ItemColumns:
    """Return the columns of log records as `wire.item_columns` reads them.

    Raises:
        NonCanonicalBytes: A value is set twice.
    """
    own = entry_columns(logs["attributes"], lambda _: "log")
    body = typed_texts(logs["body"])
    time_ns, observed_ns = logs["time_unix_nano"], logs["observed_time_unix_nano"]
    trace_ids, span_ids = _hex(logs["trace_id"]), _hex(logs["span_id"])
    columns = {
        "time_ns": _bigints(time_ns),
        "observed_time_ns": _bigints(observed_ns),
        "body": body.texts,
        "body_type": _body_types(logs["body"], body.letters),
        "attributes": own.attributes,
        "attribute_types": own.types,
        "trace_id": _known(trace_ids, NO_TRACE_ID),
        "span_id": _known(span_ids, NO_SPAN_ID),
    } | {name: owned(logs[name]) for name in _SAME_IN_LOGS}
    oversize: Oversize = {}
    _note_large(oversize, "time_ns", time_ns)
    _note_large(oversize, "observed_time_ns", observed_ns)
    _note_zeros(oversize, "trace_id", trace_ids, NO_TRACE_ID)
    _note_zeros(oversize, "span_id", span_ids, NO_SPAN_ID)
    return ItemColumns(columns, own.duplicates, oversize, _may_be_ids(logs))


class _Children:
    """The events, or links, of all spans."""

    def __init__(self, name: str, lists: pa.ListArray) -> None:
        self.offsets, self.values = lists.offsets, lists.values
        self._name = name
        self.owners = pc.list_parent_indices(lists)
        self._starts = self.offsets.take(self.owners)

    def __getitem__(self, field: str) -> pa.Array:
        """Return one field of all of them."""
        return self.values.field(field)

    def owner(self, index: int) -> int:
        """Return which span the child belongs to."""
        return int(self.owners[index].as_py())

    def item_name(self, index: int) -> str:
        """Return the child's name within its span, `events[0]`."""
        return f"{self._name}[{index - self._starts[index].as_py()}]"

    def column(self, columns: dict[str, pa.Array], item: pa.StructType) -> pa.ListArray:
        """Return one list of structs per span, made of the structs' columns."""
        columns |= {name: owned(self[name]) for name in item.names if name not in columns}
        arrays = [columns[field.name].cast(field.type) for field in item]
        structs = pa.StructArray.from_arrays(arrays, fields=list(item))
        return pa.ListArray.from_arrays(owned(self.offsets), structs, type=list_of(item))


def _events(events: _Children, duplicates: Duplicates) -> pa.ListArray:
    own = entry_columns(events["attributes"], events.item_name)
    _add_duplicates(duplicates, own.duplicates, events)
    columns = {
        "time_ns": _bigints(events["time_unix_nano"]),
        "attributes": own.attributes,
        "attribute_types": own.types,
    }
    return events.column(columns, EVENT)


def _links(links: _Children, duplicates: Duplicates) -> pa.ListArray:
    own = entry_columns(links["attributes"], links.item_name)
    _add_duplicates(duplicates, own.duplicates, links)
    columns = {
        "trace_id": _hex(links["trace_id"]),
        "span_id": _hex(links["span_id"]),
        "attributes": own.attributes,
        "attribute_types": own.types,
    }
    return links.column(columns, LINK)


def _add_duplicates(duplicates: Duplicates, found: Duplicates, children: _Children) -> None:
    for index, entries in found.items():
        duplicates.setdefault(children.owner(index), []).extend(entries)


def _hex(ids: pa.BinaryArray) -> pa.StringArray:
    """Return each id as lower hex digits."""
    offsets = pc.multiply(_offsets(ids), _HEX_DIGITS)
    digits = memoryview(ids.buffers()[2] or b"").hex().encode()
    return pa.StringArray.from_buffers(len(ids), offsets.buffers()[1], pa.py_buffer(digits))


def _offsets(ids: pa.BinaryArray) -> pa.Int32Array:
    buffer = ids.buffers()[1]
    return pa.Array.from_buffers(pa.int32(), len(ids) + 1, [None, buffer], offset=ids.offset)


def _known(ids: pa.StringArray, zeros: bytes) -> pa.StringArray:
    """Return the ids, NULL for one that is absent or all zeros."""
    none = pc.is_in(ids, value_set=pa.array(["", zeros.hex()], TEXT))
    return pc.if_else(none, pa.scalar(None, TEXT), ids)


def _bigints(times: pa.UInt64Array) -> pa.Int64Array:
    """Return the times, NULL for one that is too large."""
    return pc.if_else(_large(times), pa.scalar(None, pa.uint64()), times).cast(BIGINT)


def _large(times: pa.UInt64Array) -> pa.BooleanArray:
    return pc.greater(times, MAX_BIGINT)


def _note_large(oversize: Oversize, field: str, times: pa.UInt64Array) -> None:
    for index in pc.indices_nonzero(_large(times)).to_pylist():
        oversize.setdefault(index, {})[field] = str(times[index].as_py())


def _note_large_events(oversize: Oversize, events: _Children) -> None:
    times = events["time_unix_nano"]
    for index in pc.indices_nonzero(_large(times)).to_pylist():
        of_span = oversize.setdefault(events.owner(index), {})
        of_span[f"{events.item_name(index)}.time_ns"] = str(times[index].as_py())


def _note_zeros(oversize: Oversize, field: str, ids: pa.StringArray, zeros: bytes) -> None:
    for index in pc.indices_nonzero(pc.equal(ids, zeros.hex())).to_pylist():
        oversize.setdefault(index, {})[field] = zeros.hex()


def _body_types(bodies: pa.StructArray, letters: pa.UInt8Array) -> pa.StringArray:
    """Return the letter of each body as a text; NULL without a body."""
    offsets = pa.arange(0, len(letters) + 1).cast(pa.int32())
    texts = pa.StringArray.from_buffers(len(letters), offsets.buffers()[1], letters.buffers()[1])
    return pc.if_else(bodies.is_valid(), texts, pa.scalar(None, TEXT))


def _valid_spans(spans: pa.RecordBatch, links: _Children) -> pa.BooleanArray:
    valid = pc.and_(
        pc.and_(_is_id(spans["trace_id"], NO_TRACE_ID), _is_id(spans["span_id"], NO_SPAN_ID)),
        _has_length(spans["parent_span_id"], 0, SPAN_ID_BYTES),
    )
    bad_links = pc.indices_nonzero(pc.invert(_may_be_ids(links)))
    if len(bad_links):
        owners = links.owners.take(bad_links)
        at = pa.arange(0, len(valid))
        valid = pc.and_(valid, pc.invert(pc.is_in(at, value_set=owners.cast(pa.int64()))))
    return valid


def _may_be_ids(items: "pa.RecordBatch | _Children") -> pa.BooleanArray:
    return pc.and_(
        _has_length(items["trace_id"], 0, TRACE_ID_BYTES),
        _has_length(items["span_id"], 0, SPAN_ID_BYTES),
    )


def _is_id(ids: pa.BinaryArray, zeros: bytes) -> pa.BooleanArray:
    return pc.and_(_has_length(ids, len(zeros)), pc.not_equal(ids, pa.scalar(zeros)))


def _has_length(ids: pa.BinaryArray, *lengths: int) -> pa.BooleanArray:
    return pc.is_in(pc.binary_length(ids), value_set=pa.array(lengths, pa.int32()))


_SAME_IN_SPANS = (
    "trace_state",
    "flags",
    "name",
    "kind",
    "dropped_attributes_count",
    "dropped_events_count",
    "dropped_links_count",
)
_SAME_IN_LOGS = (
    "severity_number",
    "severity_text",
    "event_name",
    "dropped_attributes_count",
    "flags",
)
