"""Finds an executor by name; packages declare executors as entry points `tracegrade.executors`.

Each is a function of `EngineOptions` that returns a context manager: the executor is there until
the block ends.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import entry_points
from typing import Final, NamedTuple

from tracegrade.suggestions import did_you_mean
from tracegrade_queries.engine.distributed_job import ManifestsInLake
from tracegrade_queries.engine.executor import SLOT_MB, Executor, Threads
from tracegrade_queries.engine.machine import cores, workers
from tracegrade_queries.engine.processes import Processes
from tracegrade_queries.errors import BadEngine

EXECUTORS: Final = "tracegrade.executors"

MOST_THREADS: Final = 4
"""Cores that threads of one process keep busy; measured with two to four."""


class EngineOptions(NamedTuple):
    """Options of an engine that the user gives."""

    note: Callable[[str], object]
    """Receives a line about the next action, if it is worth one."""
    slots: int | None = None
    """Buckets that run at the same time; None lets the engine choose."""
    master: str | None = None
    """URL of a cluster; for engines that have one."""


def engine(name: str, options: EngineOptions) -> AbstractContextManager[Executor | None]:
    """Return the executor of that name; None for what each job finds right on this machine.

    Raises:
        BadEngine: There is no such engine, a package is missing, or the options do not suit it.
    """
    found = entry_points(group=EXECUTORS, name=name)
    if not found:
        names = sorted(entry_points(group=EXECUTORS).names)
        hint = did_you_mean(name, names) or f"there are: {', '.join(names)}"
        msg = f"no engine '{name}'; {hint}"
        raise BadEngine(msg)
    try:
        made: AbstractContextManager[Executor | None] = next(iter(found)).load()(options)
    except ModuleNotFoundError as error:
        msg = (
            f"engine '{name}' needs module '{error.name}', which is not installed; "
            f"install it with: pip install 'tracegrade[{name}]'"
        )
        raise BadEngine(msg) from error
    return made


def local(options: EngineOptions) -> AbstractContextManager[Executor | None]:
    """Threads as each job finds right; on more cores than they keep busy, processes."""
    _check_master("local", options)
    if options.slots is None and cores() <= MOST_THREADS:
        return nullcontext(None)
    slots = options.slots or workers(SLOT_MB)
    return nullcontext(Threads(slots) if slots <= MOST_THREADS else Processes(slots))


def threads(options: EngineOptions) -> AbstractContextManager[Executor]:
    """Threads of this process."""
    _check_master("threads", options)
    return nullcontext(Threads(options.slots or workers(SLOT_MB)))


def processes(options: EngineOptions) -> AbstractContextManager[Executor]:
    """Processes of this machine."""
    _check_master("processes", options)
    return nullcontext(Processes(options.slots or workers(SLOT_MB)))


def files(options: EngineOptions) -> AbstractContextManager[Executor]:
    """Manifests in the lake, for any worker to process."""
    _check_master("files", options)
    if options.slots is None:
        msg = "--engine files needs the number of workers; give it with --slots"
        raise BadEngine(msg)
    return ManifestsInLake(options.slots, options.note)


def _check_master(name: str, options: EngineOptions) -> None:
    if options.master is not None:
        msg = f"engine '{name}' has no --master, got {options.master}; name an engine that has one"
        raise BadEngine(msg)
