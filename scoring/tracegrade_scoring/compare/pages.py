"""A comparison as a folder: its page, and one for each run that it names."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tracegrade_scoring.compare.html import render_html
from tracegrade_scoring.compare.judgement import Judgement
from tracegrade_scoring.compare.lake import AskedReleases, opened_judgement
from tracegrade_scoring.compare.rules import Rule
from tracegrade_scoring.timeline.folder import write_folder


def write_pages(
    place: str | Path,
    note: Callable[[str], object],
    asked: AskedReleases,
    rules: Sequence[Rule],
    folder: Path,
) -> tuple[Judgement, int]:
    """Write the comparison of a lake as it is now; return it, and how many runs have a page.

    Args:
        place: Path or URL of the lake.
        note: Gets a line if reading it is slow.
        asked: What a reader chose.
        rules: What must not happen.
        folder: Made if it is not there.

    Raises:
        ReportNotWritten: The folder, or a file in it, cannot be written; else as
            `read_judgement`.
    """
    with opened_judgement(place, note, asked, rules) as (con, judgement):
        return judgement, write_folder(con, str(place), folder, partial(render_html, judgement))
