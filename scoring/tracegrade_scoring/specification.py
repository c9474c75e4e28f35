"""Decides whether task files are good enough to score against."""

from pathlib import Path

from tracegrade_scoring.errors import TaskFileInvalid
from tracegrade_scoring.tasks import Specification, load


def usable_specification(path: Path | None) -> tuple[Specification, list[str]]:
    """Return what to score against, and notes: graphs that are left out, tools nobody declares.

    Args:
        path: A task file or a folder of them; None scores what needs no task.

    Raises:
        TaskFileInvalid: The files hold errors of another kind.
        TaskFileUnreadable: They cannot be read.
    """
    if path is None:
        return Specification(), []
    loaded = load([path])
    if loaded.fatal:
        rest = f" (and {len(loaded.fatal) - 1} more)" if len(loaded.fatal) > 1 else ""
        msg = f"{loaded.fatal[0]}{rest}; `tracegrade tasks check {path}` shows all"
        raise TaskFileInvalid(msg)
    return loaded.specification, [str(problem) for problem in loaded.problems]
