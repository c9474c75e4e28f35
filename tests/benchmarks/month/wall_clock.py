"""A wall clock that a program sets, for itself and the processes that it starts.

The product reads the system's clock, also where it is not Python: the Delta library decides by it
which entries of a log and which replaced files are old. So a small library in C, which `cc`
compiles, gives all of them a time that is shifted by what a file says. Linux only.
"""

import mmap
import os
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).with_name("wall_clock.c")
VARIABLE: Final = "SIMULATED_CLOCK"
_SHIFT: Final = struct.Struct("q")


def is_shifted() -> bool:
    """Return whether this process has such a clock."""
    return VARIABLE in os.environ


def run_shifted(module: str, arguments: Iterable[str]) -> int:
    """Run a module as a program with such a clock; return its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        library, shift = Path(folder) / "wall_clock.so", Path(folder) / "shift"
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O2", "-o", library, SOURCE, "-ldl"],  # noqa: S607
            check=True,
        )
        shift.write_bytes(_SHIFT.pack(0))
        environment = os.environ | {"LD_PRELOAD": str(library), VARIABLE: str(shift)}
        command = [sys.executable, "-m", module, *arguments]
        return subprocess.run(command, env=environment, check=False).returncode


class WallClock:
    """The clock of this process and of those that it starts."""

    def __init__(self) -> None:
        """Take over the clock of a process that `run_shifted` started."""
        with open(os.environ[VARIABLE], "r+b") as file:
            self._shift = mmap.mmap(file.fileno(), _SHIFT.size)

    @property
    def shift_ns(self) -> int:
        """What is added to the system's time."""
        found: int = _SHIFT.unpack(self._shift[:])[0]
        return found

    def set(self, now_ns: int) -> None:
        """Let it be this time, ns since 1970; from there time goes on."""
        system_ns = time.time_ns() - self.shift_ns
        self._shift[:] = _SHIFT.pack(now_ns - system_ns)

    def date_files(self, folder: Path, since_ns: int) -> None:
        """Give files that were written since a time of the system's clock the time of this one.

        The kernel dates files by the system's clock.
        """
        for parent, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(parent, name)
                written_ns = os.lstat(path).st_mtime_ns
                if written_ns >= since_ns:
                    at = written_ns + self.shift_ns
                    os.utime(path, ns=(at, at), follow_symlinks=False)
