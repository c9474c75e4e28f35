"""The tables that are taken in, declared once: name, type and meaning of each column.

Written, checked and documented from here. Column order and names of `raw_spans` are a contract;
columns that it lacks stand at its end.
"""

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

TEXT: Final = pa.string()
INTEGER: Final = pa.int32()
BIGINT: Final = pa.int64()
MAP: Final = pa.map_(TEXT, TEXT)

DUPLICATE: Final = pa.struct(
    [("place", TEXT), ("position", INTEGER), ("key", TEXT), ("type", TEXT), ("value", TEXT)]
)
EVENT: Final = pa.struct(
    [
        ("time_ns", BIGINT),
        ("name", TEXT),
        ("attributes", MAP),
        ("attribute_types", TEXT),
        ("dropped_attributes_count", BIGINT),
    ]
)
LINK: Final = pa.struct(
    [
        ("trace_id", TEXT),
        ("span_id", TEXT),
        ("trace_state", TEXT),
        ("attributes", MAP),
        ("attribute_types", TEXT),
        ("dropped_attributes_count", BIGINT),
        ("flags", BIGINT),
    ]
)
REDACTION: Final = pa.struct([("path", TEXT), ("rule", TEXT)])


def list_of(item: pa.DataType) -> pa.DataType:
    """Return the list type whose child is named as Delta names it."""
    return pa.list_(pa.field("element", item))


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    type: pa.DataType
    meaning: str
    """Unit, range and what NULL says."""


@dataclass(frozen=True)
class Table:
    """One table of the lake."""

    name: str
    """Also the name of its folder."""

    grain: str
    """What one row is."""

    columns: tuple[Column, ...]
    partition_by: tuple[str, ...] = ("date",)

    def arrow(self) -> pa.Schema:
        """Return the schema with all columns, those of the partition included."""
        return pa.schema([pa.field(column.name, column.type) for column in self.columns])


_SOURCE_COLUMNS: Final = (
    Column("resource_attributes", MAP, "As `attributes`; NULL if no resource was sent."),
    Column("scope_name", TEXT, "NULL if no scope was sent."),
    Column("scope_version", TEXT, "NULL if no scope was sent."),
    Column("scope_attributes", MAP, "As `attributes`; NULL if no scope was sent."),
    Column("resource_schema_url", TEXT, "Never NULL; '' if not set."),
    Column("scope_schema_url", TEXT, "Never NULL; '' if not set."),
    Column("service_name", TEXT, "`service.name` of the resource; NULL if absent or no text."),
    Column("collector_id", TEXT, "The collector that received the row."),
    Column("wal_seq", BIGINT, "Sequence number of its request; rises per collector."),
    Column("received_ns", BIGINT, "Time of receipt, ns since 1970 UTC."),
    Column(
        "content_hash",
        TEXT,
        "32 hex digits over resource, scope and item as received; keyed where `redacted` is set.",
    ),
    Column("resent", pa.bool_(), "An equal row landed before: the client sent it twice."),
    Column("date", pa.date32(), "Date received, UTC. The partition."),
)
_EXTRA_COLUMNS: Final = (
    Column(
        "oversize",
        MAP,
        "What its column cannot hold, as text by field (`start_ns`, `events[0].time_ns`): times "
        "above 2^63 - 1, ids of zeros. That column is NULL. NULL if there is nothing.",
    ),
    Column("resource_attribute_types", TEXT, "As `attribute_types`; NULL if no resource."),
    Column("scope_attribute_types", TEXT, "As `attribute_types`; NULL if no scope."),
    Column("resource_dropped_attributes_count", BIGINT, "NULL if no resource was sent."),
    Column("scope_dropped_attributes_count", BIGINT, "NULL if no scope was sent."),
    Column("resource_entity_refs", TEXT, "OTLP/JSON list; NULL if none were sent."),
    Column(
        "redacted",
        list_of(REDACTION),
        "What was replaced before anything was written, by path (`attributes.a`, "
        "`events[0].attributes.a`, `body`) and rule; NULL if nothing was.",
    ),
)
_ATTRIBUTES: Final = Column(
    "attributes", MAP, "In the order sent, first of equal keys; the value's text (see README)."
)
_ATTRIBUTE_TYPES: Final = Column(
    "attribute_types",
    TEXT,
    "One letter per entry: s string, b bool, i int, d double, y bytes (base64), a array and "
    "k kvlist as plain JSON, A and K as OTLP/JSON, n empty value, m no value (both NULL).",
)
_DUPLICATE_ATTRIBUTES: Final = Column(
    "duplicate_attributes",
    list_of(DUPLICATE),
    "Later entries of a key, with their index in the list sent. `place` is span, log, resource, "
    "scope, events[0], links[0]. NULL if there are none.",
)
_DROPPED: Final = Column("dropped_attributes_count", BIGINT, "As sent; 0 if not set.")

RAW_SPANS: Final = Table(
    name="raw_spans",
    grain="one span as received; a span that was sent twice has two rows",
    columns=(
        Column("trace_id", TEXT, "32 lower hex digits."),
        Column("span_id", TEXT, "16 lower hex digits."),
        Column("parent_span_id", TEXT, "16 lower hex digits; NULL at a root."),
        Column("trace_state", TEXT, "W3C trace state; '' if not set."),
        Column("flags", BIGINT, "32 bits as sent; 0 if not set."),
        Column("name", TEXT, "Name of the operation; may be ''."),
        Column("kind", INTEGER, "OTLP SpanKind as sent; 0 if not set."),
        Column("start_ns", BIGINT, "ns since 1970 UTC; 0 if not set, NULL if in `oversize`."),
        Column("end_ns", BIGINT, "As `start_ns`; may lie before it."),
        Column("status_code", INTEGER, "0 unset, 1 ok, 2 error; NULL if no status was sent."),
        Column("status_message", TEXT, "NULL if no status was sent."),
        _ATTRIBUTES,
        _ATTRIBUTE_TYPES,
        _DUPLICATE_ATTRIBUTES,
        Column("events", list_of(EVENT), "In the order sent; never NULL."),
        Column("links", list_of(LINK), "In the order sent; never NULL."),
        _DROPPED,
        Column("dropped_events_count", BIGINT, "As sent; 0 if not set."),
        Column("dropped_links_count", BIGINT, "As sent; 0 if not set."),
        *_SOURCE_COLUMNS,
        *_EXTRA_COLUMNS,
    ),
)

RAW_LOGS: Final = Table(
    name="raw_logs",
    grain="one log record as received; a record that was sent twice has two rows",
    columns=(
        Column("time_ns", BIGINT, "ns since 1970 UTC; 0 if not set, NULL if in `oversize`."),
        Column("observed_time_ns", BIGINT, "As `time_ns`."),
        Column("severity_number", INTEGER, "OTLP SeverityNumber as sent; 0 if not set."),
        Column("severity_text", TEXT, "'' if not set."),
        Column("event_name", TEXT, "'' if not set."),
        Column("body", TEXT, "Text of the value; NULL if no body was sent or it is empty."),
        Column("body_type", TEXT, "Its letter, as in `attribute_types`; NULL if none was sent."),
        _ATTRIBUTES,
        _ATTRIBUTE_TYPES,
        _DUPLICATE_ATTRIBUTES,
        _DROPPED,
        Column("trace_id", TEXT, "32 lower hex digits; NULL if the record has none."),
        Column("span_id", TEXT, "16 lower hex digits; NULL if the record has none."),
        Column("flags", BIGINT, "32 bits as sent; 0 if not set."),
        *_SOURCE_COLUMNS,
        *_EXTRA_COLUMNS,
    ),
)

VERDICTS: Final = Table(
    name="verdicts",
    grain="one result from outside the deterministic scorer",
    columns=(
        Column("trajectory_id", TEXT, "The run it is about; a trace id alone: its outermost run."),
        Column("subject", TEXT, "success | sub_goal | rollback."),
        Column("sub_goal", TEXT, "Where subject is sub_goal; else NULL."),
        Column("injection", TEXT, "early | mid | late, where subject is rollback; else NULL."),
        Column("value", pa.float64(), "Score as given; NULL if only a label was."),
        Column("label", TEXT, "Label as given; NULL if only a value was."),
        Column("source", TEXT, "Who judged."),
        Column("evidence", TEXT, "Its explanation; NULL if none."),
        Column("date", pa.date32(), "Date received, UTC. Partition."),
    ),
)
