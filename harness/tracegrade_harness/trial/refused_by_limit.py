"""Finds the kernel limit that a failed agent reached, from the words of its own log.

The kernel does not tell of an allocation or a thread that it refused: a program gets an error and
does with it what it likes. Most runtimes end, and say why. One that goes on, or that ends without
an error, was not ended by the limit.

The words are those of CPython and NumPy (MemoryError), the C library (ENOMEM), C++ (bad_alloc),
Rust, Go, the JVM, .NET, Node.js, Ruby and shells.
"""

import re
from pathlib import Path
from typing import Final

from tracegrade_harness.suite.limits import TrialLimits
from tracegrade_harness.trial.no_spans import tail

_NO_MEMORY: Final = re.compile(
    r"MemoryError\b|OutOfMemory|bad_alloc|\bENOMEM\b|(?:cannot|can't) allocate memory"
    r"|out of memory|memory exhausted|(?:memory|buffer) allocation (?:of \d+ bytes )?failed"
    r"|failed to allocate memory|cannot allocate \d+ bytes|insufficient memory"
    r"|could not reserve enough space",
    re.IGNORECASE,
)
_NO_THREAD: Final = re.compile(
    r"can't start new thread|unable to create native thread|failed to create new OS thread"
    r"|(?:fork|clone|thread|spawn).*resource temporarily unavailable"
    r"|blockingioerror: \[errno 11\] resource temporarily unavailable",
    re.IGNORECASE,
)
_OTHER_MEMORY: Final = re.compile(r"CUDA|GPU|\bHIP\b|\bMPS\b|\bXPU\b")
"""Of a device that has its own."""


def refused_by_limit(
    limits: TrialLimits, log: Path, error: str | None, *, crowded: bool
) -> str | None:
    """Return which limit an agent that failed says it could not go beyond; None if it says none.

    A thread needs memory for its stack, so that either limit may be the one that refused it; where
    there were few processes and threads it was not theirs, but memory's or the machine's.

    Args:
        limits: Of its case.
        log: What it printed, of which the last 8 KiB count.
        error: That of its run, if it told one.
        crowded: There may have been about as many processes and threads as are allowed.
    """
    lines = [*tail(log).splitlines(), error or ""]
    lines = [line for line in lines if not _OTHER_MEMORY.search(line)]
    memory = None if limits.memory_mb is None else f"memory_mb: more than {limits.memory_mb}"
    if any(map(_NO_THREAD.search, lines)):
        processes = f"processes: more than {limits.processes}" if crowded else None
        return ", or ".join(filter(None, (processes, memory))) or None
    return memory if any(map(_NO_MEMORY.search, lines)) else None
