"""The filter of system calls: whom it is for, and that its numbers are the kernel's."""

import ctypes
import platform
import re
import struct
from pathlib import Path

import pytest

from tracegrade_harness.sandbox import seccomp

HEADERS = {
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
    "riscv64": "/usr/include/asm-generic/unistd.h",
}
DEFINED = re.compile(r"#define __NR(?:3264)?_(\w+)\s+(\d+)")


@pytest.mark.parametrize("machine", seccomp.MACHINES)
def test_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    """Where they are installed."""
    if not Path(HEADERS[machine]).exists():
        pytest.skip(f"no '{HEADERS[machine]}'")
    known = dict(DEFINED.findall(Path(HEADERS[machine]).read_text()))

    calls = seccomp.MACHINES[machine].calls
    assert {name: int(known[name]) for name in calls} == dict(calls)


@pytest.mark.parametrize("machine", seccomp.MACHINES)
def test_every_way_through_the_filter_ends(machine: str) -> None:
    """The kernel takes jumps forward alone, and a program that ends with a return."""
    steps = [*struct.iter_unpack("=HBBI", seccomp.compiled(machine))]
    jumps = [(at, step) for at, step in enumerate(steps) if step[0] & 7 == 5]

    assert ctypes.sizeof(ctypes.c_uint64) == len(seccomp.compiled(machine)) / len(steps)
    assert all(at + 1 + max(step[1], step[2]) < len(steps) for at, step in jumps)
    assert steps[-1] == (6, 0, 0, 0x7FFF0000)


def test_another_machine_has_no_filter_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not run with less than it was promised."""
    monkeypatch.setattr(platform, "machine", lambda: "s390x")

    reason = seccomp.why_not()

    assert reason == "no filter of system calls for 's390x' (x86_64, aarch64, riscv64)"
