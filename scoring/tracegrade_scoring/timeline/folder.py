"""A page and, below it in one folder, a page for each run that it names.

An id may be anything that a trace says, so files are named by a digest of it.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

import pyarrow as pa
from duckdb import DuckDBPyConnection

from tracegrade_queries.engine.relations import copies, put
from tracegrade_scoring.errors import ReportNotWritten
from tracegrade_scoring.rendering.output import write_text
from tracegrade_scoring.rendering.page import RunPage
from tracegrade_scoring.timeline.html import render_html, run_template
from tracegrade_scoring.timeline.read import read_timeline

INDEX: Final = "index.html"
RUNS: Final = "runs"
MOST_RUNS: Final = 200
"""Runs with a page of their own: the first that the page names."""

_NAMED: Final = "SELECT trajectory_id FROM named_runs"
_OF_RUN: Final = f"trajectory_id IN ({_NAMED})"
_TRACES: Final = "SELECT split_part(trajectory_id, '-', 1) FROM named_runs"
_OF_STEP: Final = f"{_OF_RUN} OR step_trajectory_id IN ({_NAMED})"
_ROWS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("decisions", "failed_calls", "failures"), _OF_STEP),
    "observed_step_scores": _OF_RUN,
    "run_reasons": _OF_RUN,
    "steps": _OF_RUN,
    "sub_goals": _OF_RUN,
    "trajectories": f"{_OF_RUN} OR parent_trajectory_id IN ({_NAMED})",
    "trajectory_scores": _OF_RUN,
    "verdicts": f"trajectory_id IN ({_NAMED} UNION {_TRACES})",
}
"""By relation, the rows that pages of runs are made of. Step scores are copied as they are read,
before the others: what a task was seen to need at least is of all its runs."""


class RunPages:
    """Gives each run that a page names an address, up to `MOST_RUNS`, and remembers which."""

    def __init__(self) -> None:
        self.paths: dict[str, str] = {}
        """By trajectory id, in the order in which they were named."""

    def __call__(self, trajectory_id: str) -> str:
        """Return the address of a run's page; '' for one too many."""
        if trajectory_id not in self.paths and len(self.paths) < MOST_RUNS:
            self.paths[trajectory_id] = run_path(trajectory_id)
        return self.paths.get(trajectory_id, "")


def run_path(trajectory_id: str) -> str:
    """Return where the page of a run stands, seen from the page that names it."""
    digest = sha256(trajectory_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{RUNS}/{digest[:32]}.html"


def write_folder(
    con: DuckDBPyConnection, lake: str, folder: Path, index: Callable[[RunPage], str]
) -> int:
    """Write a page and the pages of the runs that it names; return the number of these runs.

    Pages of runs that an earlier page named are removed, other files stay.

    Args:
        con: Holds the tables of a lake.
        lake: The lake's name for the reader.
        folder: Created if it does not exist.
        index: Returns the page, given a function that returns the location of a run's page.

    Raises:
        ReportNotWritten: The folder or a file in it cannot be written.
    """
    pages = RunPages()
    page = index(pages)
    _make(folder / RUNS)
    for path, text in _run_pages(con, lake, pages.paths):
        write_text(folder / path, text)
    write_text(folder / INDEX, page)
    _remove_others(folder / RUNS, {Path(path).name for path in pages.paths.values()})
    return len(pages.paths)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make the folder {folder}: {error.strerror}; name another with --out"
        raise ReportNotWritten(msg) from error


def _run_pages(
    con: DuckDBPyConnection, lake: str, paths: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield path and text of the page of each run; the lake is read once for all of them."""
    put(con, "named_runs", pa.table({"trajectory_id": pa.array(paths, pa.string())}))
    template = run_template(partial(_page_name, paths))
    with copies(con, _ROWS):
        for trajectory_id, path in paths.items():
            timeline = read_timeline(con, lake, trajectory_id)
            yield path, render_html(timeline, f"../{INDEX}", template)


def _page_name(paths: Mapping[str, str], trajectory_id: str) -> str:
    """Return the address of a run's page, seen from another run's; '' if it has none."""
    return paths.get(trajectory_id, "").removeprefix(f"{RUNS}/")


def _remove_others(runs: Path, names: Collection[str]) -> None:
    """Remove pages of runs that are not among these names."""
    for path in runs.iterdir():
        if path.name not in names and re.fullmatch(r"[0-9a-f]{32}\.html", path.name):
            path.unlink(missing_ok=True)
