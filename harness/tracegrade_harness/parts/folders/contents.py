"""Digests of files, folders and links: kind, permissions and content.

Times and owners do not count, so writing the same bytes again changes nothing.
"""

import errno
import os
import stat
from collections.abc import Iterator

from xxhash import xxh3_128

from tracegrade_harness.parts.folders.walk import WalkedFile, regular_file
from tracegrade_harness.parts.names import path_text

_BLOCK = 256 << 10
_ZEROS = bytes(_BLOCK)
_OTHER_KINDS = {
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFBLK: "device",
    stat.S_IFCHR: "device",
}


def entry_digest(entry: WalkedFile) -> str:
    """Return the kind of an entry, its permissions and a digest of its content.

    Raises:
        FileNotFoundError: It was removed.
        OSError: The device failed.
    """
    kind, mode = stat.S_IFMT(entry.info.st_mode), f"{stat.S_IMODE(entry.info.st_mode):04o}"
    if kind == stat.S_IFLNK:
        return f"link {path_text(os.readlink(entry.name, dir_fd=entry.folder))}"
    if kind == stat.S_IFDIR:
        return f"folder {mode} {entry.unread}".rstrip()
    if kind == stat.S_IFREG:
        return f"file {mode} {_file_digest(entry)}"
    return f"{_OTHER_KINDS.get(kind, 'special')} {mode}"


def data_ranges(file: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of a file's data; holes between them read as zeros."""
    size, at = os.fstat(file).st_size, 0
    while at < size:
        try:
            start = os.lseek(file, at, os.SEEK_DATA)
            at = min(os.lseek(file, start, os.SEEK_HOLE), size)
        except OSError as error:
            if (
                error.errno != errno.ENXIO
            ):  # not "no more data": this file system does not report holes
                yield at, size
            return
        yield start, at


def _file_digest(entry: WalkedFile) -> str:
    try:
        with regular_file(entry.folder, entry.name) as file:
            return _content_digest(file)
    except PermissionError:
        return f"unreadable {entry.info.st_size}"


def _content_digest(file: int) -> str:
    """Return a digest that does not depend on whether zeros are stored or are holes."""
    size = os.fstat(file).st_size
    digest, next_block = xxh3_128(b"%d" % size), 0
    for start, end in data_ranges(file):
        for block in range(max(start // _BLOCK, next_block), -(-end // _BLOCK)):
            content = os.pread(file, min(_BLOCK, size - block * _BLOCK), block * _BLOCK)
            if content != _ZEROS[: len(content)]:
                digest.update(b"%20d" % block)
                digest.update(content)
            next_block = block + 1
    return digest.hexdigest()
