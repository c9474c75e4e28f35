"""A page and, in folders below it, pages of the runs and of the kills that it names."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
from duckdb import DuckDBPyConnection

from tracegrade_lake import Lake
from tracegrade_queries.engine.relations import copies, put
from tracegrade_scoring.errors import ReportNotWritten
from tracegrade_scoring.rendering.kill_pages import (
    KILLS,
    KillPages,
    NamedPages,
    NoKillPages,
    kill_pages_of,
)
from tracegrade_scoring.rendering.output import WrittenPages, write_text
from tracegrade_scoring.rendering.page_paths import PagePaths, remove_other_pages
from tracegrade_scoring.tasks.load import Specification
from tracegrade_scoring.tasks.stored import NO_TASKS, readable_specification
from tracegrade_scoring.timeline.cards.read import read_cards
from tracegrade_scoring.timeline.html import PageLinks, render_html, run_template
from tracegrade_scoring.timeline.read import identified, read_dated_timeline

INDEX: Final = "index.html"
RUNS: Final = "runs"

_NAMED: Final = "SELECT trajectory_id FROM named_runs"
_OF_RUN: Final = f"trajectory_id IN ({_NAMED})"
_TRACES: Final = "SELECT split_part(trajectory_id, '-', 1) FROM named_runs"
_TEAMS: Final = f"""\
SELECT members.trajectory_id
FROM agents AS members
JOIN trajectories AS named USING (trace_id)
WHERE named.{_OF_RUN}"""
_OF_STEP: Final = f"{_OF_RUN} OR step_trajectory_id IN ({_NAMED})"
_ROWS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("decisions", "failed_calls", "failures"), _OF_STEP),
    "observed_step_scores": _OF_RUN,
    "run_reasons": _OF_RUN,
    "steps": f"{_OF_RUN} OR trajectory_id IN ({_TEAMS})",
    "sub_goals": _OF_RUN,
    "trajectories": f"{_OF_RUN} OR parent_trajectory_id IN ({_NAMED})",
    "trajectory_scores": _OF_RUN,
    "verdicts": f"trajectory_id IN ({_NAMED} UNION {_TRACES})",
}
"""By relation, the rows that pages of runs are made of. Step scores are copied as they are read,
before the others: what a task was seen to need at least is of all its runs."""


class FolderSource(NamedTuple):
    """What the pages of a folder need of a lake besides its relations."""

    specification: Specification = NO_TASKS
    """The tasks that it was scored against last."""
    kills: KillPages = NoKillPages()


NO_SOURCE: Final = FolderSource()


def folder_source(lake: Lake) -> FolderSource:
    """Return what the pages of a folder need of a lake."""
    return FolderSource(readable_specification(lake), kill_pages_of(lake))


def write_folder(
    con: DuckDBPyConnection,
    lake: str,
    folder: Path,
    index: Callable[[NamedPages], str],
    source: FolderSource = NO_SOURCE,
) -> WrittenPages:
    """Write a page and the pages of the runs and kills that it names; return their numbers.

    Pages of runs and kills that an earlier page named are removed, other files stay.

    Args:
        con: Holds the tables of a lake.
        lake: The lake's name for the reader.
        folder: Created if it does not exist.
        index: Returns the page, given functions that return the location of other pages.
        source: What else the pages need.

    Raises:
        ReportNotWritten: The folder or a file in it cannot be written.
    """
    runs = PagePaths(RUNS)
    page = index(NamedPages(runs, source.kills))
    for trajectory_id in [*runs.paths]:
        source.kills.lines(trajectory_id)  # gives its kills their pages
    kills = dict(source.kills.pages(f"../{INDEX}", runs))
    _make(folder / RUNS)
    if kills:
        _make(folder / KILLS)
    for path, text in (*kills.items(), *_run_pages(con, lake, runs, source)):
        write_text(folder / path, text)
    write_text(folder / INDEX, page)
    remove_other_pages(folder / RUNS, runs.paths.values())
    remove_other_pages(folder / KILLS, kills)
    return WrittenPages(len(runs.paths), len(kills))


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make the folder {folder}: {error.strerror}; name another with --out"
        raise ReportNotWritten(msg) from error


def _run_pages(
    con: DuckDBPyConnection, lake: str, runs: PagePaths, source: FolderSource
) -> Iterator[tuple[str, str]]:
    """Yield path and text of the page of each run; the lake is read once for all of them."""
    put(con, "named_runs", pa.table({"trajectory_id": pa.array(runs.paths, pa.string())}))
    run_page = partial(_page_name, runs)
    template = run_template(run_page)
    with copies(con, _ROWS):
        for trajectory_id, path in runs.paths.items():
            _, day = identified(con, trajectory_id)
            timeline = read_dated_timeline(con, lake, trajectory_id, day)
            cards = read_cards(con, timeline, day, source.specification, run_page)
            task = source.specification.tasks.get(timeline.run.task_id or "")
            kills = [
                line._replace(href=line.href and f"../{line.href}")
                for line in source.kills.lines(trajectory_id)
            ]
            links = PageLinks(f"../{INDEX}", kills)
            yield path, render_html(timeline, links, template, task, cards)


def _page_name(runs: PagePaths, trajectory_id: str) -> str:
    """Return the address of a run's page, seen from another run's; '' if it has none."""
    return runs.known(trajectory_id).removeprefix(f"{RUNS}/")
