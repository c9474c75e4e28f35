"""Files that survive a power cut: written by us, synced, private, and named before they count.

Nothing that writes Parquet or Delta syncs by itself, so each write here ends in an fsync of the
file and of the folder that names it.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

FILE_MODE = 0o600
FOLDER_MODE = 0o700


def make_folder(path: Path) -> None:
    """Make the folder and what is missing above it, for their owner alone, and sync them."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(mode=FOLDER_MODE, exist_ok=True)
    sync_folder(path.parent)


def write_synced(path: Path, write: Callable[[BinaryIO], None]) -> int:
    """Write a file anew through `write`, sync its content, and return its size in bytes."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
    with os.fdopen(descriptor, "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


def private_opener(path: str, flags: int) -> int:
    """Open a file so that one made by it is for its owner alone; for `open(opener=...)`."""
    return os.open(path, flags, FILE_MODE)


def sync_file(path: Path) -> None:
    """Make a file that somebody else wrote private and durable; a missing one is left alone."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fchmod(descriptor, FILE_MODE)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
