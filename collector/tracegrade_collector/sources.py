"""Where rows come from: the record, resource and scope that many spans or log records share.

Their columns are made once per group of items, and then repeated for each item.
"""

import json
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import pyarrow as pa
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tracegrade_collector.attributes import Duplicate, attribute_columns
from tracegrade_collector.errors import MalformedRequest
from tracegrade_collector.lake.schema import Table
from tracegrade_collector.otlp import Encoding, Group, Signal, decode, groups, reject_invalid
from tracegrade_collector.otlp_json import write_json

NS_PER_DAY = 86_400_000_000_000
HASH_BYTES = 16


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


class Source(NamedTuple):
    """What the items of one ScopeSpans or ScopeLogs share."""

    record: Record
    resource: Resource | None
    resource_url: str
    scope: InstrumentationScope | None
    scope_url: str
    size: int
    """How many items it has."""


def items_and_sources(records: Iterable[Record], signal: Signal) -> tuple[list[Any], list[Source]]:
    """Return the spans, or log records, that the receiver did not refuse, and their sources.

    Raises:
        MalformedRequest: A record is no request, or one of another signal.
    """
    items: list[Any] = []
    sources: list[Source] = []
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


def _source(record: Record, group: Group) -> Source:
    """Return what the items of a group share; absent messages as None."""
    resource, scope = group.resource, group.scope
    return Source(
        record,
        resource.resource if resource.HasField("resource") else None,
        resource.schema_url,
        scope.scope if scope.HasField("scope") else None,
        scope.schema_url,
        len(group.items),
    )


def table(
    declared: Table,
    columns: dict[str, Any],
    items: Sequence[Span] | Sequence[LogRecord],
    sources: Sequence[Source],
    collector_id: str,
) -> pa.Table:
    """Return the rows: the items' own columns and those of their sources, in declared order."""
    repeat = [index for index, source in enumerate(sources) for _ in range(source.size)]
    shared, shared_duplicates = _source_columns(sources, collector_id)
    repeated = {name: column.take(pa.array(repeat, pa.int64())) for name, column in shared.items()}
    duplicates = [
        own + shared_duplicates[index] or None
        for own, index in zip(columns["duplicate_attributes"], repeat, strict=True)
    ]
    found = columns | repeated | {
        "duplicate_attributes": duplicates,
        "oversize": [list(fields.items()) or None for fields in columns["oversize"]],
        "content_hash": _hashes(items, sources),
        "resent": pa.repeat(pa.scalar(False), len(items)),
    }  # fmt: skip
    schema = declared.arrow()
    return pa.table([_column(found[field.name], field.type) for field in schema], schema=schema)


def _column(values: Any, type_: pa.DataType) -> pa.Array:
    return values.cast(type_) if isinstance(values, pa.Array) else pa.array(values, type_)


def _source_columns(
    sources: Sequence[Source], collector_id: str
) -> tuple[dict[str, pa.Array], list[list[Duplicate]]]:
    resources = [source.resource for source in sources]
    scopes = [source.scope for source in sources]
    of_resource = attribute_columns(each and ("resource", each.attributes) for each in resources)
    of_scope = attribute_columns(each and ("scope", each.attributes) for each in scopes)
    days = [source.record.received_ns // NS_PER_DAY for source in sources]
    columns = {
        "resource_attributes": of_resource.attributes,
        "resource_attribute_types": of_resource.types,
        "scope_attributes": of_scope.attributes,
        "scope_attribute_types": of_scope.types,
        "scope_name": _texts(each and each.name for each in scopes),
        "scope_version": _texts(each and each.version for each in scopes),
        "resource_schema_url": _texts(source.resource_url for source in sources),
        "scope_schema_url": _texts(source.scope_url for source in sources),
        "service_name": _texts(each and _service_name(each.attributes) for each in resources),
        "collector_id": _texts(collector_id for _ in sources),
        "wal_seq": _bigints(source.record.seq for source in sources),
        "received_ns": _bigints(source.record.received_ns for source in sources),
        "date": pa.array(days, pa.int32()).cast(pa.date32()),
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


def _hashes(items: Iterable[Span | LogRecord], sources: Sequence[Source]) -> list[str]:
    rest = iter(items)
    return [
        _item_hash(prefix, next(rest))
        for source in sources
        for prefix in [_source_hash(source)]
        for _ in range(source.size)
    ]


def _source_hash(source: Source) -> blake2b:
    """Each part goes in with its length, so that no two sources look alike."""
    found = blake2b(digest_size=HASH_BYTES)
    for part in (source.resource, source.resource_url, source.scope, source.scope_url):
        written = _part_bytes(part)
        found.update(len(written).to_bytes(8))
        found.update(written)
    return found


def _part_bytes(part: Resource | InstrumentationScope | str | None) -> bytes:
    if part is None:
        return b""
    if isinstance(part, str):
        return part.encode()
    return b"+" + part.SerializeToString(deterministic=True)


def _item_hash(prefix: blake2b, item: Span | LogRecord) -> str:
    found = prefix.copy()
    found.update(item.SerializeToString(deterministic=True))
    return found.hexdigest()
