"""Divides a large request into several with the same items, each small enough for memory.

Protobuf alone: a resource and a scope are put before each batch of their items again. All bytes of
the items, of resources and of scopes are those that came, so that content hashes stay.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tracegrade_collector.encoding.otlp import Encoding, Signal, decode
from tracegrade_collector.encoding.wire_texts import field_bytes
from tracegrade_collector.rows.pieces import (
    PIECE_REPEATED_BYTES,
    PIECE_VALUES,
    most_repeated_bytes,
    most_values,
)
from tracegrade_collector.rows.rows import as_protobuf
from tracegrade_collector.rows.sources import Record
from tracegrade_collector.rows.wire import (
    NonCanonicalBytes,
    ScopeBlock,
    scope_blocks,
    shared_bytes,
)

PART_BYTES: Final = 12 << 20


def is_large(record: Record) -> bool:
    """Return whether a request may take too much memory as rows all at once."""
    return (
        len(record.body) > PART_BYTES
        or most_values(record.body, record.encoding) > PIECE_VALUES
        or most_repeated_bytes(record.body, record.encoding) > PIECE_REPEATED_BYTES
    )


def divided(record: Record, signal: Signal) -> Iterator[Record]:
    """Yield requests with the items of one, in the order sent; an item is never divided.

    Raises:
        MalformedRequest: It is not a request of this signal.
    """
    whole = as_protobuf(record, signal)
    try:
        found = list(scope_blocks(whole.body, signal))
    except NonCanonicalBytes:  # written as the library writes it, it is not
        request = decode(whole.body, signal, Encoding.PROTOBUF)
        body = request.SerializeToString(deterministic=True)
        found, whole = list(scope_blocks(body, signal)), whole._replace(body=body)
    part = _Part()
    for block in found:
        for item in block.items:
            if part.is_full_with(block, item):
                yield whole._replace(body=part.body())
                part = _Part()
            part.add(block, item)
    if part.groups:
        yield whole._replace(body=part.body())


@dataclass
class _Part:
    """Some items, by the blocks of the scopes that they are of."""

    groups: list[tuple[ScopeBlock, list[bytes]]] = field(default_factory=list)
    size: int = 0
    values: int = 0
    repeated: int = 0

    def is_full_with(self, block: ScopeBlock, item: bytes) -> bool:
        return bool(self.groups) and (
            self.size + len(item) > PART_BYTES
            or self.values + most_values(item, Encoding.PROTOBUF) > PIECE_VALUES
            or self.repeated + shared_bytes(block.shared) > PIECE_REPEATED_BYTES
        )

    def add(self, block: ScopeBlock, item: bytes) -> None:
        if not self.groups or self.groups[-1][0] is not block:
            self.groups.append((block, []))
        self.groups[-1][1].append(item)
        self.size += len(item)
        self.values += most_values(item, Encoding.PROTOBUF)
        self.repeated += shared_bytes(block.shared)

    def body(self) -> bytes:
        return b"".join(_group_bytes(block, items) for block, items in self.groups)


def _group_bytes(block: ScopeBlock, items: list[bytes]) -> bytes:
    """Return a resource with a scope and items; the numbers are those of either signal."""
    shared = block.shared
    scope = b"" if shared.scope is None else field_bytes(1, shared.scope)
    url = field_bytes(3, shared.scope_url.encode()) if shared.scope_url else b""
    of_scope = scope + b"".join(field_bytes(2, item) for item in items) + url
    resource = b"" if shared.resource is None else field_bytes(1, shared.resource)
    url = field_bytes(3, shared.resource_url.encode()) if shared.resource_url else b""
    return field_bytes(1, resource + field_bytes(2, of_scope) + url)
