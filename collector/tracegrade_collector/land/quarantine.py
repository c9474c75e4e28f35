"""Undecodable bytes, stored where only their owner can read them: `<lake>/quarantine/`.

A refused request is not sent again, so these files are its only copy. They hold content that is
not redacted, so their modes are 0700 and 0600, and they expire. Their share of the disk is
limited.
"""

import itertools
import time
from pathlib import Path

from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.land.folder_room import FolderRoom
from tracegrade_collector.log.ledger import UndecodableCounts
from tracegrade_collector.log.wal import SUFFIX
from tracegrade_lake.files import make_folder, write_whole

FOLDER = "quarantine"
TIDY_EVERY_SECS = 600.0
SECS_PER_DAY = 86_400
_FILE_ENDING = {Encoding.PROTOBUF: "pb", Encoding.JSON: "json"}


class Quarantine:
    """The folder, up to a total size."""

    def __init__(self, lake_root: Path, collector_id: str, max_bytes: int) -> None:
        self._path = lake_root / FOLDER
        self.collector_id = collector_id
        self._room = FolderRoom(self._path, max_bytes)
        self._numbers = itertools.count()
        make_folder(self._path)
        self._undecodable = UndecodableCounts(lake_root, collector_id)
        self._tidy_at = 0.0

    def keep_request(self, body: bytes, signal: Signal, encoding: Encoding) -> bool:
        """Keep a request that cannot be decoded; return whether there was room."""
        name = f"{time.time_ns()}-{next(self._numbers)}-{signal}.{_FILE_ENDING[encoding]}"
        has_room = self._keep(name, body)
        self._undecodable.add(signal)
        return has_room

    def keep_logged(self, seq: int, body: bytes, encoding: Encoding) -> bool:
        """Keep a request that was accepted but cannot land; return whether there was room."""
        return self._keep(f"{seq}.{_FILE_ENDING[encoding]}", body)

    def keep_damage(self, segment: Path, start: int, content: bytes) -> bool:
        """Keep the damaged bytes of a log segment; return whether there was room."""
        return self._keep(f"{segment.stem}-{start}{SUFFIX}", content)

    def _keep(self, name: str, content: bytes) -> bool:
        if not self._room.has_room_for(len(content)):
            return False
        write_whole(self._path / f"{self.collector_id}-{name}", content)
        self._room.add(len(content))
        return True

    def remove_older(self, days: float) -> None:
        """Remove files that have been here for so many days; looks every ten minutes only."""
        if time.monotonic() < self._tidy_at:
            return
        self._tidy_at = time.monotonic() + TIDY_EVERY_SECS
        oldest = time.time() - days * SECS_PER_DAY
        for path, status in self._room.files():
            if status.st_mtime < oldest:
                path.unlink(missing_ok=True)
