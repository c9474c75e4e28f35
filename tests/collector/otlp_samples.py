"""Random OTLP requests: every kind of value, at every place that holds attributes."""

import math
from typing import Any

from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import (
    AnyValue,
    ArrayValue,
    EntityRef,
    InstrumentationScope,
    KeyValue,
    KeyValueList,
)
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

UINT64_MAX = 2**64 - 1
doubles = st.floats().map(lambda number: math.nan if math.isnan(number) else number)  # one NaN
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)  # NUL and all planes too
keys = st.sampled_from(["", "a", "a.b", "__proto__", "ключ", "\0"]) | texts  # often equal
uint32s = st.integers(0, 2**32 - 1)
enums = st.integers(-(2**31), 2**31 - 1)
times = st.integers(0, UINT64_MAX) | st.sampled_from([0, 2**63 - 1, 2**63, UINT64_MAX])


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return the strategy, or nothing."""
    return st.none() | strategy


scalars = st.one_of(
    st.builds(AnyValue),
    st.builds(AnyValue, string_value=texts),
    st.builds(AnyValue, bool_value=st.booleans()),
    st.builds(AnyValue, int_value=st.integers(-(2**63), 2**63 - 1)),
    st.builds(AnyValue, double_value=doubles),
    st.builds(AnyValue, bytes_value=st.binary(max_size=6)),
)


def entries(values: st.SearchStrategy[AnyValue]) -> st.SearchStrategy[list[KeyValue]]:
    """Return lists of entries, some without a value, some with a key twice."""
    return st.lists(st.builds(KeyValue, key=keys, value=optional(values)), max_size=4)


def _containers(values: st.SearchStrategy[AnyValue]) -> st.SearchStrategy[AnyValue]:
    arrays = st.builds(ArrayValue, values=st.lists(values, max_size=3))
    kvlists = st.builds(KeyValueList, values=entries(values))
    return st.builds(AnyValue, array_value=arrays) | st.builds(AnyValue, kvlist_value=kvlists)


values = st.recursive(scalars, _containers, max_leaves=6)
attributes = entries(values)

events = st.builds(
    Span.Event,
    time_unix_nano=times,
    name=texts,
    attributes=attributes,
    dropped_attributes_count=uint32s,
)
links = st.builds(
    Span.Link,
    trace_id=st.binary(min_size=16, max_size=16) | st.just(b""),
    span_id=st.binary(min_size=8, max_size=8) | st.just(b""),
    trace_state=texts,
    attributes=attributes,
    dropped_attributes_count=uint32s,
    flags=uint32s,
)
spans = st.builds(
    Span,
    trace_id=st.binary(min_size=16, max_size=16).filter(any),
    span_id=st.binary(min_size=8, max_size=8).filter(any),
    parent_span_id=st.sampled_from([b"", bytes(8), b"parent__"]),
    trace_state=texts,
    flags=uint32s,
    name=texts,
    kind=enums,
    start_time_unix_nano=times,
    end_time_unix_nano=times,
    attributes=attributes,
    dropped_attributes_count=uint32s,
    events=st.lists(events, max_size=3),
    dropped_events_count=uint32s,
    links=st.lists(links, max_size=3),
    dropped_links_count=uint32s,
    status=optional(st.builds(Status, message=texts, code=enums)),
)
logs = st.builds(
    LogRecord,
    time_unix_nano=times,
    observed_time_unix_nano=times,
    severity_number=enums,
    severity_text=texts,
    body=optional(values),
    attributes=attributes,
    dropped_attributes_count=uint32s,
    flags=uint32s,
    trace_id=st.sampled_from([b"", bytes(16), b"trace___trace___"]),
    span_id=st.sampled_from([b"", bytes(8), b"span____"]),
    event_name=texts,
)
scopes = st.builds(
    InstrumentationScope,
    name=texts,
    version=texts,
    attributes=attributes,
    dropped_attributes_count=uint32s,
)
resources = st.builds(
    Resource,
    attributes=attributes,
    dropped_attributes_count=uint32s,
    entity_refs=st.lists(
        st.builds(EntityRef, schema_url=texts, type=texts, id_keys=st.lists(texts, max_size=2)),
        max_size=2,
    ),
)
span_requests = st.builds(
    ExportTraceServiceRequest,
    resource_spans=st.lists(
        st.builds(
            ResourceSpans,
            resource=optional(resources),
            schema_url=texts,
            scope_spans=st.lists(
                st.builds(
                    ScopeSpans,
                    scope=optional(scopes),
                    schema_url=texts,
                    spans=st.lists(spans, max_size=3),
                ),
                max_size=2,
            ),
        ),
        max_size=2,
    ),
)
log_requests = st.builds(
    ExportLogsServiceRequest,
    resource_logs=st.lists(
        st.builds(
            ResourceLogs,
            resource=optional(resources),
            schema_url=texts,
            scope_logs=st.lists(
                st.builds(
                    ScopeLogs,
                    scope=optional(scopes),
                    schema_url=texts,
                    log_records=st.lists(logs, max_size=3),
                ),
                max_size=2,
            ),
        ),
        max_size=2,
    ),
)
