"""What is known of a program that ended for want of threads or of memory: was it the limit?"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.harness.sandbox.programs import program
from tests.waiting import PATIENCE_SECS

from tracegrade_harness.sandbox.choice import Sandbox
from tracegrade_harness.sandbox.plain import Plain
from tracegrade_harness.sandbox.program import ProcessLimits

THREADS = """
import threading, time
threading.stack_size(65_536)
for _ in range({number}):
    threading.Thread(target=time.sleep, args=[60], daemon=True).start()
raise RuntimeError("can't start new thread")
"""

GROUPS = (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup"))
"""Where groups with a limit of memory are made: of the first version, of the second."""
LIMITS = ("memory.limit_in_bytes", "memory.max")
SWAP = ("memory.memsw.limit_in_bytes", "memory.swap.max")

HUNGRY = """
import os, pathlib
pathlib.Path({group!r}, "cgroup.procs").write_text(str(os.getpid()))
bytearray(b"x") * (256 << 20)
"""


@pytest.mark.parametrize(("number", "most", "crowded"), [(5, 1000, False), (195, 200, True)])
def test_it_is_known_whether_about_all_threads_were_there(
    sandbox: Sandbox, tmp_path: Path, number: int, most: int, crowded: bool
) -> None:
    """However soon it ends after it has started them."""
    told = program(tmp_path, THREADS.format(number=number), ProcessLimits(processes=most))
    with sandbox.start(told) as running:
        assert running.wait(PATIENCE_SECS) == 1
        assert running.was_crowded == crowded
        assert running.over_limit is None


@pytest.fixture
def group() -> Iterator[Path]:
    """A group of processes that may use 64 MB of memory together."""
    for folder, limit, swap in zip(GROUPS, LIMITS, SWAP, strict=True):
        made = folder / f"tracegrade-{os.getpid()}"
        try:
            made.mkdir()
        except OSError:
            continue
        try:
            if (made / limit).exists():
                (made / limit).write_text(str(64 << 20))
                if (made / swap).exists():
                    (made / swap).write_text("0" if swap.endswith("max") else str(64 << 20))
                yield made
                return
        finally:
            made.rmdir()
    pytest.skip("this user can make no group of processes with a limit of memory")


def test_a_program_that_the_kernel_killed_for_want_of_memory_is_told_apart(
    group: Path, tmp_path: Path
) -> None:
    """It differs from a program that another process killed, whose container has room."""
    hungry = program(tmp_path, HUNGRY.format(group=str(group)))
    with Plain().start(hungry) as running:
        assert running.wait(PATIENCE_SECS) == -signal.SIGKILL
        assert running.over_limit == "memory: the kernel ran out of it, and ended the agent"

    with Plain().start(program(tmp_path, "import os; os.kill(os.getpid(), 9)")) as running:
        assert running.wait(PATIENCE_SECS) == -signal.SIGKILL
        assert running.over_limit is None
