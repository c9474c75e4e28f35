"""Appends requests to the write-ahead log; a request is answered only after its bytes are synced.

One thread owns the open segment. It takes all waiting entries, writes them with one call, syncs
once, and then resolves their futures (group commit). The more entries wait, the less each one
costs.

A write or a sync that fails poisons the segment. After a failed sync the kernel may have dropped
the bytes and will report success the next time, so a sync is never repeated. The requests fail,
the segment is cut back to its safe part, and later requests go to a new segment.
"""

import asyncio
import contextlib
import logging
import os
import queue
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

from tracegrade_collector.errors import CollectorError, Unavailable
from tracegrade_collector.log import wal
from tracegrade_collector.log.acknowledged import AcknowledgedFile
from tracegrade_collector.log.wal import Entry
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_lake.crash_points import reach
from tracegrade_lake.files import sync_data

MAX_BATCH_BYTES = 8 << 20  # a batch is in memory anyway; more would only delay its first request
MAX_BUFFERS = 1000  # the kernel takes 1024 at a time (IOV_MAX)
PAUSE_AFTER_FAILURE_SECS = 1.0  # at most one new segment per second while the disk fails
PROBE_BYTES = 64 << 10  # a disk that takes less counts as full

logger = logging.getLogger(__name__)


class LogUnavailable(Unavailable):
    """The log could not make a request durable; it is not in it."""


class _Waiting(NamedTuple):
    entry: Entry
    synced: asyncio.Future[int]


class WalWriter:
    """The thread that appends to the log."""

    def __init__(
        self, folder: WalFolder, next_seq: int, *, max_bytes: int, max_age_secs: float
    ) -> None:
        """Open a new segment, which is sealed at `max_bytes` or `max_age_secs`; start the thread.

        Raises:
            OSError: The segment cannot be created.
        """
        self._segments = _Segments(folder, next_seq, max_bytes, max_age_secs)
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="wal", daemon=True)
        self._thread.start()

    async def append(self, entry: Entry) -> int:
        """Return the entry's sequence number once it is on the disk.

        Raises:
            LogUnavailable: It is not, and will not be found in the log.
        """
        synced: asyncio.Future[int] = self._loop.create_future()
        self._waiting.put(_Waiting(entry, synced))
        return await synced

    async def close(self) -> None:
        """Write what waits, seal the segment, and end the thread."""
        self._waiting.put(None)
        await asyncio.to_thread(self._thread.join)

    @property
    def is_failing(self) -> bool:
        """Whether the last attempt to make something durable failed; the thread tries again."""
        return self._segments.is_failing

    def _run(self) -> None:
        try:
            self._write_until_closed()
        except BaseException:  # no client would get a response again; logged data is safe
            logger.critical("the log writer failed; the collector exits", exc_info=True)
            os._exit(CollectorError.exit_code)

    def _write_until_closed(self) -> None:
        closing = False
        while not closing:
            batch, closing = self._next_batch()
            if batch:
                self._commit(batch)
            self._segments.probe_if_due()
            self._segments.rotate_if_due()
        self._segments.close()

    def _next_batch(self) -> tuple[list[_Waiting], bool]:
        """Return what waits, as far as one batch goes, and whether `close` was called."""
        batch: list[_Waiting] = []
        batch_bytes = 0
        with contextlib.suppress(queue.Empty):
            waiting = self._waiting.get(timeout=self._segments.secs_until_due)
            while waiting is not None:
                batch.append(waiting)
                batch_bytes += waiting.entry.size
                if batch_bytes >= MAX_BATCH_BYTES:
                    return batch, False
                waiting = self._waiting.get_nowait()
            return batch, True
        return batch, False

    def _commit(self, batch: list[_Waiting]) -> None:
        try:
            first = self._segments.append([waiting.entry for waiting in batch])
        except OSError as error:
            logger.error("cannot write to the log: %s", error)
            failure = LogUnavailable(f"the log cannot be written: {error}; send it again later")
            self._loop.call_soon_threadsafe(_fail, batch, failure)
        else:
            self._loop.call_soon_threadsafe(_resolve, batch, first)


def _resolve(batch: list[_Waiting], first_seq: int) -> None:
    for seq, waiting in enumerate(batch, start=first_seq):
        if not waiting.synced.done():  # cancelled when its client went away
            waiting.synced.set_result(seq)
    reach("record_answered")


def _fail(batch: list[_Waiting], failure: LogUnavailable) -> None:
    for waiting in batch:
        if not waiting.synced.done():
            waiting.synced.set_exception(failure)


class _Segments:
    """The open segment and its successors; used by one thread."""

    def __init__(
        self, folder: WalFolder, next_seq: int, max_bytes: int, max_age_secs: float
    ) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._max_age_secs = max_age_secs
        self._next_seq = next_seq
        self._paused_until = 0.0
        self.is_failing = False
        self._fd: int | None = None
        self._acknowledged = AcknowledgedFile(folder.path)
        self._open()

    def _open(self) -> None:
        self._next_seq = self._folder.free_seq(self._next_seq)
        _, self._fd = self._folder.create_segment(self._next_seq)
        self._acknowledged.begin(self._next_seq, map(wal.first_seq, self._folder.segments()))
        self._size = os.fstat(self._fd).st_size
        self._started = 0.0

    @property
    def secs_until_due(self) -> float | None:
        """Seconds until there is something to do without new entries; None if there is nothing."""
        if self.is_failing:
            return max(0.0, self._paused_until - time.monotonic())
        if not self._started:
            return None
        return max(0.0, self._started + self._max_age_secs - time.monotonic())

    def append(self, entries: Sequence[Entry]) -> int:
        """Write and sync entries; return the first one's number.

        Raises:
            OSError: None of them is durable.
        """
        if self.is_failing:
            msg = "the disk failed a moment ago"
            raise OSError(msg)
        first = self._next_seq
        try:
            self._write(entries)
        except OSError:
            self._poison()
            raise
        return first

    def _write(self, entries: Sequence[Entry]) -> None:
        assert self._fd is not None  # noqa: S101 - only None while failing
        buffers: list[bytes] = []
        for entry in entries:
            buffers += (wal.record_header(entry, self._next_seq), entry.body)
            self._next_seq += 1
        _write_all(self._fd, buffers)
        reach("record_written")
        sync_data(self._fd)
        reach("record_synced")
        if not os.fstat(self._fd).st_nlink:  # writing succeeds, but no reader will find it
            msg = f"the segment was removed from {self._folder.path}; stop, and start again"
            raise OSError(msg)
        self._size += sum(map(len, buffers))
        self._acknowledged.add(self._size, self._next_seq)
        self._started = self._started or time.monotonic()

    def probe_if_due(self) -> None:
        """After a failure, find out whether the disk works again, in a new segment."""
        if not self.is_failing or self.secs_until_due:
            return
        try:
            self._open()
            self._try_out(self._fd)
        except OSError:
            self._poison()
        else:
            self.is_failing = False

    def _try_out(self, fd: int | None) -> None:
        """Write and sync zeros, which are a torn tail after a crash, and remove them."""
        assert fd is not None  # noqa: S101 - just opened
        _write_all(fd, [bytes(PROBE_BYTES)])
        sync_data(fd)
        os.ftruncate(fd, self._size)
        sync_data(fd)

    def _poison(self) -> None:
        self.is_failing = True
        self._paused_until = time.monotonic() + PAUSE_AFTER_FAILURE_SECS
        if self._fd is None:
            return
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, self._size)
        with contextlib.suppress(OSError):
            os.close(self._fd)
        self._fd = None
        self._started = 0.0

    def rotate_if_due(self) -> None:
        if not self.is_failing and (self._size >= self._max_bytes or self.secs_until_due == 0):
            self.seal()

    def close(self) -> None:
        """Seal the open segment; nothing more is written."""
        self.seal()
        self._acknowledged.close()

    def seal(self) -> None:
        """Start the next segment, which seals this one; an empty segment stays open."""
        if self._fd is None or not self._started:
            return
        sealed = self._fd
        try:
            self._open()
        except OSError as error:
            logger.error("cannot start a new segment, continuing with this one: %s", error)
            self._started = time.monotonic()
        else:
            os.close(sealed)
            reach("segment_sealed")


def _write_all(fd: int, buffers: Sequence[bytes]) -> None:
    for start in range(0, len(buffers), MAX_BUFFERS):
        some = buffers[start : start + MAX_BUFFERS]
        expected = sum(map(len, some))
        written = os.writev(fd, some)
        if written != expected:
            msg = f"{written} of {expected} bytes were written"
            raise OSError(msg)
