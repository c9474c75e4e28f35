"""What all sandboxes have in common: what is run, and what it may use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tracegrade_harness.environment.part import ServiceAddress


@dataclass(frozen=True)
class ProcessLimits:
    """What each process may use; None for no limit of ours."""

    memory_bytes: int | None = None
    """Address space."""
    file_bytes: int | None = None
    """The largest file that it can write."""
    processes: int | None = None
    """How many processes and threads its user may have more than now. The superuser of the
    machine has no such limit, in a sandbox or out of it."""


@dataclass(frozen=True)
class Program:
    """What is run."""

    command: Sequence[str]
    root: Path
    """The trial's folder: what the program may write."""
    folder: Path
    """Where it starts: `root`, or a folder inside."""
    environment: Mapping[str, str]
    """All of its variables."""
    stdout: Path
    """Files that its output is added to; they need not be in `root`."""
    stderr: Path
    limits: ProcessLimits = ProcessLimits()
    visible: Sequence[Path] = field(default=())
    """What it must be able to read, or connect to, even in a `/tmp` that is hidden."""
    reachable: Sequence[ServiceAddress] | None = None
    """All services that it reaches, where the sandbox can keep it from others; None: any."""
