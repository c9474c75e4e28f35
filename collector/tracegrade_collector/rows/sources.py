"""Columns that many spans or log records share: those of their record, resource and scope.

Their columns are made once per group of items, and then repeated for each item.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

import pyarrow as pa
from google.protobuf.message import Message
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tracegrade_collector.encoding.otlp import (
    Encoding,
    ScopeGroup,
    Signal,
    decode,
    groups,
    reject_invalid,
)
from tracegrade_collector.encoding.otlp_json import write_json
from tracegrade_collector.errors import MalformedRequest
from tracegrade_collector.rows.attributes import Duplicate, attribute_columns
from tracegrade_collector.rows.content_hash import content_hashes, shared_seed
from tracegrade_lake.columns import Table

NS_PER_DAY = 86_400_000_000_000


class Record(NamedTuple):
    """One request as received; the write-ahead log holds these."""

    seq: int
    """Rises with each request of a collector."""

    received_ns: int
    signal: Signal
    encoding: Encoding
    tenant: str
    body: bytes
    """Decompressed."""

    is_repaired: bool = False
    """Whether some of its values could not be stored unchanged, or were not read unchanged."""


class Shared(NamedTuple):
    """Resource and scope that the items of one scope share."""

    resource: Resource | None
    resource_url: str
    scope: InstrumentationScope | None
    scope_url: str


class ItemSource(NamedTuple):
    """Origin of the items of one ScopeSpans or ScopeLogs."""

    record: Record
    shared: Shared
    size: int
    """How many items it has."""


def items_and_sources(
    records: Iterable[Record], signal: Signal
) -> tuple[list[Any], list[ItemSource]]:
    """Return the spans, or log records, that the receiver did not refuse, and their sources.

    Raises:
        MalformedRequest: A record is not a request, or is one of another signal.
    """
    items: list[Any] = []
    sources: list[ItemSource] = []
    for record in records:
        if record.signal is not signal:
            msg = f"record {record.seq} holds {record.signal}, wanted {signal}"
            raise MalformedRequest(msg)
        request = decode(record.body, signal, record.encoding)
        reject_invalid(request)
        for group in groups(request):
            items.extend(group.items)
            sources.append(_source(record, group))
    return items, sources


def _source(record: Record, group: ScopeGroup) -> ItemSource:
    """Return what the items of a group share; absent messages as None."""
    resource, scope = group.resource, group.scope
    shared = Shared(
        resource.resource if resource.HasField("resource") else None,
        resource.schema_url,
        scope.scope if scope.HasField("scope") else None,
        scope.schema_url,
    )
    return ItemSource(record, shared, len(group.items))


def table(
    declared: Table,
    columns: dict[str, Any],
    items: Sequence[Span] | Sequence[LogRecord],
    sources: Sequence[ItemSource],
    collector_id: str,
) -> pa.Table:
    """Return the rows: the items' own columns and those of their sources, in declared order."""
    repeat = [index for index, source in enumerate(sources) for _ in range(source.size)]
    of_source, shared_duplicates = shared_columns([source.shared for source in sources])
    of_source |= record_columns([source.record for source in sources], collector_id)
    indices = pa.array(repeat, pa.int64())
    repeated = {name: column.take(indices) for name, column in of_source.items()}
    duplicates = [
        own + shared_duplicates[index] or None
        for own, index in zip(columns["duplicate_attributes"], repeat, strict=True)
    ]
    found = columns | repeated | {
        "duplicate_attributes": duplicates,
        "oversize": [list(fields.items()) or None for fields in columns["oversize"]],
        "content_hash": _hashes(items, sources),
        "resent": pa.repeat(pa.scalar(False), len(items)),
        "redacted": pa.nulls(len(items)),
    }  # fmt: skip
    schema = declared.arrow()
    return pa.table([_column(found[field.name], field.type) for field in schema], schema=schema)


def _column(values: Any, type_: pa.DataType) -> pa.Array:
    return values.cast(type_) if isinstance(values, pa.Array) else pa.array(values, type_)


def shared_columns(
    shared: Sequence[Shared],
) -> tuple[dict[str, pa.Array], list[list[Duplicate]]]:
    """Return the columns of resources and scopes, and the later entries of their equal keys."""
    resources = [each.resource for each in shared]
    scopes = [each.scope for each in shared]
    of_resource = attribute_columns(each and ("resource", each.attributes) for each in resources)
    of_scope = attribute_columns(each and ("scope", each.attributes) for each in scopes)
    columns = {
        "resource_attributes": of_resource.attributes,
        "resource_attribute_types": of_resource.types,
        "scope_attributes": of_scope.attributes,
        "scope_attribute_types": of_scope.types,
        "scope_name": _texts(each and each.name for each in scopes),
        "scope_version": _texts(each and each.version for each in scopes),
        "resource_schema_url": _texts(each.resource_url for each in shared),
        "scope_schema_url": _texts(each.scope_url for each in shared),
        "service_name": _texts(each and _service_name(each.attributes) for each in resources),
        "resource_dropped_attributes_count": _bigints(
            each and each.dropped_attributes_count for each in resources
        ),
        "scope_dropped_attributes_count": _bigints(
            each and each.dropped_attributes_count for each in scopes
        ),
        "resource_entity_refs": _texts(each and _entity_refs(each) for each in resources),
    }
    duplicates = [
        [*in_resource, *in_scope]
        for in_resource, in_scope in zip(of_resource.duplicates, of_scope.duplicates, strict=True)
    ]
    return columns, duplicates


def record_columns(records: Sequence[Record], collector_id: str) -> dict[str, pa.Array]:
    """Return the columns that say when and where requests came in."""
    days = [record.received_ns // NS_PER_DAY for record in records]
    return {
        "collector_id": _texts(collector_id for _ in records),
        "wal_seq": _bigints(record.seq for record in records),
        "received_ns": _bigints(record.received_ns for record in records),
        "date": pa.array(days, pa.int32()).cast(pa.date32()),
    }


def _texts(values: Iterable[str | None]) -> pa.Array:
    return pa.array(list(values), pa.string())


def _bigints(values: Iterable[int | None]) -> pa.Array:
    return pa.array(list(values), pa.int64())


def _service_name(attributes: Iterable[KeyValue]) -> str | None:
    for entry in attributes:
        if entry.key == "service.name":
            return entry.value.string_value if entry.value.HasField("string_value") else None
    return None


def _entity_refs(resource: Resource) -> str | None:
    refs = [write_json(ref) for ref in resource.entity_refs]
    return json.dumps(refs, ensure_ascii=False) if refs else None


def _hashes(items: Iterable[Span | LogRecord], sources: Sequence[ItemSource]) -> list[str]:
    rest = iter(items)
    return [
        found.hex()
        for source in sources
        for found in content_hashes(map(_bytes, islice(rest, source.size)), _seed(source.shared))
    ]


def _seed(shared: Shared) -> int:
    resource = None if shared.resource is None else _bytes(shared.resource)
    scope = None if shared.scope is None else _bytes(shared.scope)
    return shared_seed(resource, shared.resource_url, scope, shared.scope_url)


def _bytes(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)
