"""Bytes that could not be understood, kept where only the owner reads them: `<lake>/quarantine/`.

A refused request is not sent again, so these files are all that remains of it. They hold content
nobody has redacted, hence 0700 and 0600. Their total is limited.
"""

import itertools
import time
from pathlib import Path

from tracegrade_collector.files import FOLDER_MODE, write_whole
from tracegrade_collector.ledger import Undecodable
from tracegrade_collector.otlp import Encoding, Signal
from tracegrade_collector.wal import SUFFIX

FOLDER = "quarantine"
_FILE_ENDING = {Encoding.PROTOBUF: "pb", Encoding.JSON: "json"}


class Quarantine:
    """The folder, up to a total size."""

    def __init__(self, lake_root: Path, collector_id: str, max_bytes: int) -> None:
        self._path = lake_root / FOLDER
        self.collector_id = collector_id
        self._max_bytes = max_bytes
        self._numbers = itertools.count()
        self._path.mkdir(mode=FOLDER_MODE, exist_ok=True)
        self._undecodable = Undecodable(lake_root, collector_id)
        self._bytes = sum(file.stat().st_size for file in self._path.glob("[!.]*"))

    def keep_request(self, body: bytes, signal: Signal, encoding: Encoding) -> bool:
        """Keep a request that cannot be decoded; return whether there was room."""
        name = f"{time.time_ns()}-{next(self._numbers)}-{signal}.{_FILE_ENDING[encoding]}"
        kept = self._keep(name, body)
        self._undecodable.add(signal)
        return kept

    def keep_logged(self, seq: int, body: bytes, encoding: Encoding) -> bool:
        """Keep a request that was accepted but cannot land; return whether there was room."""
        return self._keep(f"{seq}.{_FILE_ENDING[encoding]}", body)

    def keep_damage(self, segment: Path, start: int, content: bytes) -> bool:
        """Keep the damaged bytes of a log segment; return whether there was room."""
        return self._keep(f"{segment.stem}-{start}{SUFFIX}", content)

    def _keep(self, name: str, content: bytes) -> bool:
        if self._bytes + len(content) > self._max_bytes:
            return False
        write_whole(self._path / f"{self.collector_id}-{name}", content)
        self._bytes += len(content)
        return True
