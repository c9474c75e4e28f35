"""Finds and reads the SQL files of this package: one file is one query, named for its result."""

from functools import cache
from pathlib import Path

from tracegrade_queries.errors import UnknownQuery

ROOT = Path(__file__).parent


@cache
def paths() -> dict[str, Path]:
    """Return the file of every query by its name, sorted by name."""
    return {path.stem: path for path in sorted(ROOT.rglob("*.sql"), key=lambda path: path.stem)}


def query(name: str) -> str:
    """Return the text of one query.

    Raises:
        UnknownQuery: No file `<name>.sql` exists in any folder of the package.
    """
    path = paths().get(name)
    if path is None:
        msg = f"no query is named '{name}'; known: {', '.join(paths())}"
        raise UnknownQuery(msg)
    return path.read_text(encoding="utf-8")


def saved() -> dict[str, str]:
    """Return the first line of the header of every saved query by its name."""
    found = {name: path for name, path in paths().items() if path.parent.name == "saved"}
    return {name: _summary(path) for name, path in found.items()}


def _summary(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().removeprefix("--").strip()
