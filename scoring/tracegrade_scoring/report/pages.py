"""A report as a folder: its page, and one for each run that it names."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tracegrade_scoring.report.html import render_html
from tracegrade_scoring.report.lake import ReportRequest, opened_report
from tracegrade_scoring.report.model import Report
from tracegrade_scoring.timeline.folder import write_folder


def write_pages(
    place: str | Path, note: Callable[[str], object], asked: ReportRequest, folder: Path
) -> tuple[Report, int]:
    """Write the report of a lake as it is now; return it, and how many runs have a page.

    Args:
        place: Path or URL of the lake.
        note: Gets a line if reading it is slow.
        asked: What a reader chose.
        folder: Made if it is not there.

    Raises:
        ReportNotWritten: The folder, or a file in it, cannot be written; else as `read_lake`.
    """
    with opened_report(place, note, asked) as (con, report):
        return report, write_folder(con, str(place), folder, partial(render_html, report))
