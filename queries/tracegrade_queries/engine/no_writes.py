"""Forbids a thread, and the threads it starts, to write files, with Linux's Landlock.

A second wall behind `selects`: where a statement that writes gets past it, or a fault of the
engine is used, the kernel refuses. What is open already (stdout) stays open. Elsewhere than on
Linux, and where the kernel has no Landlock, nothing can be arranged, and the first wall is the
only one.

Numbers are those of the kernel's `uapi/linux/landlock.h`; ctypes, since no wheel has them.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Thread
from typing import Any, Final, TypeVar

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""System calls; the same on all architectures that Python has wheels for."""
_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_NO_NEW_PRIVILEGES: Final = 38

_WRITE: Final = (
    1 << 1  # write into a file
    | 0b1_1111_1111 << 4  # remove folders and files; make device, folder, file, socket, pipe, link
)
_MOVE, _TRUNCATE, _DEVICES = 1 << 13, 1 << 14, 1 << 15
_SINCE: Final = ((1, _WRITE), (2, _MOVE), (3, _TRUNCATE), (5, _DEVICES))
"""Rights by the version of Landlock that knows them."""

WITHOUT: Final = (
    "this system has no Landlock, so no kernel keeps queries from writing files; "
    "that a query only reads is checked before it runs"
)
"""The note for systems without Landlock."""

Made = TypeVar("Made")


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def forbid_writes(folders: Iterable[Path] = ()) -> bool:
    """Keep this thread, and all threads and processes that it starts, from writing any file.

    Args:
        folders: In which it still may; those that are not there are left out.

    Returns:
        Whether that could be arranged; if not, nothing has changed.
    """
    if not (version := landlock_version()):
        return False
    rights = sum(right for since, right in _SINCE if since <= version)
    handled = ctypes.c_uint64(rights)
    ruleset = _call(_CREATE_RULESET, ctypes.byref(handled), ctypes.sizeof(handled), 0)
    if ruleset < 0:
        return False
    try:
        for folder in folders:
            _allow(ruleset, folder, rights)
        _libc().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        return _call(_RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def landlock_version() -> int:
    """Return which version of Landlock the kernel has; 0 for none."""
    if sys.platform != "linux":
        return 0
    return max(0, _call(_CREATE_RULESET, None, 0, _VERSION))


def in_thread(make: Callable[[], Made]) -> Made:
    """Return the result of a thread that may forbid itself to write.

    The engine's own threads are children of the thread that opens it, and inherit this.

    Raises:
        BaseException: What making it raises.
    """
    made, errors = list[Made](), list[BaseException]()

    def do() -> None:
        try:
            made.append(make())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            errors.append(error)

    thread = Thread(target=do, name="restricted")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return made[0]


def _allow(ruleset: int, folder: Path, rights: int) -> None:
    try:
        opened = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rule = _PathBeneath(rights, opened)
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(opened)


def _call(number: int, *arguments: Any) -> int:
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return int(_libc().syscall(ctypes.c_long(number), *given))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
