"""What a session writes if asked to: a lake with its runs, and a report with a page for each.

Captures of several processes are put together here, so a session of xdist has one of each.
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from tracegrade_collector.importing.importer import import_files
from tracegrade_lake import Lake
from tracegrade_scoring.job.in_memory import add_release_scores, score_in_memory
from tracegrade_scoring.job.run_scoring import score as score_lake
from tracegrade_scoring.rendering.kill_pages import NamedPages
from tracegrade_scoring.report.html import render_html
from tracegrade_scoring.report.model import Report
from tracegrade_scoring.report.read import read_report
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.timeline.folder import NO_SOURCE, write_folder
from tracegrade_testing.recent import SessionNotes
from tracegrade_testing.requests import CaptureRequests, raw_rows

NAME: Final = "these tests"


def plain_captures(notes: SessionNotes) -> dict[str, Any]:
    """Return the captures of a process as another process can receive them."""
    specification = merged([each for _, each in notes.captures])
    return {
        "tasks": specification.model_dump_json(exclude_unset=True),
        "captures": [(each.spans, each.logs) for each, _ in notes.captures],
    }


def merged(specifications: Sequence[Specification]) -> Specification:
    """Return all tools and tasks of specifications; of two with one name the last."""
    return Specification(
        tools={name: tool for each in specifications for name, tool in each.tools.items()},
        tasks={name: task for each in specifications for name, task in each.tasks.items()},
    )


def write_outputs(
    parts: Sequence[Mapping[str, Any]],
    failed: Sequence[str],
    *,
    report: str | None,
    lake: str | None,
) -> None:
    """Write what is asked for.

    Args:
        parts: What `plain_captures` returned in each process.
        failed: Ids of runs that failed a test; each gets a page.
        report: Folder of the report; None for none.
        lake: Folder of the lake, which is made if it does not exist; None for none.
    """
    specification = merged(
        [Specification.model_validate(json.loads(part["tasks"])) for part in parts]
    )
    captures = [
        CaptureRequests(spans, logs, frozenset())
        for part in parts
        for spans, logs in part["captures"]
    ]
    if lake is not None:
        _write_lake(Path(lake), captures, specification)
    if report is not None:
        _write_report(Path(report), captures, specification, failed)


def _write_lake(
    folder: Path, captures: Sequence[CaptureRequests], specification: Specification
) -> None:
    lake = Lake.create(folder)
    with tempfile.TemporaryDirectory() as name:
        files = []
        for signal in ("spans", "logs"):
            # Requests in protobuf that follow one another are one request with all their items.
            body = b"".join(getattr(each, signal) for each in captures)
            if body:
                files.append(Path(name) / f"{signal}.pb")
                files[-1].write_bytes(body)
        import_files(lake, files, lambda _: None)
    score_lake(lake, specification, wait=True)


def _write_report(
    folder: Path,
    captures: Sequence[CaptureRequests],
    specification: Specification,
    failed: Sequence[str],
) -> None:
    with score_in_memory(*raw_rows(captures), specification) as con:
        add_release_scores(con, specification)
        report = read_report(con, NAME)
        source = NO_SOURCE._replace(specification=specification)
        write_folder(con, NAME, folder, partial(_index, report, failed), source)


def _index(report: Report, failed: Sequence[str], pages: NamedPages) -> str:
    """Return the report; runs that failed a test get their pages before others."""
    for trajectory_id in failed:
        pages.run(trajectory_id)
    return render_html(report, pages)
