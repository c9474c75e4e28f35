"""Declares the tables that receive data: name, type and meaning of each column.

The tables are written, checked and documented from here. The column order and names of `raw_spans`
are a contract; additional columns come at its end.
"""

from typing import Final

import pyarrow as pa

from tracegrade_lake.columns import (
    BIGINT,
    BOOLEAN,
    INTEGER,
    MAP,
    TEXT,
    TIMESTAMP,
    Column,
    Struct,
    Table,
    list_of,
)

_DUPLICATE: Final = Struct(
    "DUPLICATE",
    "one attribute whose key occurred earlier in the same list",
    (
        Column("place", TEXT, "Place of the list: span, log, resource, scope, events[0], …"),
        Column("position", INTEGER, "Index of the attribute in that list as sent, from 0."),
        Column("key", TEXT, "The key."),
        Column("type", TEXT, "Letter of the value's type, as in `attribute_types`."),
        Column("value", TEXT, "The value as text, as in `attributes`."),
    ),
)
_EVENT: Final = Struct(
    "EVENT",
    "one event of a span",
    (
        Column("time_ns", BIGINT, "Nanoseconds since 1970, UTC; 0 if not set, NULL if too large."),
        Column("name", TEXT, "Name of the event; '' if not set."),
        Column("attributes", MAP, "As `attributes` of the span."),
        Column("attribute_types", TEXT, "As `attribute_types` of the span."),
        Column(
            "dropped_attributes_count", BIGINT, "Attributes that the sender dropped; 0 if none."
        ),
    ),
)
_LINK: Final = Struct(
    "LINK",
    "one link from a span to another span",
    (
        Column("trace_id", TEXT, "Trace of the other span, 32 lower-case hex digits."),
        Column("span_id", TEXT, "Id of the other span, 16 lower-case hex digits."),
        Column("trace_state", TEXT, "W3C trace state; '' if not set."),
        Column("attributes", MAP, "As `attributes` of the span."),
        Column("attribute_types", TEXT, "As `attribute_types` of the span."),
        Column(
            "dropped_attributes_count", BIGINT, "Attributes that the sender dropped; 0 if none."
        ),
        Column("flags", BIGINT, "Trace flags, 32 bits as sent; 0 if not set."),
    ),
)
_REDACTION: Final = Struct(
    "REDACTION",
    "one value that was replaced before anything was written",
    (
        Column(
            "path", TEXT, "Place of the value: `attributes.a`, `events[0].attributes.a`, `body`, …"
        ),
        Column("rule", TEXT, "The redaction rule that replaced it."),
    ),
)
EVENT: Final = _EVENT.type
LINK: Final = _LINK.type
REDACTION: Final = _REDACTION.type

_SOURCE_COLUMNS: Final = (
    Column(
        "resource_attributes",
        MAP,
        "Attributes of the resource that sent it, as in `attributes`; NULL if none was sent.",
    ),
    Column("scope_name", TEXT, "Name of the instrumentation scope; NULL if no scope was sent."),
    Column("scope_version", TEXT, "Version of the scope; NULL if no scope was sent."),
    Column(
        "scope_attributes",
        MAP,
        "Attributes of the scope, as in `attributes`; NULL if no scope was sent.",
    ),
    Column("resource_schema_url", TEXT, "Schema URL of the resource; '' if not set."),
    Column("scope_schema_url", TEXT, "Schema URL of the scope; '' if not set."),
    Column(
        "service_name",
        TEXT,
        "`service.name` of the resource; NULL if it is missing or not a string.",
    ),
    Column("collector_id", TEXT, "Collector that received the row; `import` for imported rows."),
    Column(
        "wal_seq",
        BIGINT,
        "Number of the request that the row came with; rises with each request to a collector.",
    ),
    Column("received_ns", BIGINT, "Time of receipt, nanoseconds since 1970, UTC."),
    Column(
        "content_hash",
        TEXT,
        "Hash of resource, scope and item as received, 32 hex digits; keyed by the lake's "
        "redaction secret where `redacted` is not NULL.",
    ),
    Column(
        "resent",
        pa.bool_(),
        "True if an equal row had landed before, because the client sent the request again.",
    ),
    Column("date", pa.date32(), "Date of receipt, UTC."),
)
_EXTRA_COLUMNS: Final = (
    Column(
        "oversize",
        MAP,
        "Values that do not fit into their own column, which is NULL then: times above 2^63 - 1 "
        "and ids of zeros, as text by field (`start_ns`, `events[0].time_ns`). NULL if there are "
        "none.",
    ),
    Column(
        "resource_attribute_types",
        TEXT,
        "Types of `resource_attributes`, as in `attribute_types`; NULL if no resource was sent.",
    ),
    Column(
        "scope_attribute_types",
        TEXT,
        "Types of `scope_attributes`, as in `attribute_types`; NULL if no scope was sent.",
    ),
    Column(
        "resource_dropped_attributes_count",
        BIGINT,
        "Attributes of the resource that the sender dropped; NULL if no resource was sent.",
    ),
    Column(
        "scope_dropped_attributes_count",
        BIGINT,
        "Attributes of the scope that the sender dropped; NULL if no scope was sent.",
    ),
    Column(
        "resource_entity_refs",
        TEXT,
        "Entity references of the resource, a list in OTLP/JSON; NULL if none were sent.",
    ),
    Column(
        "redacted",
        list_of(REDACTION),
        "Values that were replaced before anything was written; NULL if none was.",
        _REDACTION,
    ),
)
_ATTRIBUTES: Final = Column(
    "attributes",
    MAP,
    "Each attribute's value as text, in the order sent; the first one where a key occurs twice. "
    "`attribute_types` says how to read the text.",
)
_ATTRIBUTE_TYPES: Final = Column(
    "attribute_types",
    TEXT,
    "One letter for each entry of `attributes`: s string, b bool, i int, d double, y bytes in "
    "base64, a array and k key-value list as plain JSON, A and K the same as OTLP/JSON where "
    "plain JSON would lose something, n an empty value and m no value (both NULL).",
)
_DUPLICATE_ATTRIBUTES: Final = Column(
    "duplicate_attributes",
    list_of(_DUPLICATE.type),
    "Attributes whose key occurred earlier in the same list, so that a map cannot hold them; NULL "
    "if there are none.",
    _DUPLICATE,
)
_DROPPED: Final = Column(
    "dropped_attributes_count", BIGINT, "Attributes that the sender dropped; 0 if not set."
)

RAW_SPANS: Final = Table(
    name="raw_spans",
    grain="one span as received; a span that was sent twice has two rows",
    columns=(
        Column("trace_id", TEXT, "Trace of the span, 32 lower-case hex digits."),
        Column("span_id", TEXT, "Id of the span, 16 lower-case hex digits."),
        Column(
            "parent_span_id",
            TEXT,
            "Id of the span that it is part of, 16 lower-case hex digits; NULL for a root.",
        ),
        Column("trace_state", TEXT, "W3C trace state; '' if not set."),
        Column("flags", BIGINT, "Trace flags, 32 bits as sent; 0 if not set."),
        Column("name", TEXT, "Name of the operation; may be ''."),
        Column("kind", INTEGER, "OTLP SpanKind, the number as sent; 0 if not set."),
        Column(
            "start_ns",
            BIGINT,
            "Start, nanoseconds since 1970, UTC; 0 if not set, NULL if `oversize` has it.",
        ),
        Column("end_ns", BIGINT, "End, as `start_ns`; may lie before the start."),
        Column("status_code", INTEGER, "0 unset, 1 ok, 2 error; NULL if no status was sent."),
        Column("status_message", TEXT, "Message of the status; NULL if no status was sent."),
        _ATTRIBUTES,
        _ATTRIBUTE_TYPES,
        _DUPLICATE_ATTRIBUTES,
        Column("events", list_of(EVENT), "Events in the order sent; empty if none.", _EVENT),
        Column("links", list_of(LINK), "Links in the order sent; empty if none.", _LINK),
        _DROPPED,
        Column("dropped_events_count", BIGINT, "Events that the sender dropped; 0 if not set."),
        Column("dropped_links_count", BIGINT, "Links that the sender dropped; 0 if not set."),
        *_SOURCE_COLUMNS,
        *_EXTRA_COLUMNS,
    ),
)

RAW_LOGS: Final = Table(
    name="raw_logs",
    grain="one log record as received; a record that was sent twice has two rows",
    columns=(
        Column(
            "time_ns",
            BIGINT,
            "Time of the event, nanoseconds since 1970, UTC; 0 if not set, NULL if "
            "`oversize` has it.",
        ),
        Column("observed_time_ns", BIGINT, "Time at which it was observed, as `time_ns`."),
        Column("severity_number", INTEGER, "OTLP SeverityNumber as sent; 0 if not set."),
        Column("severity_text", TEXT, "Severity as the source names it; '' if not set."),
        Column("event_name", TEXT, "Name of the event; '' if not set."),
        Column("body", TEXT, "The body as text; NULL if none was sent or it is empty."),
        Column(
            "body_type",
            TEXT,
            "Letter of the body's type, as in `attribute_types`; NULL if no body was sent.",
        ),
        _ATTRIBUTES,
        _ATTRIBUTE_TYPES,
        _DUPLICATE_ATTRIBUTES,
        _DROPPED,
        Column("trace_id", TEXT, "Trace it belongs to, 32 lower-case hex digits; NULL if none."),
        Column("span_id", TEXT, "Span it belongs to, 16 lower-case hex digits; NULL if none."),
        Column("flags", BIGINT, "Trace flags, 32 bits as sent; 0 if not set."),
        *_SOURCE_COLUMNS,
        *_EXTRA_COLUMNS,
    ),
)

VERDICTS: Final = Table(
    name="verdicts",
    grain="one judgment of a run from outside the scorer: by a verifier, a judge or a person",
    columns=(
        Column(
            "trajectory_id",
            TEXT,
            "The run that was judged; a trace id alone means the outermost run of that trace.",
        ),
        Column(
            "subject",
            TEXT,
            "Subject of the verdict: success | step | sub_goal | served | planning | rollback.",
        ),
        Column("sub_goal", TEXT, "The sub-goal; NULL unless subject is sub_goal or served."),
        Column(
            "step_index",
            INTEGER,
            "Step of the call that serves the sub-goal or not, or the step that failed, as it was "
            "numbered then; NULL unless subject is served or step.",
        ),
        Column(
            "kill_point",
            TEXT,
            "Kill point of the run: early | mid | late; NULL unless subject is rollback.",
            former="injection",
        ),
        Column(
            "question",
            TEXT,
            "The question about the plan: dependency_ordering | branch_coverage | "
            "scope_control | reversibility; NULL unless subject is planning.",
        ),
        Column("value", pa.float64(), "Score as given, on the source's scale; NULL if none was."),
        Column("label", TEXT, "Label as given; NULL if none was."),
        Column(
            "source",
            TEXT,
            "The party that judged: `human:NAME`, `judge:NAME`, "
            "`gen_ai.evaluation.result`, or a verifier's name; the word before a colon "
            "alone says which of them.",
        ),
        Column("evidence", TEXT, "Explanation that was given; NULL if none."),
        Column(
            "step_trajectory_id",
            TEXT,
            "The run whose step it is, the judged one or a sub-agent's; NULL: the judged one.",
        ),
        Column(
            "span_id",
            TEXT,
            "Span of the step that failed, which stays the same if steps are numbered "
            "again; NULL unless subject is step, or if only the step's index was given.",
        ),
        Column("tag", TEXT, "Description of what went wrong, in a word or two; NULL if not said."),
        Column(
            "made_at",
            TIMESTAMP,
            "Time at which it was made, UTC: of one source the newest counts. NULL if not "
            "said: it counts if there is no dated one.",
        ),
        Column(
            "withdrawn", BOOLEAN, "True: it takes back what the source said; NULL: it does not."
        ),
        Column("date", pa.date32(), "Date of receipt, UTC."),
    ),
)
