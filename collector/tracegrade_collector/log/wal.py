"""The write-ahead log on disk: the layout of a record, and reading a segment file.

A segment is a file of records, one per accepted request, named for the first sequence number it
can hold (`00000000000000000042.wal`). A record is

    magic | CRC32C of the header | body length | sequence | receive time | CRC32C of the rest
          | items | signal | encoding | flags | tenant length | tenant | body

in little-endian order. The header ends with the tenant's length, the rest is tenant and body. The
flags say whether items were refused (1), and whether values have to be replaced (2). The
body is the request as received, after decompression; only the parser that accepted it has
interpreted it.

A crash can leave half a record at the end of a segment. Such a torn record is cut, because it was
never acknowledged. A disk can damage any record. Such a corrupt record is set aside, and the next
good one is found by magic and checksum. The header has its own checksum, because only a correct
length distinguishes an unfinished record from a damaged one. Writing is in `wal_writer`, the
folder of segments in `wal_folder`.
"""

import os
import re
import struct
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, NamedTuple

import google_crc32c

from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.errors import CollectorError

FAMILY = b"TGr"
MAGIC = FAMILY + b"2"  # the digit is the version of the format
_CHECKSUM = struct.Struct("<4sI")
_REST = struct.Struct("<QQQIIBBBH")
_HAS_REJECTS, _IS_REPAIRED = 1, 2
HEADER_BYTES = _CHECKSUM.size + _REST.size
SUFFIX = ".wal"
SEGMENT_NAME = re.compile(r"00[0-9]{18}\.wal")
"""Names of segments; larger numbers would not fit into a table's log."""

SCAN_BYTES = 1 << 20

_SIGNALS = {Signal.TRACES: 1, Signal.LOGS: 2}
_ENCODINGS = {Encoding.PROTOBUF: 1, Encoding.JSON: 2}
_SIGNAL_OF = {number: signal for signal, number in _SIGNALS.items()}
_ENCODING_OF = {number: encoding for encoding, number in _ENCODINGS.items()}


class OtherVersion(CollectorError):
    """A segment was written by a version whose records this one cannot read."""


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

    items: int
    """How many spans or log records it holds, refused ones too; the lander accounts for each."""

    is_repaired: bool = False
    """Whether some of its values cannot be stored unchanged; the lander replaces them."""

    @property
    def size(self) -> int:
        """Bytes that its record will take."""
        return HEADER_BYTES + len(self.tenant.encode()) + len(self.body)


class Header(NamedTuple):
    """The part of a record before tenant and body."""

    length: int
    """Bytes of the body."""

    seq: int
    received_ns: int
    checksum: int
    items: int
    signal: int
    encoding: int
    flags: int
    tenant_length: int

    @property
    def record_bytes(self) -> int:
        """Bytes of the whole record."""
        return HEADER_BYTES + self.tenant_length + self.length


class Logged(NamedTuple):
    """One good record, and where it ends in its segment (bytes)."""

    seq: int
    entry: Entry
    end: int


class DamageKind(StrEnum):
    """Why some bytes of a segment are not a record."""

    TORN = "torn"
    """An unfinished record, or zeros, at the end: a crash came before it was acknowledged."""
    CORRUPT = "corrupt"
    """Bytes that changed after they were written, or may have."""


class Damage(NamedTuple):
    """Bytes of a segment, from `start` to `end`, that are not a record."""

    kind: DamageKind
    start: int
    end: int


class RecordHeader(NamedTuple):
    """Content of a record's header."""

    seq: int
    received_ns: int
    signal: Signal
    items: int


def record_header(entry: Entry, seq: int) -> bytes:
    """Return the bytes that precede an entry's body in its record."""
    tenant = entry.tenant.encode()
    rest = _REST.pack(
        len(entry.body),
        seq,
        entry.received_ns,
        google_crc32c.extend(google_crc32c.value(tenant), entry.body),
        entry.items,
        _SIGNALS[entry.signal],
        _ENCODINGS[entry.encoding],
        _HAS_REJECTS * entry.has_rejects | _IS_REPAIRED * entry.is_repaired,
        len(tenant),
    )
    return _CHECKSUM.pack(MAGIC, google_crc32c.value(rest)) + rest + tenant


def read_segment(file: BinaryIO) -> Iterator[Logged | Damage]:
    """Return the records of a segment in order, and the damaged stretches between them.

    One record at a time is in memory.

    Raises:
        OtherVersion: The records are of an unknown version.
    """
    size = file.seek(0, os.SEEK_END)
    start = 0
    while start < size:
        logged = _record_at(file, start, size)
        if logged is None:
            end = _end_of_damage(file, start, size)
            yield Damage(_damage_kind(file, start, end, size), start, end)
            start = end
        else:
            yield logged
            start = logged.end


def read_record_headers(file: BinaryIO) -> Iterator[RecordHeader]:
    """Return the headers of a segment's good records, without reading the bodies."""
    start, size = 0, file.seek(0, os.SEEK_END)
    while start < size:
        header = _header_at(file, start)
        if header and start + header.record_bytes <= size:
            yield RecordHeader(
                header.seq, header.received_ns, _SIGNAL_OF[header.signal], header.items
            )
            start += header.record_bytes
        else:
            start = _end_of_damage(file, start, size)


def read_at(file: BinaryIO, start: int, length: int) -> bytes:
    """Return bytes of a file; fewer at its end."""
    file.seek(start)
    return file.read(length)


def _record_at(file: BinaryIO, start: int, size: int) -> Logged | None:
    header = _header_at(file, start)
    if header is None or start + header.record_bytes > size:
        return None
    content = read_at(file, start + HEADER_BYTES, header.tenant_length + header.length)
    if google_crc32c.value(content) != header.checksum:
        return None
    entry = Entry(
        header.received_ns,
        _SIGNAL_OF[header.signal],
        _ENCODING_OF[header.encoding],
        content[: header.tenant_length].decode(),
        bool(header.flags & _HAS_REJECTS),
        content[header.tenant_length :],
        header.items,
        bool(header.flags & _IS_REPAIRED),
    )
    return Logged(header.seq, entry, start + header.record_bytes)


def _header_at(file: BinaryIO, start: int) -> Header | None:
    """Return the header if one begins here and is undamaged."""
    header = read_at(file, start, HEADER_BYTES)
    if len(header) < HEADER_BYTES:
        return None
    if not header.startswith(MAGIC) or not _is_undamaged(header):
        return None
    return Header(*_REST.unpack_from(header, _CHECKSUM.size))


def _is_undamaged(header: bytes) -> bool:
    """Return whether a header matches its checksum, with any magic."""
    _, checksum = _CHECKSUM.unpack_from(header)
    return bool(google_crc32c.value(header[_CHECKSUM.size :]) == checksum)


def _end_of_damage(file: BinaryIO, start: int, size: int) -> int:
    """Return the position where reading continues after bytes that are not a good record.

    A good header has the length of its record. Its content is not searched, so no client can
    smuggle records into the log.
    """
    header = _header_at(file, start)
    if header:
        return min(start + header.record_bytes, size)
    return _next_record(file, start + 1, size)


def _next_record(file: BinaryIO, start: int, size: int) -> int:
    """Return where the next good record starts, or the end of the segment."""
    for scanned in range(start, size, SCAN_BYTES):
        piece = read_at(file, scanned, SCAN_BYTES + len(MAGIC) - 1)
        found = piece.find(MAGIC)
        while found >= 0:
            if _record_at(file, scanned + found, size):
                return scanned + found
            found = piece.find(MAGIC, found + 1)
    return size


def _damage_kind(file: BinaryIO, start: int, end: int, size: int) -> DamageKind:
    if end < size:
        return DamageKind.CORRUPT
    begin = read_at(file, start, HEADER_BYTES)
    if _is_of_other_version(begin):
        magic = begin[: len(MAGIC)].decode()
        msg = f"{_name(file)} was written by another version ({magic}); land it with that"
        raise OtherVersion(msg)
    if not any(begin) and _is_zero(file, start, size):
        return DamageKind.TORN
    return DamageKind.TORN if _is_unfinished(file, start, begin, size) else DamageKind.CORRUPT


def _is_of_other_version(begin: bytes) -> bool:
    """Return whether a record's magic has another version digit, and not by a flipped bit."""
    magic = begin[: len(MAGIC)]
    is_other = magic[:-1] == FAMILY and magic[-1:].isdigit() and magic != MAGIC
    return is_other and not (len(begin) == HEADER_BYTES and _is_undamaged(begin))


def _is_unfinished(file: BinaryIO, start: int, begin: bytes, size: int) -> bool:
    """Return whether a record begins here that would reach beyond the end of the segment."""
    if len(begin) < HEADER_BYTES:
        return MAGIC.startswith(begin[: len(MAGIC)])
    header = _header_at(file, start)
    return header is not None and start + header.record_bytes > size


def _is_zero(file: BinaryIO, start: int, size: int) -> bool:
    return not any(
        any(read_at(file, offset, SCAN_BYTES)) for offset in range(start, size, SCAN_BYTES)
    )


def _name(file: BinaryIO) -> str:
    return str(getattr(file, "name", "a segment"))


def segment_name(first_seq: int) -> str:
    """Return the file name of the segment whose first record has this number."""
    return f"{first_seq:020d}{SUFFIX}"


def first_seq(segment: Path) -> int:
    """Return the first sequence number that a segment can hold, from its name."""
    return int(segment.name.removesuffix(SUFFIX))
