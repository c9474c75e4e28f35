"""One collector's folder of log segments: its owner, and recovery after a crash.

The collector's id is the folder's name. A running collector holds a lock on `lock` inside, so two
collectors never write under one id. The second one on a lake takes another folder. The newest
segment is never removed, so its name gives the next sequence number even if everything has landed.

Foreign files in these folders, including links of any kind, are ignored. They are not logs or
segments under any name, and `lake verify` names them.
"""

import json
import logging
import os
import re
import secrets
import stat
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Final, Self

from tracegrade_collector.log import acknowledged, wal
from tracegrade_collector.log.acknowledged import Acknowledged, read_acknowledged
from tracegrade_collector.log.wal import Damage, DamageKind, RecordHeader
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
from tracegrade_lake.locks import LANDER_LOCK_NAME, FolderLock

LOCK_NAME = "lock"
OWNER_NAME = "owner.json"
LANDING_NAME = "landing.json"
"""Requests that the lander has in flight; `land/lander_deaths.py` writes it."""

OWN_NAMES: Final = frozenset(
    {LOCK_NAME, LANDER_LOCK_NAME, OWNER_NAME, LANDING_NAME, acknowledged.NAME}
)
COLLECTOR_ID: Final = re.compile(r"[0-9A-Za-z]+")
UNFINISHED: Final = re.compile(r"\..+\.unfinished")
TOKEN_BITS = 62
MAX_TOKENS = 1000  # one of them is in the table, unless so many starts never landed anything

logger = logging.getLogger(__name__)


class WalFolder:
    """The folder `<lake>/wal/<collector_id>/`."""

    def __init__(self, path: Path, lock: FolderLock | None = None) -> None:
        self.path = path
        self._lock = lock

    @property
    def collector_id(self) -> str:
        """The id of this collector's rows in the lake."""
        return self.path.name

    @classmethod
    def claim(cls, lake_root: Path) -> Self:
        """Return a folder that no running collector owns: the first free one, else a new one."""
        parent = lake_root / "wal"
        make_folder(parent)
        say_left_alone(cls.foreign_in(lake_root))
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
        with suppress(NotADirectoryError):
            return [path for path in folders_in(lake_root / "wal") if _is_log(path)]
        return []

    @staticmethod
    def foreign_in(lake_root: Path) -> list[Path]:
        """Return the foreign files next to the collectors' folders, sorted."""
        with suppress(FileNotFoundError, NotADirectoryError):
            return sorted(path for path in (lake_root / "wal").iterdir() if not _is_log(path))
        return []

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
        with ExitStack() as on_failure:
            on_failure.callback(claimed.close)
            if not claimed.seal():
                return None
            claimed.add_token()
            on_failure.pop_all()
        return claimed

    def tokens(self) -> tuple[int, ...]:
        """Return the random numbers of the last starts, the newest last; see `Owner`."""
        try:
            return tuple(json.loads((self.path / OWNER_NAME).read_bytes())["tokens"])
        except FileNotFoundError:
            return ()

    def add_token(self) -> None:
        """Note one more start, durably: a copy of this folder does not have it."""
        tokens = [*self.tokens(), secrets.randbits(TOKEN_BITS)][-MAX_TOKENS:]
        write_whole(self.path / OWNER_NAME, json.dumps({"tokens": tokens}).encode())

    def seal(self) -> bool:
        """Seal the newest segment of a dead collector; return whether anything is sealed now."""
        if self.segments():
            _, fd = self.create_segment(self.free_seq(self.recover()))
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
        with os.scandir(self.path) as found:
            return sorted(self.path / each.name for each in found if _is_segment(each))

    def foreign(self) -> list[Path]:
        """Return foreign entries of the folder, sorted."""
        with os.scandir(self.path) as found:
            return sorted(
                self.path / each.name
                for each in found
                if not _is_segment(each)
                and each.name not in OWN_NAMES
                and not UNFINISHED.fullmatch(each.name)
            )

    def acknowledged(self) -> dict[int, Acknowledged]:
        """Return how far segments were acknowledged, by first number, as far as that is known."""
        return read_acknowledged(self.path)

    def sealed_segments(self) -> list[Path]:
        """Return the segments that will not grow any more, oldest first: all but the newest.

        The folder is listed twice, because a listing is certain only for entries that existed when
        it began. Landing a segment before an older one that was overlooked would lose the older
        one.
        """
        newest = max(self.segments(), default=None)
        return [segment for segment in self.segments() if newest and segment < newest]

    def pending_bytes(self) -> int:
        """Return how much the log holds that has not landed."""
        return sum(map(size_of, self.segments()))

    def read_record_headers(self, *, readable_only: bool = False) -> Iterator[RecordHeader]:
        """Yield the headers of all records, oldest first; the log may grow and shrink.

        Args:
            readable_only: Skip segments that may not be read; else they are an error.
        """
        passed_over = (FileNotFoundError, PermissionError)[: 1 + readable_only]
        for segment in self.segments():
            with suppress(*passed_over), open(segment, "rb") as file:
                yield from wal.read_record_headers(file)

    def oldest_ns(self) -> int | None:
        """Return when the oldest record was received, nanoseconds since 1970; None if none is."""
        oldest = next(self.read_record_headers(), None)
        return oldest.received_ns if oldest else None

    def recover(self) -> int:
        """Cut a torn tail off the newest segment; return the next sequence number.

        Only the newest can be torn: a segment is sealed after its last sync. Acknowledged bytes
        are never cut. A segment with fewer bytes than were acknowledged is damaged and left to the
        lander.

        Raises:
            OtherVersion: A version that this code cannot read wrote it; it is unchanged.
        """
        known = self.acknowledged()
        numbers = [each.next_seq for each in known.values()]  # also of lost ones
        segments = self.segments()
        if not segments:
            return max([1, *numbers])
        newest = segments[-1]
        of_newest = known.get(wal.first_seq(newest))
        next_seq, good_bytes = wal.first_seq(newest), newest.stat().st_size
        with open(newest, "rb") as file:
            for found in wal.read_segment(file):
                if not isinstance(found, Damage):
                    next_seq = found.seq + 1
                elif found.kind is DamageKind.TORN and not _was_acknowledged(found, of_newest):
                    good_bytes = found.start
        _cut(newest, good_bytes)
        return max([next_seq, *numbers])

    def free_seq(self, seq: int) -> int:
        """Return the first number from this one on whose segment name nothing foreign has."""
        while _is_foreign(self.path / wal.segment_name(seq)):
            seq += 1
        return seq

    def create_segment(self, first_seq: int) -> tuple[Path, int]:
        """Return a new segment and a descriptor to append to it; its name is synced."""
        path = self.path / wal.segment_name(first_seq)
        # It exists only if nothing was ever logged in it, so it is taken over.
        fd = os.open(path, SEGMENT_FLAGS, FILE_MODE)
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


SEGMENT_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


def say_left_alone(paths: Iterable[Path]) -> None:
    """Log a foreign entry, once per process."""
    for path in paths:
        _say_left_alone(path)


@cache
def _say_left_alone(path: Path) -> None:
    logger.warning("%s is not of the log and is left alone; move it elsewhere", path)


def _is_log(path: Path) -> bool:
    """Return whether an entry of `wal/` is a collector's folder, and not a link."""
    return bool(COLLECTOR_ID.fullmatch(path.name)) and path.is_dir() and not path.is_symlink()


def _is_segment(entry: "os.DirEntry[str]") -> bool:
    return bool(wal.SEGMENT_NAME.fullmatch(entry.name)) and entry.is_file(follow_symlinks=False)


def _is_foreign(path: Path) -> bool:
    """Return whether a foreign entry has a segment's name."""
    try:
        return not stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def _was_acknowledged(damage: Damage, known: Acknowledged | None) -> bool:
    return known is not None and damage.start < known.size


def _cut(segment: Path, good_bytes: int) -> None:
    """Keep the first bytes of a segment, and sync them."""
    fd = os.open(segment, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.ftruncate(fd, good_bytes)
        sync_data(fd)
    finally:
        os.close(fd)
