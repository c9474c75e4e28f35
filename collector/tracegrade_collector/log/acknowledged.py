"""The file `acknowledged`: the byte up to which each segment of a log was acknowledged.

A crash may leave half a record at the end of the log. It is cut, because it was never
acknowledged. If a disk loses the end of acknowledged data, the log looks the same; this file
distinguishes the two cases. It is written after each sync of the log and not synced itself. So
after a power cut it may be behind the log, but never ahead: it lists only acknowledged bytes.

It holds one entry per segment, little-endian: first sequence number, size in bytes, next sequence
number, CRC32C of these. An entry with a wrong checksum is ignored.
"""

import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import google_crc32c

from tracegrade_lake.files import FILE_MODE

NAME: Final = "acknowledged"
_NUMBERS: Final = struct.Struct("<QQQ")
_CHECKSUM: Final = struct.Struct("<I")
ENTRY_BYTES: Final = _NUMBERS.size + _CHECKSUM.size


class Acknowledged(NamedTuple):
    """The part of one segment that is known to be acknowledged."""

    first_seq: int
    """The number in the segment's name."""

    size: int
    """Size in bytes; all were synced."""

    next_seq: int
    """One more than the number of the last record in them."""

    @property
    def requests(self) -> int:
        """Number of records in these bytes; numbers within a segment have no gaps."""
        return self.next_seq - self.first_seq

    def lost(self, good: int) -> int:
        """Return how many acknowledged records a segment lacks that has so many good ones."""
        return max(0, self.requests - good)


def read_acknowledged(folder: Path) -> dict[int, Acknowledged]:
    """Return the known part of each segment in a log's folder, by its first sequence number."""
    try:
        content = (folder / NAME).read_bytes()
    except OSError:
        return {}
    places = range(0, len(content) - ENTRY_BYTES + 1, ENTRY_BYTES)
    entries = [_unpacked(content[start : start + ENTRY_BYTES]) for start in places]
    return {entry.first_seq: entry for entry in entries if entry}


class AcknowledgedFile:
    """The file as the writer of the log keeps it; it never fails, it only lags."""

    def __init__(self, folder: Path) -> None:
        """Continue from the earlier state."""
        self._entries = read_acknowledged(folder)
        self._path = folder / NAME
        self._fd: int | None = None
        self._offset = 0
        self._first_seq = 0

    def begin(self, first_seq: int, others: Iterable[int]) -> None:
        """Begin the entry of a new segment, and forget segments that are not among the others."""
        entries = [self._entries[each] for each in others if each in self._entries]
        self._entries = {
            entry.first_seq: entry for entry in entries if entry.first_seq != first_seq
        }
        content = b"".join(map(_packed, self._entries.values()))
        self._first_seq, self._offset = first_seq, len(content)
        with suppress(OSError):
            if self._fd is None:
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
                self._fd = os.open(self._path, flags, FILE_MODE)
            os.pwrite(self._fd, content, 0)
            os.ftruncate(self._fd, len(content))

    def add(self, size: int, next_seq: int) -> None:
        """Note that so much of the segment, up to the record before `next_seq`, is synced."""
        entry = Acknowledged(self._first_seq, size, next_seq)
        self._entries[self._first_seq] = entry
        if self._fd is not None:
            with suppress(OSError):
                os.pwrite(self._fd, _packed(entry), self._offset)

    def close(self) -> None:
        """Close the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _packed(entry: Acknowledged) -> bytes:
    numbers = _NUMBERS.pack(*entry)
    return numbers + _CHECKSUM.pack(google_crc32c.value(numbers))


def _unpacked(content: bytes) -> Acknowledged | None:
    numbers = content[: _NUMBERS.size]
    if _CHECKSUM.pack(google_crc32c.value(numbers)) != content[_NUMBERS.size :]:
        return None
    return Acknowledged(*_NUMBERS.unpack(numbers))
