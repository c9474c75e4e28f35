"""One collector's folder of log segments: who owns it, and what a crash left in it.

The collector's id is the folder's name. A running collector holds a lock on `lock` inside, so no
two ever write under one id: the second one on a lake takes another folder. The newest segment is
never removed, so its name remembers the next sequence number even when everything has landed.
"""

import json
import os
import secrets
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from tracegrade_collector.log import wal
from tracegrade_collector.log.wal import Damage, DamageKind, Glance
from tracegrade_lake.crash_points import reach
from tracegrade_lake.files import (
    FILE_MODE,
    folders_in,
    make_folder,
    size_of,
    sync_data,
    sync_folder,
    write_whole,
)
from tracegrade_lake.locks import FolderLock

LOCK_NAME = "lock"
OWNER_NAME = "owner.json"
TOKEN_BITS = 62
MAX_TOKENS = 1000  # one of them is in the table, unless so many starts never landed anything


class WalFolder:
    """The folder `<lake>/wal/<collector_id>/`."""

    def __init__(self, path: Path, lock: FolderLock | None = None) -> None:
        self.path = path
        self._lock = lock

    @property
    def collector_id(self) -> str:
        """The id under which this collector's rows stand in the lake."""
        return self.path.name

    @classmethod
    def claim(cls, lake_root: Path) -> Self:
        """Return a folder that no running collector owns: the first free one, else a new one."""
        parent = lake_root / "wal"
        make_folder(parent)
        for path in cls.all_in(lake_root):
            claimed = cls._try_claim(path)
            if claimed:
                break
        else:
            path = parent / uuid.uuid4().hex[:12]
            make_folder(path)
            claimed = cls._try_claim(path)
        if not claimed:
            return cls.claim(lake_root)  # another one took it between the two lines
        claimed.add_token()
        for folder in (
            parent,
            lake_root,
        ):  # a process that died may have created them without syncing
            sync_folder(folder)
        return claimed

    @staticmethod
    def all_in(lake_root: Path) -> list[Path]:
        """Return the folders of all collectors, sorted."""
        return folders_in(lake_root / "wal")

    @classmethod
    def claim_orphans(cls, lake_root: Path) -> Iterator[Self]:
        """Yield folders of collectors that died with records to land, each sealed and claimed."""
        for path in cls.all_in(lake_root):
            claimed = cls.claim_orphan(path)
            if claimed:
                yield claimed

    @classmethod
    def claim_orphan(cls, path: Path) -> Self | None:
        """Return the folder of a collector that died with records to land, sealed; else None."""
        claimed = cls._try_claim(path)
        if claimed is None:
            return None
        with ExitStack() as unless_kept:
            unless_kept.callback(claimed.close)
            if not claimed.seal():
                return None
            claimed.add_token()
            unless_kept.pop_all()
        return claimed

    def tokens(self) -> tuple[int, ...]:
        """Return the random numbers of the last starts, the newest last; see `Owner`."""
        try:
            return tuple(json.loads((self.path / OWNER_NAME).read_bytes())["tokens"])
        except FileNotFoundError:
            return ()

    def add_token(self) -> None:
        """Note one more start, durably: a copy of this folder does not know of it."""
        tokens = [*self.tokens(), secrets.randbits(TOKEN_BITS)][-MAX_TOKENS:]
        write_whole(self.path / OWNER_NAME, json.dumps({"tokens": tokens}).encode())

    def seal(self) -> bool:
        """Seal the newest segment of a dead collector; return whether anything is sealed now."""
        if self.segments():
            _, fd = self.create_segment(self.recover())
            os.close(fd)
        return bool(self.sealed_segments())

    @classmethod
    def _try_claim(cls, path: Path) -> Self | None:
        lock = FolderLock(path / LOCK_NAME)
        if lock.try_acquire():
            return cls(path, lock)
        lock.close()
        return None

    def segments(self) -> list[Path]:
        """Return all segments, oldest first.

        Raises:
            FileNotFoundError: The folder was removed, and with it what had not landed.
        """
        return sorted(path for path in self.path.iterdir() if path.suffix == wal.SUFFIX)

    def sealed_segments(self) -> list[Path]:
        """Return the segments that will not grow any more, oldest first: all but the newest.

        Listed twice: a listing shows for certain only what was there when it began, and landing a
        segment before an older one that was overlooked would lose the older one.
        """
        newest = max(self.segments(), default=None)
        return [segment for segment in self.segments() if newest and segment < newest]

    def pending_bytes(self) -> int:
        """Return how much the log holds that has not landed."""
        return sum(map(size_of, self.segments()))

    def glance_over(self) -> Iterator[Glance]:
        """Yield what the headers of all records say, oldest first; the log may grow and shrink."""
        for segment in self.segments():
            with suppress(FileNotFoundError), open(segment, "rb") as file:
                yield from wal.glance_over(file)

    def oldest_ns(self) -> int | None:
        """Return when the oldest record was received, nanoseconds since 1970; None if none is."""
        oldest = next(self.glance_over(), None)
        return oldest.received_ns if oldest else None

    def recover(self) -> int:
        """Cut a torn tail off the newest segment; return the next sequence number.

        Only the newest can be torn: a segment is sealed after its last sync.

        Raises:
            OtherVersion: It was written by a version that we cannot read; it is left as it is.
        """
        segments = self.segments()
        if not segments:
            return 1
        newest = segments[-1]
        next_seq, good_bytes = wal.first_seq(newest), newest.stat().st_size
        with open(newest, "rb") as file:
            for found in wal.read_segment(file):
                if not isinstance(found, Damage):
                    next_seq = found.seq + 1
                elif found.kind is DamageKind.TORN:
                    good_bytes = found.start
        _cut(newest, good_bytes)
        return next_seq

    def create_segment(self, first_seq: int) -> tuple[Path, int]:
        """Return a new segment and a file descriptor to append to it; its name is on the disk."""
        path = self.path / wal.segment_name(first_seq)
        # It exists only if nothing was ever logged in it, so it is taken over.
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, FILE_MODE)
        reach("segment_created")
        try:
            sync_folder(self.path)
        except OSError:
            os.close(fd)
            raise
        reach("segment_named")
        return path, fd

    def remove(self, segments: list[Path]) -> None:
        """Remove segments whose records are all in the lake."""
        for segment in segments:
            segment.unlink(missing_ok=True)
            reach("segment_removed")

    def close(self) -> None:
        """Give the folder back."""
        if self._lock:
            self._lock.close()


def _cut(segment: Path, good_bytes: int) -> None:
    """Keep the first bytes of a segment, and see to it that they are on the disk."""
    fd = os.open(segment, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.ftruncate(fd, good_bytes)
        sync_data(fd)
    finally:
        os.close(fd)
