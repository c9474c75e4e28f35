"""OTLP protobuf bytes → Arrow arrays, without a message per span.

There are two readers, each with an altered copy of OTLP's schema. Protobuf itself reads a
request's outer shell (`ScopeBlock`) and leaves each item as the bytes it came in, which its
content hash covers. Then ptars reads the items of many requests at once, into one array per field.
Members of nested values stay bytes there, because Arrow has no recursive types.

ptars checks little (it accepts text that is not UTF-8), so it is only for bytes that `otlp.decode`
has accepted. If a value is set twice, ptars keeps both and protobuf keeps the last; `entries.py`
finds these cases.
"""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

import ptars
import pyarrow as pa
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.errors import MalformedRequest

_FILES: Final = (
    common_pb2,
    resource_pb2,
    trace_pb2,
    logs_pb2,
    trace_service_pb2,
    logs_service_pb2,
)  # each after those it builds on
_AS_BYTES: Final = {
    "ScopeSpans": ("scope",),
    "ScopeLogs": ("scope",),
    "ResourceSpans": ("resource",),
    "ResourceLogs": ("resource",),
    "ArrayValue": ("values",),
    "KeyValueList": ("values",),
}
_LEFT_OUT: Final = {"AnyValue": "string_value_strindex", "KeyValue": "key_strindex"}
"""Fields that are only for profiles and otherwise empty. Each costs a column as long as all
attributes.
"""

_CONTROLS: Final = bytes(range(32))
_PATHS: Final = {
    Signal.TRACES: ("resource_spans", "scope_spans", "spans"),
    Signal.LOGS: ("resource_logs", "scope_logs", "log_records"),
}
_REQUEST_TYPES: Final = {
    Signal.TRACES: "opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest",
    Signal.LOGS: "opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest",
}


class NonCanonicalBytes(Exception):
    """The bytes are written in a way that only protobuf itself reads rightly."""


class SharedBytes(NamedTuple):
    """Encoded resource and scope that the items of one scope share."""

    resource: bytes | None
    """A `Resource`; None if none was sent."""

    resource_url: str
    scope: bytes | None
    """An `InstrumentationScope`; None if none was sent."""

    scope_url: str


class ScopeBlock(NamedTuple):
    """The items of one scope of one resource, each as its own bytes of `Span` or `LogRecord`."""

    shared: SharedBytes
    items: Sequence[bytes]


def scope_blocks(body: bytes, signal: Signal) -> Iterator[ScopeBlock]:
    """Yield the items of a protobuf request by resource and scope, in the order sent.

    Raises:
        MalformedRequest: The bytes are not such a request.
        NonCanonicalBytes: A part that can only stand once stands twice, or a length is padded.
    """
    request = _request_class(signal)()
    try:
        request.ParseFromString(body)
    except DecodeError as error:
        msg = f"{signal} request of {len(body)} bytes is not an OTLP protobuf message: {error}"
        raise MalformedRequest(msg) from error
    if request.ByteSize() != len(body):
        raise NonCanonicalBytes
    return _trace_blocks(request) if signal is Signal.TRACES else _log_blocks(request)


def repeated_bytes(body: bytes) -> int:
    """Return how many bytes of resources and scopes the rows of a protobuf request repeat.

    It works for both signals: the outer forms have the same numbers. 0 if it is not a request.
    """
    request: Any = _request_class(Signal.TRACES)()
    try:
        request.ParseFromString(body)
    except DecodeError:
        return 0
    return sum(
        shared_bytes(_shared(resource, scope)) * len(scope.spans)
        for resource in request.resource_spans
        for scope in resource.scope_spans
    )


def shared_bytes(shared: SharedBytes) -> int:
    """Return about how many shared bytes each row of a scope has.

    A control character of a nested value is written as six.
    """
    parts = (shared.resource or b"", shared.scope or b"")
    urls = len(shared.resource_url) + len(shared.scope_url)
    return urls + sum(len(part) + 5 * _control_characters(part) for part in parts)


@lru_cache(2)
def _control_characters(content: bytes) -> int:
    return len(content) - len(content.translate(None, _CONTROLS))


def item_columns(bodies: Sequence[bytes], signal: Signal) -> pa.RecordBatch:
    """Return all spans or log records of some requests, one column per field of OTLP."""
    groups, *inner = _PATHS[signal]
    items = _handler(signal).list_to_record_batch(bodies)[groups].values
    for name in inner:
        items = items.field(name).values
    return pa.RecordBatch.from_struct_array(items)


def owned(array: pa.Array) -> pa.Array:
    """Return a copy of an array that keeps nothing else in memory."""
    return array.copy_to(pa.default_cpu_memory_manager())


def _trace_blocks(request: Any) -> Iterator[ScopeBlock]:
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            yield ScopeBlock(_shared(resource, scope), scope.spans)


def _log_blocks(request: Any) -> Iterator[ScopeBlock]:
    for resource in request.resource_logs:
        for scope in resource.scope_logs:
            yield ScopeBlock(_shared(resource, scope), scope.log_records)


def _shared(resource: Any, scope: Any) -> SharedBytes:
    return SharedBytes(
        resource.resource if resource.HasField("resource") else None,
        resource.schema_url,
        scope.scope if scope.HasField("scope") else None,
        scope.schema_url,
    )


@cache
def _request_class(signal: Signal) -> type[Message]:
    return GetMessageClass(
        _pool("spans", "log_records").FindMessageTypeByName(_REQUEST_TYPES[signal])
    )


@cache
def _handler(signal: Signal) -> Any:
    descriptor = _pool().FindMessageTypeByName(_REQUEST_TYPES[signal])
    return ptars.HandlerPool([descriptor.file]).get_for_message(descriptor)


@cache
def _pool(*also: str) -> DescriptorPool:
    """Return OTLP's schema with some members as plain bytes, and others of these names."""
    pool = DescriptorPool()
    for module in _FILES:
        file = FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        for message in file.message_type:
            for field in list(message.field):
                if field.name in (*_AS_BYTES.get(message.name, ()), *also):
                    _make_bytes(message, field)
                if field.name == _LEFT_OUT.get(message.name):
                    message.field.remove(field)
        pool.AddSerializedFile(file.SerializeToString())
    return pool


def _make_bytes(message: DescriptorProto, field: FieldDescriptorProto) -> None:
    """Make a member bytes; if it is single, absent and empty still differ, as for a message."""
    field.type = FieldDescriptorProto.TYPE_BYTES
    field.ClearField("type_name")
    if field.label != FieldDescriptorProto.LABEL_REPEATED:
        field.proto3_optional = True
        field.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{field.name}")
