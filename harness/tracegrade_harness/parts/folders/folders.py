"""Folders that a harness makes, locks while it lives, and removes after any agent's work.

The kernel releases a folder's lock when the process ends. So an unlocked folder was left by a
killed harness, and a locked one is in use.
"""

import contextlib
import fcntl
import os
import secrets
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.folders.walk import folder_at, subfolder

PREFIX: Final = "tracegrade-harness-"
"""Prefix of temporary folders; short, since the path of a socket may have 107 bytes."""
WAIT_SECS: Final = 0.02
_OURS: Final = 0o700


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Create a folder in the system's folder for temporary files, locked until the block ends.

    Raises:
        EnvironmentFailed: It could not be made, or not be removed.
    """
    with explained(Path(tempfile.gettempdir())):
        while True:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
            descriptor = hold(folder)
            if descriptor is not None:  # else `clean` removed it before the lock
                break
    try:
        yield folder
    finally:
        os.close(descriptor)
        removed(folder)


def hold(folder: Path, *, shared: bool = False) -> int | None:
    """Lock a folder, and return the file descriptor that holds the lock until it is closed.

    Args:
        folder: An existing folder.
        shared: Other processes may also hold a shared lock.

    Returns:
        None if another process has locked or removed the folder.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), os.stat(folder)):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None


def make_own(folder: Path) -> None:
    """Create a folder of this process's own group, not of its parent's group.

    In a user namespace, no overlay can contain files of other groups.

    Raises:
        OSError: It could not be created.
    """
    folder.mkdir()
    os.chown(folder, -1, os.getegid())
    folder.chmod(_OURS)  # new files in it get the group of their creator


@contextmanager
def shared_folder(folder: Path) -> Iterator[Path]:
    """Create a folder if it is missing, and share a lock on it during the block.

    Raises:
        EnvironmentFailed: It could not be made.
    """
    with explained(folder):
        while True:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = hold(folder, shared=True)
            if descriptor is not None:
                break
            time.sleep(WAIT_SECS)  # until the process that removes it has finished
    try:
        yield folder
    finally:
        os.close(descriptor)


def abandoned() -> Iterator[Path]:
    """Yield this user's temporary folders that no harness has locked, with a lock on each."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        info = folder.lstat()
        if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
            continue
        descriptor = hold(folder)
        if descriptor is not None:
            try:
                yield folder
            finally:
                os.close(descriptor)


def removed(folder: Path) -> None:
    """Remove a folder; see `remove`.

    Raises:
        EnvironmentFailed: It could not be.
    """
    with explained(folder):
        remove(folder)


def remove(folder: Path) -> None:
    """Remove a folder of any depth and with any permissions, if it exists.

    No link is followed, and nothing outside of the folder is touched.

    Raises:
        OSError: Something in it could not be removed.
    """
    try:
        is_folder = stat.S_ISDIR(folder.lstat().st_mode)
    except FileNotFoundError:
        return
    if not is_folder:
        folder.unlink()
        return
    folder.chmod(_OURS)
    with folder_at(folder, PurePosixPath()) as top:
        while names := os.listdir(top):
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    _remove_entry(top, name)
    folder.rmdir()


def _remove_entry(top: int, name: str) -> None:
    """Remove an entry of an open folder, after moving its subfolders up into that folder.

    So no depth needs more than two open files.
    """
    if not _is_folder(top, name):
        os.unlink(name, dir_fd=top)
        return
    os.chmod(name, _OURS, dir_fd=top)
    with subfolder(top, name) as inner:
        for below in os.listdir(inner):
            if _is_folder(inner, below):
                os.chmod(below, _OURS, dir_fd=inner)
                os.rename(below, secrets.token_hex(16), src_dir_fd=inner, dst_dir_fd=top)
            else:
                os.unlink(below, dir_fd=inner)
    os.rmdir(name, dir_fd=top)


def _is_folder(folder: int, name: str) -> bool:
    return stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode)


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn errors of the system into an error that names the block's folder.

    Raises:
        EnvironmentFailed: Instead of any `OSError`.
    """
    try:
        yield
    except OSError as error:
        msg = f"folder '{folder}': {error}; see that it is yours and its disk neither full nor ill"
        raise EnvironmentFailed(msg) from error
