"""A filter of system calls that no agent needs and that namespaces do not confine.

Keyrings belong to users, not to namespaces. A user namespace gives all capabilities inside of it,
and with them access to most faults of the kernel. A program can put input into a terminal, which
is then read as typed (`TIOCSTI`). Container runtimes refuse the other calls, too, with or without
capabilities.

The program is classic BPF, as in seccomp(2): a comparison and an error for each refused call.
Numbers of calls are from the kernel's `asm/unistd_64.h` and `asm-generic/unistd.h`.
"""

import errno
import platform
import struct
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple


class Machine(NamedTuple):
    """An architecture of the kernel, with its numbers of system calls."""

    audit_arch: int
    calls: Mapping[str, int]


_NAMES: Final = (
    *("add_key", "request_key", "keyctl"),
    *("mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "mount_setattr"),
    *("fsopen", "fsconfig", "fsmount", "fspick", "open_by_handle_at", "setns"),
    *("settimeofday", "clock_settime", "sethostname", "setdomainname", "reboot", "syslog"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "swapon", "swapoff"),
    *("acct", "quotactl", "quotactl_fd", "bpf", "perf_event_open", "userfaultfd", "vhangup"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "clone3"),
    *("clone", "unshare", "ioctl"),
)
# fmt: off
_X86_64: Final = (
    248, 249, 250,
    165, 166, 155, 161, 428, 429, 442,
    430, 431, 432, 433, 304, 308,
    164, 227, 170, 171, 169, 103,
    175, 313, 176, 246, 167, 168,
    163, 179, 443, 321, 298, 323, 153,
    425, 426, 427, 435,
    56, 272, 16,
)
_GENERIC: Final = (
    217, 218, 219,
    40, 39, 41, 51, 428, 429, 442,
    430, 431, 432, 433, 265, 268,
    170, 112, 161, 162, 142, 116,
    105, 273, 106, 104, 224, 225,
    89, 60, 443, 280, 241, 282, 58,
    425, 426, 427, 435,
    220, 97, 29,
)
# fmt: on
_ON_X86_64: Final = {"kexec_file_load": 320, "iopl": 172, "ioperm": 173}
MACHINES: Final = {
    "x86_64": Machine(0xC000003E, dict(zip(_NAMES, _X86_64, strict=True)) | _ON_X86_64),
    "aarch64": Machine(
        0xC00000B7, dict(zip(_NAMES, _GENERIC, strict=True)) | {"kexec_file_load": 294}
    ),
    "riscv64": Machine(
        0xC00000F3, dict(zip(_NAMES, _GENERIC, strict=True)) | {"kexec_file_load": 294}
    ),
}
UNKNOWN_HERE: Final = ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register")
"""Refused as if the kernel did not have them, so that programs use the older calls. Their
arguments are in memory, which a filter cannot read."""
NAMESPACE_FLAGS: Final = {"clone": 0x7E02_0000, "unshare": 0x7E02_0080}
"""`CLONE_NEW*`: each of these flags requests a new namespace."""
TERMINAL_REQUESTS: Final = (0x5412, 0x541C)
"""`TIOCSTI` and `TIOCLINUX`: they put input into a terminal that is then read as typed."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""Operations of BPF: load 32 bits, three comparisons with a constant, and return."""
_NUMBER, _ARCH, _ARGUMENT_0, _ARGUMENT_1 = 0, 4, 16, 24
"""Offsets in `struct seccomp_data`; for arguments, the lower halves (little-endian)."""
_ALLOW, _ERROR, _KILL = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
_OTHER_CALLS: Final = 0x4000_0000
"""On x86-64, the same calls have second numbers from here on (x32)."""


def why_not() -> str | None:
    """Return why there is no filter for this machine; None if there is one."""
    machine = platform.machine()
    known = ", ".join(MACHINES)
    return None if machine in MACHINES else f"no filter of system calls for '{machine}' ({known})"


def compiled(machine: str | None = None, *, may_chroot: bool = False) -> bytes:
    """Return the filter for `bwrap --seccomp`; by default for this machine.

    Args:
        machine: The machine's name.
        may_chroot: Allow `chroot`, which a supervisor of a program in an image needs.

    Raises:
        KeyError: There is none for it.
    """
    audit_arch, calls = MACHINES[machine or platform.machine()]
    steps = [_step(_LOAD, _ARCH), _step(_EQUAL, audit_arch, 1, 0), _step(_RETURN, _KILL)]
    steps += [_step(_LOAD, _NUMBER), *_when(_AT_LEAST, _OTHER_CALLS, errno.ENOSYS)]
    for name, number in calls.items():
        if name == "chroot" and may_chroot:
            continue
        if name in NAMESPACE_FLAGS:
            flagged = _when(_ANY_BIT, NAMESPACE_FLAGS[name], errno.EPERM)
            steps += _of_call(number, [_step(_LOAD, _ARGUMENT_0), *flagged])
        elif name == "ioctl":
            typed = [_when(_EQUAL, request, errno.EPERM) for request in TERMINAL_REQUESTS]
            steps += _of_call(number, [_step(_LOAD, _ARGUMENT_1), *typed[0], *typed[1]])
        else:
            steps += _when(_EQUAL, number, errno.ENOSYS if name in UNKNOWN_HERE else errno.EPERM)
    return b"".join([*steps, _step(_RETURN, _ALLOW)])


def _when(comparison: int, value: int, error: int) -> list[bytes]:
    """Return steps that fail with an error if a comparison of the loaded value holds."""
    return [_step(comparison, value, 0, 1), _step(_RETURN, _ERROR | error)]


def _of_call(number: int, steps: Sequence[bytes]) -> list[bytes]:
    """Return the steps for a single call, which is allowed unless a step refuses it."""
    whole = [*steps, _step(_RETURN, _ALLOW)]
    return [_step(_EQUAL, number, 0, len(whole)), *whole]


def _step(operation: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return a `struct sock_filter`; the last two arguments are numbers of steps to skip."""
    return struct.pack("=HBBI", operation, if_true, if_false, value)
