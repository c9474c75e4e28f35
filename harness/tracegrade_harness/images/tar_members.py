"""Reads the headers of a tar archive one by one, and refuses broken and oversized headers."""

import tarfile
from collections.abc import Iterator
from typing import IO, Any, Final

from tracegrade_harness.errors import ImageRefused
from tracegrade_harness.images.limits import ImageLimits

_BLOCK: Final = 512
_EXTENDED: Final = frozenset(
    {
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    }
)
"""Types of headers whose content `tarfile` reads into memory."""


def members(file: IO[bytes], limits: ImageLimits) -> Iterator[tarfile.TarInfo]:
    """Yield the members of an archive without compression.

    Args:
        file: The archive, at any position.
        limits: Most entries, and the largest header.

    Raises:
        ImageRefused: A header is broken or too large, or there are too many.
    """
    file.seek(0)
    most = limits.header_bytes

    class Header(_Header):
        most_bytes = most

    try:
        with tarfile.TarFile(fileobj=file, tarinfo=Header) as archive:
            number = 0
            while (member := archive.next()) is not None:
                number += 1
                if number > limits.entries:
                    msg = f"the archive has more than {limits.entries} entries; make it smaller"
                    raise ImageRefused(msg)
                yield member
                archive.members = []  # type: ignore[attr-defined]  # else all stay in memory
            _check_end(file, archive.offset)
    except (tarfile.TarError, ValueError, OverflowError, RecursionError) as error:
        msg = f"the archive has a broken header: {error}; save the image again"
        raise ImageRefused(msg) from error


class _Header(tarfile.TarInfo):
    """A header that refuses extended headers of more than some bytes."""

    most_bytes = 0

    def _proc_member(self, archive: tarfile.TarFile) -> Any:
        if self.type in _EXTENDED and not 0 <= self.size <= self.most_bytes:
            msg = f"an extended header of {self.size} bytes"
            raise tarfile.ReadError(msg)
        return super()._proc_member(archive)  # type: ignore[misc]


def _check_end(file: IO[bytes], at: int) -> None:
    """Refuse an archive in which `tarfile` stopped before the end, since it ignores bad headers.

    Raises:
        ImageRefused: A block follows that is neither empty nor a header.
    """
    file.seek(at)
    if file.read(_BLOCK).strip(b"\0"):
        msg = f"the archive has a broken header at byte {at}; save the image again"
        raise ImageRefused(msg)
