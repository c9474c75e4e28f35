"""`tracegrade rollback JOURNAL`: undoes the writes of a killed run, from its journal.

The newest entry is undone first; each is marked as done afterwards. A second run does nothing, and
a run that was killed half-way can be repeated.
"""

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from tracegrade.errors import BadInput, CheckFailed
from tracegrade.rollback import journal as journals
from tracegrade.rollback.undo import UndoContext, UndoFailed, kind_of, perform
from tracegrade.terminal.visible import echo, echo_output


def rollback(
    journal: Annotated[Path, typer.Argument(help="The journal that `run.rollback` wrote.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the writes to undo, and undo nothing.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option(help="Folder to which paths are relative; default: the working folder."),
    ] = None,
) -> None:
    """Undo the writes of a killed run, from its rollback journal."""
    read = _read(journal)
    left = read.left()
    if folder is None:
        _refuse_elsewhere(journal, left)
    act = _would_undo if dry_run else partial(_undo, journal, _context(folder or Path.cwd()))
    unfinished = sum(not act(entry) for entry in left)
    for line, fact in read.faults:
        echo(f"{journal}:{line}: {fact}; nothing is undone for it", err=True)
    if dry_run:
        return
    if unfinished or read.faults:
        count = unfinished + len(read.faults)
        msg = f"{count} of {len(left) + len(read.faults)} entries are not undone"
        way_out = 'set right what is said above, or append {"object": ..., "done": true}'
        raise CheckFailed(f"{msg}; {way_out}")  # noqa: EM102 - both have names
    if not left:
        echo("nothing to undo")


def _read(journal: Path) -> journals.ParsedJournal:
    try:
        return journals.parse(journal.read_bytes())
    except OSError as error:
        msg = f"journal '{journal}' cannot be read: {error.strerror}; name an existing one"
        raise BadInput(msg) from error


def _refuse_elsewhere(journal: Path, left: Sequence[journals.JournalEntry]) -> None:
    """Refuse to undo in a folder that is not the one that paths were meant for."""
    here = Path.cwd()
    for entry in left:
        if entry.folder is not None and Path(entry.folder).resolve() != here.resolve():
            msg = f"journal '{journal}' was written in '{entry.folder}', not in '{here}'"
            raise BadInput(f"{msg}; run it there, or name --folder")  # noqa: EM102


def _would_undo(entry: journals.JournalEntry) -> bool:
    echo(f"would undo {_one_line(entry.object)}: {_as_text(entry.undo)}")
    return True


def _undo(journal: Path, context: UndoContext, entry: journals.JournalEntry) -> bool:
    """Undo one entry, report it, and return whether it is done now."""
    if kind_of(entry.undo) == "manual":
        echo(f"by hand {_one_line(entry.object)}: {_one_line(entry.undo['manual'])}")
        return False
    try:
        perform(entry.undo, context)
    except UndoFailed as error:
        echo(f"failed {_one_line(entry.object)}: {_one_line(str(error))}")
        return False
    journals.append(journal, {"object": entry.object, "done": True})
    echo(f"undone {_one_line(entry.object)}: {_as_text(entry.undo)}")
    return True


def _context(folder: Path) -> UndoContext:
    locate: Callable[[str], Path] = folder.joinpath

    def copied(undo: Mapping[str, Any]) -> Path:
        if "from" not in undo:
            msg = "its entry names no copy ('from') to restore it from"
            raise UndoFailed(msg)
        return locate(undo["from"])

    return UndoContext(locate, copied, partial(_run, folder))


def _run(folder: Path, command: Sequence[str]) -> None:
    """Run a command; its output goes to stderr, so stdout has one line per entry."""
    done = subprocess.run(  # noqa: S603 - what the agent's own program wrote down
        list(command), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    echo_output(done.stdout + done.stderr)
    if done.returncode:
        msg = f"command ended with {done.returncode}"
        raise UndoFailed(msg)


def _as_text(undo: Mapping[str, Any]) -> str:
    return json.dumps(undo, ensure_ascii=False)


def _one_line(text: str) -> str:
    """Return a text on one line, with any content."""
    return text if text.isprintable() else json.dumps(text)
