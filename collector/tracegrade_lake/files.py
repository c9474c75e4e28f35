"""Writes files that survive a power cut: private, synced, and named only when complete.

Libraries that write Parquet or Delta do not sync, so each write here ends with a sync of the file
and of the folder that names it.
"""

import fcntl
import os
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tracegrade_lake.crash_points import reach

FILE_MODE = 0o600
FOLDER_MODE = 0o700
PRIVATE_UMASK = 0o077

_umask_lock = threading.RLock()  # a process has one umask for all its threads


def folders_in(folder: Path) -> list[Path]:
    """Return the folders in a folder, sorted; none if it is absent.

    Not `Path.glob`: some versions of Python find nothing where a folder cannot be read.

    Raises:
        OSError: It cannot be read.
    """
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except FileNotFoundError:
        return []


def all_below(folder: Path) -> Iterator[Path]:
    """Yield every file and folder below a folder while other processes may remove some.

    Not `Path.rglob`: some versions of Python fail at a folder that was removed since it was
    listed.
    """
    for parent, folders, files in os.walk(folder):
        yield from (Path(parent, name) for name in (*folders, *files))


def size_of(path: Path) -> int:
    """Return a file's size in bytes; 0 if it was removed since it was listed."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def is_older(path: Path, time_ns: int) -> bool:
    """Return whether a file is there and was last written before that time, ns since 1970."""
    try:
        return path.stat().st_mtime_ns < time_ns
    except FileNotFoundError:  # removed since it was listed
        return False


def make_folder(path: Path) -> None:
    """Create the folder and its missing parents, readable by their owner only, and sync them."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(mode=FOLDER_MODE, exist_ok=True)
    sync_folder(path.parent)


def write_synced(path: Path, write: Callable[[BinaryIO], object]) -> int:
    """Write a file through `write`, replacing an old one; sync it; return its size in bytes."""
    with open(path, "wb", opener=private_opener) as file:
        write(file)
        file.flush()
        reach("file_written")
        sync_data(file.fileno())
        reach("file_synced")
        return file.tell()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whose name appears only when it is complete and synced."""
    write_pieces(path, [content])


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file as `write_whole` does, of pieces that need not be in memory together."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    write_synced(unfinished, lambda file: file.writelines(pieces))
    unfinished.rename(path)
    sync_folder(path.parent)


def private_opener(path: str, flags: int) -> int:
    """Open a file, creating it readable by its owner only; for `open(opener=...)`."""
    return os.open(path, flags, FILE_MODE)


@contextmanager
def private_files() -> Iterator[None]:
    """Create the files that a library writes in the block readable by their owner only."""
    with _umask_lock:
        before = os.umask(PRIVATE_UMASK)
        try:
            yield
        finally:
            os.umask(before)


def is_open_to_all(path: Path) -> bool:
    """Return whether every user of this machine can read or change a file."""
    return bool(path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH))


def sync_file(path: Path) -> None:
    """Make a file that another library wrote private and durable; ignore a missing file."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fchmod(descriptor, FILE_MODE)
        sync_data(descriptor)
    finally:
        os.close(descriptor)


def sync_data(descriptor: int) -> None:
    """Wait until a file's written bytes are on the disk itself."""
    if hasattr(fcntl, "F_FULLFSYNC"):  # macOS: fsync stops at the drive's own cache
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(descriptor)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable: new, renamed and removed files."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
