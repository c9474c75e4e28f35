"""Queries that people save in a lake, in its folder `queries`; a child process writes them.

The first line of a file says who saved it and when; a file that was put there by hand has none.
"""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from tracegrade_lake import Lake
from tracegrade_lake.files import make_folder, write_whole
from tracegrade_lake.lake_root import state_folder
from tracegrade_queries.engine.layers import saved

FOLDER: Final = "queries"
"""In the folder of a lake; in that of its state if the lake is on an object store."""
NAME: Final = re.compile(r"[a-z0-9-]{1,60}")
MOST_QUERIES: Final = 1_000
MOST_BYTES: Final = 1_048_576
"""More than a form can hold, even where each of its bytes becomes three of UTF-8."""
_AUTHOR: Final = re.compile(r"-- Saved by ([^\n]{1,60}) on (\d{4}-\d\d-\d\d)\.\n")


class OwnQuery(NamedTuple):
    """A query that was saved in the lake."""

    name: str
    by: str
    """'' if the file does not say."""
    on: str
    """The date, UTC; '' if the file does not say."""
    text: str


def own_queries(location: str) -> dict[str, OwnQuery]:
    """Return the saved queries of a lake by name, sorted; those of other names are left out."""
    folder = state_folder(location) / FOLDER
    files = sorted(folder.glob("*.sql"))[:MOST_QUERIES] if folder.is_dir() else []
    found = (own_query(location, file.stem) for file in files)
    return {query.name: query for query in found if query}


def own_query(location: str, name: str) -> OwnQuery | None:
    """Return a saved query of a lake; None if there is none, or its name is of a built-in one."""
    if not NAME.fullmatch(name) or name in saved():
        return None
    file = _file(state_folder(location), name)
    if file.is_symlink() or not file.is_file() or file.stat().st_size > MOST_BYTES:
        return None
    text = file.read_text(encoding="utf-8", errors="replace")
    author = _AUTHOR.match(text)
    by, on = author.groups() if author else ("", "")
    return OwnQuery(name, by, on, text[author.end() :] if author else text)


def save_query(lake: Lake, job: dict[str, Any]) -> dict[str, Any]:
    """Write a saved query, unless another text has its name and may not be replaced.

    Args:
        lake: In which it is saved.
        job: `name`, `text`, `by`, and whether to `overwrite`.

    Returns:
        Whether it was `saved`, or what the `error` is.
    """
    name = job["name"]
    if not NAME.fullmatch(name) or name in saved():
        return {"error": f"no query of a lake can be named '{name[:80]}'"}
    before = own_query(lake.location, name)
    if before and before.text != job["text"] and not job["overwrite"]:
        return {"saved": False}
    file = _file(lake.state, name)
    make_folder(file.parent)
    text = f"-- Saved by {job['by']} on {datetime.now(UTC):%Y-%m-%d}.\n{job['text']}"
    write_whole(file, text.encode("utf-8", "replace"))
    return {"saved": True}


def _file(folder: Path, name: str) -> Path:
    return folder / FOLDER / f"{name}.sql"
