"""Which limit an agent that failed says it was refused something by."""

from pathlib import Path

import pytest

from tracegrade_harness.suite.limits import TrialLimits
from tracegrade_harness.trial.refused_by_limit import refused_by_limit

LIMITS = TrialLimits(memory_mb=64, processes=8)
MEMORY = "memory_mb: more than 64"
NO_THREAD = "RuntimeError: can't start new thread"
THREADS = "processes: more than 8, or memory_mb: more than 64"


@pytest.mark.parametrize(
    ("printed", "limit"),
    [
        ("Traceback (most recent call last):\n  x = bytearray(9)\nMemoryError\n", MEMORY),
        ("numpy.exceptions._ArrayMemoryError: Unable to allocate 8. GiB for an array", MEMORY),
        ("OSError: [Errno 12] Cannot allocate memory", MEMORY),
        ("terminate called after throwing an instance of 'std::bad_alloc'", MEMORY),
        ("memory allocation of 1073741824 bytes failed\nAborted", MEMORY),
        ("fatal error: runtime: out of memory\n\ngoroutine 1 [running]:\n\tmain.go:7", MEMORY),
        ('Exception in thread "main" java.lang.OutOfMemoryError: Java heap space', MEMORY),
        ("# Fatal process out of memory: Zone\n#\n 1: 0x7f node::Abort() [node]", MEMORY),
        ("RangeError: Array buffer allocation failed\n    at new ArrayBuffer", MEMORY),
        ("[FATAL] failed to allocate memory", MEMORY),
        ("sh: xmalloc: cannot allocate 4096 bytes", MEMORY),
        ("RuntimeError: can't start new thread", THREADS),
        ("sh: 0: Cannot fork: Resource temporarily unavailable", THREADS),
        ("BlockingIOError: [Errno 11] Resource temporarily unavailable", THREADS),
        ("java.lang.OutOfMemoryError: unable to create native thread", THREADS),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", None),
        ("KeyError: 'memory'", None),
        ("recv: Resource temporarily unavailable", None),
        ("", None),
    ],
)  # fmt: skip
def test_runtimes_say_that_the_kernel_refused_them_something(
    tmp_path: Path, printed: str, limit: str | None
) -> None:
    """Anywhere in the last lines; a graphics card has memory of its own."""
    log = tmp_path / "agent.log"
    log.write_text(printed)

    assert refused_by_limit(LIMITS, log, None, crowded=True) == limit


def test_the_error_of_a_run_tells_as_much_as_a_log(tmp_path: Path) -> None:
    """An agent may print nothing of it; without a limit of memory none was refused."""
    log = tmp_path / "agent.log"

    assert refused_by_limit(LIMITS, log, "MemoryError", crowded=False) == MEMORY
    assert refused_by_limit(TrialLimits(), log, "MemoryError", crowded=True) is None
    assert refused_by_limit(TrialLimits(), log, NO_THREAD, crowded=True) == (
        "processes: more than 1000"
    )


def test_threads_that_the_machine_refused_to_few_were_not_refused_by_their_limit(
    tmp_path: Path,
) -> None:
    """Where memory has a limit, it may have been that one; else the agent crashed."""
    log = tmp_path / "agent.log"

    assert refused_by_limit(LIMITS, log, NO_THREAD, crowded=False) == MEMORY
    assert refused_by_limit(TrialLimits(), log, NO_THREAD, crowded=False) is None


def test_what_was_printed_long_ago_is_not_what_ended_it(tmp_path: Path) -> None:
    """8 KiB later it has got over it."""
    log = tmp_path / "agent.log"
    log.write_text("MemoryError\n" + "going on\n" * 1000 + "ValueError: no\n")

    assert refused_by_limit(LIMITS, log, "ValueError: no", crowded=False) is None
