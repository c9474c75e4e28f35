"""The write-ahead log on disk: what one record looks like, and how a segment file is read.

A segment is a file of records, one per accepted request, named for the first sequence number it
can hold (`00000000000000000042.wal`). A record is

    magic | CRC32C | body length | sequence | receive time
          | signal | encoding | has rejects | tenant length | tenant | body

in little-endian order. The checksum covers everything after itself. The body is the request as
received, after decompression; nothing has interpreted it but the parser that accepted it.

A crash can leave a record half-written at the end of a segment (torn: cut it, nobody was told that
it is safe), and a disk can damage any record (corrupt: set it aside, later ones are still good,
found by magic and checksum). Writing is in `wal_writer`, the folder of segments in `wal_folder`.
"""

import struct
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import google_crc32c

from tracegrade_collector.otlp import Encoding, Signal

MAGIC = b"TGr1"  # the digit is the version of the format
_CHECKSUM = struct.Struct("<4sI")
_REST = struct.Struct("<QQQBB?H")
HEADER_BYTES = _CHECKSUM.size + _REST.size
SUFFIX = ".wal"

_SIGNALS = {Signal.TRACES: 1, Signal.LOGS: 2}
_ENCODINGS = {Encoding.PROTOBUF: 1, Encoding.JSON: 2}
_SIGNAL_OF = {number: signal for signal, number in _SIGNALS.items()}
_ENCODING_OF = {number: encoding for encoding, number in _ENCODINGS.items()}


class Entry(NamedTuple):
    """One accepted request, before the log has given it a number."""

    received_ns: int
    signal: Signal
    encoding: Encoding
    tenant: str
    has_rejects: bool
    """Whether the receiver refused some of its items; the lander keeps those as dead letters."""

    body: bytes
    """Decompressed, otherwise as received."""

    @property
    def size(self) -> int:
        """Bytes that its record will take."""
        return HEADER_BYTES + len(self.tenant.encode()) + len(self.body)


class Logged(NamedTuple):
    """One good record, and where it ends in its segment (bytes)."""

    seq: int
    entry: Entry
    end: int


class DamageKind(StrEnum):
    """Why some bytes of a segment are no record."""

    TORN = "torn"
    """An unfinished record, or zeros, at the end: a crash came before it was acknowledged."""
    CORRUPT = "corrupt"
    """Bytes that changed after they were written."""


class Damage(NamedTuple):
    """Bytes of a segment, from `start` to `end`, that are no record."""

    kind: DamageKind
    start: int
    end: int


def record_header(entry: Entry, seq: int) -> bytes:
    """Return what stands before an entry's body in its record."""
    tenant = entry.tenant.encode()
    rest = _REST.pack(
        len(entry.body),
        seq,
        entry.received_ns,
        _SIGNALS[entry.signal],
        _ENCODINGS[entry.encoding],
        entry.has_rejects,
        len(tenant),
    )
    checksum = google_crc32c.extend(google_crc32c.value(rest + tenant), entry.body)
    return _CHECKSUM.pack(MAGIC, checksum) + rest + tenant


def read_segment(content: bytes) -> Iterator[Logged | Damage]:
    """Return the records of a segment in order, and the damaged stretches between them."""
    start = 0
    while start < len(content):
        logged = _record_at(content, start)
        if logged is None:
            end = _next_record(content, start + 1)
            yield Damage(_damage_kind(content, start, end), start, end)
            start = end
        else:
            yield logged
            start = logged.end


def _record_at(content: bytes, start: int) -> Logged | None:
    body_start = start + HEADER_BYTES
    if body_start > len(content) or content[start : start + len(MAGIC)] != MAGIC:
        return None
    _, checksum = _CHECKSUM.unpack_from(content, start)
    length, seq, received_ns, signal, encoding, has_rejects, tenant_length = _rest_at(
        content, start
    )
    end = body_start + tenant_length + length
    covered = content[start + _CHECKSUM.size : end]
    if end > len(content) or google_crc32c.value(covered) != checksum:
        return None
    tenant = content[body_start : body_start + tenant_length].decode()
    body = content[body_start + tenant_length : end]
    entry = Entry(
        received_ns, _SIGNAL_OF[signal], _ENCODING_OF[encoding], tenant, has_rejects, body
    )
    return Logged(seq, entry, end)


def _rest_at(content: bytes, start: int) -> tuple[int, int, int, int, int, bool, int]:
    return _REST.unpack_from(content, start + _CHECKSUM.size)


def _next_record(content: bytes, start: int) -> int:
    """Return where the next good record starts, or the end of the segment."""
    found = content.find(MAGIC, start)
    while found >= 0 and _record_at(content, found) is None:
        found = content.find(MAGIC, found + 1)
    return found if found >= 0 else len(content)


def _damage_kind(content: bytes, start: int, end: int) -> DamageKind:
    if end == len(content) and (_is_unfinished(content, start) or not any(content[start:])):
        return DamageKind.TORN
    return DamageKind.CORRUPT


def _is_unfinished(content: bytes, start: int) -> bool:
    """Return whether a record begins here that would reach beyond the end of the segment."""
    left = len(content) - start
    if left < HEADER_BYTES:
        return MAGIC.startswith(content[start : start + min(left, len(MAGIC))])
    length, *_, tenant_length = _rest_at(content, start)
    begins = content.startswith(MAGIC, start)
    return begins and HEADER_BYTES + tenant_length + length > left


def segment_name(first_seq: int) -> str:
    """Return the file name of the segment whose first record has this number."""
    return f"{first_seq:020d}{SUFFIX}"


def first_seq(segment: Path) -> int:
    """Return the first sequence number that a segment can hold, from its name."""
    return int(segment.name.removesuffix(SUFFIX))
