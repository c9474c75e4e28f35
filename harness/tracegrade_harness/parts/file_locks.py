"""Locks that processes hold on files, as the kernel lists them.

The kernel lists a lock while a process holds the file open, and drops it when the last process
closes the file. So each listed lock has a living holder. Only Linux lists locks.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_LOCKS = Path("/proc/locks")


class Inode(NamedTuple):
    """The identity of a file on this machine."""

    device: int
    number: int


class KernelLock(NamedTuple):
    """A lock on a file."""

    inode: Inode
    kind: str
    """`flock`, `posix`, `ofd` or `lease`."""
    excludes_readers: bool


def locks_are_visible() -> bool:
    """Return whether this system reports which files are locked."""
    return _LOCKS.exists()


def kernel_locks() -> list[KernelLock]:
    """Return all locks that are held now; none if the system does not report them."""
    if not locks_are_visible():
        return []
    lines = map(str.split, _LOCKS.read_text().splitlines())
    return [
        _lock(words) for words in lines if words[1] != "->"
    ]  # an arrow marks a process that waits for one


def held_names(inodes: Iterable[tuple[Inode, str]], locks: list[KernelLock]) -> list[str]:
    """Return the locks on files as `NAME (KIND)`, sorted, once each.

    Args:
        inodes: Files and the names of their objects.
        locks: Locks from `kernel_locks`.
    """
    kinds: dict[Inode, set[str]] = {}
    for lock in locks:
        kinds.setdefault(lock.inode, set()).add(lock.kind)
    if not kinds:
        return []
    return sorted({f"{name} ({kind})" for inode, name in inodes for kind in kinds.get(inode, ())})


def inode(info: os.stat_result) -> Inode:
    """Return what identifies the file."""
    return Inode(info.st_dev, info.st_ino)


def _lock(words: list[str]) -> KernelLock:
    """Read a line such as `1: FLOCK  ADVISORY  WRITE 15594 fe:00:2408483 0 EOF`."""
    major, minor, number = words[5].split(":")
    device = os.makedev(int(major, 16), int(minor, 16))
    kind = {"OFDLCK": "ofd"}.get(words[1], words[1].lower())
    return KernelLock(Inode(device, int(number)), kind, words[3] == "WRITE")
