"""A mount namespace of this process; its mounts end with its last process.

So nothing stays mounted after any end of a harness. The superuser enters it directly. Other users
enter it in a user namespace of their own, in which they keep their ids. Children are in it. Other
processes of the machine see nothing of it, but their mounts appear in it. A process must enter
before it starts threads, because the kernel refuses others.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_CLONE_NEWNS: Final = 0x00020000
_CLONE_NEWUSER: Final = 0x10000000
_MS_REC: Final = 0x4000
_MS_SLAVE: Final = 1 << 19
_MNT_DETACH: Final = 2
_CAPABILITY_VERSION: Final = 0x20080522
_WHOLE_MACHINE: Final = ["0", "0", "4294967295"]
"""Users in `/proc/self/uid_map` outside of all user namespaces."""
_NO_ERRNO: Final = 255
_REASONS: Final = {_NO_ERRNO: "the kernel refuses", errno.ENOSPC: "there are as many as may be"}
FORBID: Final = (
    "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns and "
    "user.max_user_namespaces in `sysctl --all`"
)
"""Settings with which a kernel keeps users from user namespaces."""

_libc: Final = ctypes.CDLL(None, use_errno=True)


class _Here:
    """The namespaces that this process has entered."""

    why_not: str | None = "it is run by a process that has no mount namespace of its own"
    is_own_user_namespace = False


def enter() -> None:
    """Enter a namespace, for as long as this process lives. Idempotent.

    If the kernel refuses, nothing has changed afterwards, and `why_not` gives the reason.
    """
    if _Here.why_not is not None:
        _Here.why_not = _obstacle()
        if _Here.why_not is None:
            _enter()


def why_not() -> str | None:
    """Return why this process has no mount namespace of its own; None if it has one."""
    return _Here.why_not


def user_attributes_only() -> bool:
    """Return whether the kernel keeps this process from `trusted` extended attributes."""
    return Path("/proc/self/uid_map").read_text().split() != _WHOLE_MACHINE


def mount(kind: str, at: str, options: str) -> None:
    """Mount a file system of a kind that needs no device.

    Raises:
        OSError: The kernel refuses.
    """
    with _privileged():
        _call("mount", kind.encode(), at.encode(), kind.encode(), 0, options.encode())


def unmount(at: str) -> None:
    """Unmount a path; processes with open files there keep these.

    Raises:
        OSError: The kernel refuses.
    """
    with _privileged():
        _call("umount2", at.encode(), _MNT_DETACH)


def _obstacle() -> str | None:
    if sys.platform != "linux":
        return "this system has no overlays"
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        return f"its process has {threads} threads, and no namespace can be entered by all"
    failed = _errno_of_child()
    if failed == 0:
        return None
    reason = _REASONS.get(failed) or os.strerror(failed)
    if os.geteuid() == 0:
        return f"no mount namespace: {reason} (the superuser here may lack CAP_SYS_ADMIN)"
    return f"no user namespace: {reason} (see {FORBID})"


def _errno_of_child() -> int:
    """Return the error with which a child process could not enter one; 0 if it could."""
    child = os.fork()
    if child == 0:
        code = _NO_ERRNO
        try:
            _enter()
            code = 0
        except OSError as error:
            code = error.errno or code
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _enter() -> None:
    if os.geteuid() == 0:
        _call("unshare", _CLONE_NEWNS)
    else:
        _enter_as_user(os.geteuid(), os.getegid())
    _call("mount", None, b"/", None, _MS_REC | _MS_SLAVE, None)
    if _Here.is_own_user_namespace:
        _allow(everything=False)


def _enter_as_user(user: int, group: int) -> None:
    _call("unshare", _CLONE_NEWNS | _CLONE_NEWUSER)
    _Here.is_own_user_namespace = True
    Path("/proc/self/setgroups").write_text("deny")  # the kernel requires it before groups
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


@contextmanager
def _privileged() -> Iterator[None]:
    """Use this process's rights in its user namespace, for the block and in this thread.

    Otherwise it could read files there that its user may not read outside.
    """
    if not _Here.is_own_user_namespace:
        yield
        return
    _allow(everything=True)
    try:
        yield
    finally:
        _allow(everything=False)


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("effective", "permitted", "inherited"))


def _allow(*, everything: bool) -> None:
    """Let this thread use all of its capabilities, or none."""
    header = ctypes.byref(_CapabilityHeader(_CAPABILITY_VERSION, 0))
    halves = (_Capabilities * 2)()
    _call("capget", header, halves)
    for half in halves:
        half.effective = half.permitted if everything else 0
    _call("capset", header, halves)


def _call(function: str, *arguments: object) -> None:
    if getattr(_libc, function)(*arguments) != 0:
        failed = ctypes.get_errno()
        raise OSError(failed, os.strerror(failed))
