"""Copies files of a lake on an object store to this machine, to read them as local files.

An engine reads a Parquet file several times, with other columns each time, and by path several
times as fast as through Arrow. So work on a bucket always reads local files. Files of a lake on a
store are copied into a folder with the lake's own layout. Buckets of one process share the files.
Unused files are kept while there is room, since all buckets of a compacted date read all of that
date. The folder is removed with the process; the next process removes the folder of a killed one.
"""

import atexit
import shutil
import threading
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tracegrade_lake import Lake
from tracegrade_lake.errors import LakeDamaged
from tracegrade_lake.files import folders_in, make_folder, size_of
from tracegrade_lake.locks import FolderLock
from tracegrade_queries.engine.pinned import PinnedLake

CACHE_BYTES: Final = 8_000_000_000
"""Size of unused files to keep, as long as they take at most a quarter of the free space."""

AT_A_TIME: Final = 8
"""Files that are fetched at a time: most of fetching is waiting for the store."""

SCRATCH_FOLDER: Final = "_scratch"
"""In the lake's folder on this machine."""

CHUNK_BYTES: Final = 8 << 20
"""Bytes of each file in memory at a time."""


@dataclass(frozen=True)
class StoredPart:
    """A file of a table; the same for all its readers."""

    table: str
    path: str
    size: int
    """Bytes."""


@contextmanager
def copied_locally(pinned: PinnedLake) -> Iterator[PinnedLake]:
    """Yield the same files as local copies, which exist until the block ends.

    Raises:
        LakeDamaged: A file is missing, or its length differs from the log.
        LakeUnreachable: The object store does not answer.
    """
    lake = pinned.open()
    if lake.is_local:
        yield pinned
        return
    scratch = _scratch(pinned.location, pinned.state)
    parts = [
        StoredPart(name, file.path, file.size)
        for name, table in pinned.tables.items()
        for file in table.files
    ]
    with scratch.holding(lake, parts):
        yield pinned._replace(location=str(scratch.folder), state=str(scratch.folder))


class Scratch:
    """A folder with files of one lake, which all work in this process shares."""

    def __init__(self, folder: Path) -> None:
        """Use the folder, which is there and empty."""
        self.folder = folder
        self._lock = threading.Lock()
        self._holders: Counter[StoredPart] = Counter()
        self._fetching: defaultdict[StoredPart, threading.Lock] = defaultdict(threading.Lock)
        self._unheld: dict[StoredPart, None] = {}
        """Local files that are not in use, the longest unused first."""

    @contextmanager
    def holding(self, lake: Lake, parts: Sequence[StoredPart]) -> Iterator[None]:
        """Fetch the files that are not here yet, and keep all of them during the block."""
        with self._lock:
            self._holders.update(parts)
            for part in parts:
                self._unheld.pop(part, None)
            locks = {part: self._fetching[part] for part in parts}
        try:
            with ThreadPoolExecutor(AT_A_TIME) as pool:
                list(pool.map(lambda part: self._fetch(lake, part, locks[part]), parts))
            yield
        finally:
            self._release(parts)

    def _fetch(self, lake: Lake, part: StoredPart, lock: threading.Lock) -> None:
        """Fetch a file unless it is here."""
        path = self._path(part)
        with lock:
            if not path.exists():
                _copy(lake, part, path)

    def _release(self, parts: Sequence[StoredPart]) -> None:
        with self._lock:
            self._holders.subtract(parts)
            self._unheld.update((part, None) for part in parts if not self._holders[part])
            self._make_room()

    def _make_room(self) -> None:
        """Remove unused files until the rest is small enough to keep."""
        surplus = sum(part.size for part in self._unheld) - self._cache_bytes()
        for part in list(self._unheld):
            if surplus <= 0:
                return
            self._path(part).unlink(missing_ok=True)
            del self._unheld[part]
            surplus -= part.size

    def _cache_bytes(self) -> int:
        return min(CACHE_BYTES, shutil.disk_usage(self.folder).free // 4)

    def _path(self, part: StoredPart) -> Path:
        return self.folder / part.table / part.path


def _copy(lake: Lake, part: StoredPart, path: Path) -> None:
    """Copy a file of the lake; it appears under its name when it is whole."""
    make_folder(path.parent)
    unfinished = path.with_name(f".{path.name}.unfinished")
    table = lake.storage.table(part.table)
    try:
        with (
            table.reading(),
            table.filesystem.open_input_stream(part.path) as source,
            unfinished.open("wb") as copy,
        ):
            shutil.copyfileobj(source, copy, CHUNK_BYTES)
    except FileNotFoundError as error:
        msg = f"{table.location}/{part.path} is gone; run this again"
        raise LakeDamaged(msg) from error
    if size_of(unfinished) != part.size:
        location = f"{table.location}/{part.path}"
        msg = f"{location} has not the {part.size} bytes of the log; repair the lake"
        raise LakeDamaged(msg)
    unfinished.rename(path)


_making: Final = threading.Lock()


def _scratch(location: str, state: str) -> Scratch:
    """Return the folder of this process for a lake."""
    with _making:
        return _new_scratch(location, state)


@cache
def _new_scratch(location: str, state: str) -> Scratch:
    """Make the folder, after removing those of dead processes."""
    parent = Path(state) / SCRATCH_FOLDER
    make_folder(parent)
    for folder in folders_in(parent):
        _remove_if_left(folder)
    folder = parent / uuid.uuid4().hex
    lock = FolderLock(_lock_of(folder))
    lock.acquire()  # until the process ends
    make_folder(folder)
    atexit.register(_remove, folder)
    return Scratch(folder)


def _remove_if_left(folder: Path) -> None:
    """Remove a folder if its process is gone."""
    with closing(FolderLock(_lock_of(folder))) as lock:
        if lock.try_acquire():
            _remove(folder)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _lock_of(folder).unlink(missing_ok=True)


def _lock_of(folder: Path) -> Path:
    return folder.with_suffix(".lock")
