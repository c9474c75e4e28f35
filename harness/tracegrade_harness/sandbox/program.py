"""A program for a sandbox: its command, variables and limits, the same for all sandboxes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tracegrade_harness.images.world import ImageWorld
from tracegrade_harness.parts.part import ServiceAddress


@dataclass(frozen=True)
class ProcessLimits:
    """Limits on a program and all processes that it starts; None sets no limit."""

    memory_bytes: int | None = None
    """Size of each process's address space."""
    disk_bytes: int | None = None
    """Bytes that may be added to its folder. A file cannot grow by more, and the program is ended
    when all files together have."""
    processes: int | None = None
    """Processes and threads at a time, counted on Linux; with one more, the program is ended."""


@dataclass(frozen=True)
class Program:
    """A program to run."""

    command: Sequence[str]
    root: Path
    """The trial's folder, to which the program may write."""
    folder: Path
    """Its working folder: `root`, or a folder inside."""
    environment: Mapping[str, str]
    """Its whole environment."""
    stdout: Path
    """File to which its output is appended; it may be outside of `root`."""
    stderr: Path
    limits: ProcessLimits = ProcessLimits()
    visible: Sequence[Path] = field(default=())
    """Folders of the harness that it reads, and in which it connects to sockets."""
    reachable: Sequence[ServiceAddress] | None = None
    """All services that it reaches, if the sandbox can confine it; None for any."""
    hidden: Sequence[Path] = field(default=())
    """Files and folders that the sandbox hides if it can, except `root`, even if another rule
    shows them."""
    readable: Sequence[Path] = field(default=())
    """Files and folders that the suite lets it read. Keys and sockets in these folders are hidden,
    unless they are named themselves."""
    programs: Sequence[str] = field(default=())
    """Further programs that it starts, by name or path; it sees them with the files that they
    need."""
    world: ImageWorld | None = None
    """The image whose files it sees instead of this machine's, and whose user and working folder
    it has."""

    @property
    def working_folder(self) -> str:
        """The path of its working folder as it sees it."""
        return str(self.folder.resolve()) if self.world is None else self.world.settings.folder
