"""Finds the kernel limit that a failed agent reached, from the words of its own log.

The kernel does not report a refused allocation or thread: the program gets an error and decides
what to do. Most runtimes end and print the reason. A program that continues, or that ends without
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
"""Names of devices that have memory of their own."""


def refused_by_limit(
    limits: TrialLimits, log: Path, error: str | None, *, crowded: bool
) -> str | None:
    """Return the limit that a failed agent reports as reached; None if it reports none.

    A thread needs memory for its stack, so either limit may have refused it. If few processes and
    threads existed, the process limit did not refuse it; the memory limit or the machine did.

    Args:
        limits: The limits of its case.
        log: Its output; the last 8 KiB count.
        error: The error of its run, if it reported one.
        crowded: The tree may have had almost as many processes and threads as are allowed.
    """
    lines = [*tail(log).splitlines(), error or ""]
    lines = [line for line in lines if not _OTHER_MEMORY.search(line)]
    memory = None if limits.memory_mb is None else f"memory_mb: more than {limits.memory_mb}"
    if any(map(_NO_THREAD.search, lines)):
        processes = f"processes: more than {limits.processes}" if crowded else None
        return ", or ".join(filter(None, (processes, memory))) or None
    return memory if any(map(_NO_MEMORY.search, lines)) else None
