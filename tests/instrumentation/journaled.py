"""A working folder with two files, and what a rollback journal in it says."""

from pathlib import Path

from tracegrade.rollback.journal import parse

JOURNAL = Path(".tracegrade/rollback.jsonl")
FOLDER_BEFORE = {"orders.csv": "1", "customers.csv": "2"}


def files() -> dict[str, str]:
    """Return the text of each file, but for what is ours."""
    paths = (path for path in Path().rglob("*") if path.is_file())
    return {str(path): path.read_text() for path in paths if JOURNAL.parent not in path.parents}


def left() -> list[str]:
    """Return the objects that the journal says are not undone, the newest first."""
    return [entry.object for entry in parse(JOURNAL.read_bytes()).left()]
