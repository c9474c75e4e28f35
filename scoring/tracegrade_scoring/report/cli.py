"""`tracegrade report`: shows what a scored lake holds, on a terminal or in a file.

Rendering is imported when it is asked for, so that `--help` stays quick.
"""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from tracegrade_scoring.rendering.formats import ReportFormat, render
from tracegrade_scoring.rendering.options import (
    LakeOption,
    LevelOption,
    MissingAttempts,
    MissingOption,
    TrialsOption,
)
from tracegrade_scoring.rendering.output import put_out


class ReportCompat(StrEnum):
    """A source text that a report can follow to the letter."""

    TRIANGLE = "triangle"


def report(  # noqa: PLR0913, PLR0917 - one parameter per option
    lake: LakeOption,
    format_: Annotated[
        ReportFormat, typer.Option("--format", help="How to write it.")
    ] = ReportFormat.TERMINAL,
    out: Annotated[
        Path | None, typer.Option(help="File to write; else stdout.", metavar="FILE")
    ] = None,
    trajectory: Annotated[
        str | None,
        typer.Option(help="Show one run step by step; ID may be the first digits.", metavar="ID"),
    ] = None,
    min_trials: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Leave tasks with fewer attempts out of reliability; 3, as tiers do, unless "
            "given, or 1 where no task has as many.",
        ),
    ] = None,
    missing: MissingOption = MissingAttempts.EXCLUDE,
    trials: TrialsOption = 0,
    level: LevelOption = 0.95,
    compat: Annotated[
        ReportCompat | None,
        typer.Option(help="Compute the T-Score and its axes exactly as in this article's text."),
    ] = None,
) -> None:
    """Show the scores of each release of each agent, or one run, with the evidence."""
    from tracegrade_scoring.report import lake as opened
    from tracegrade_scoring.report.model import Counting, ReportOptions

    note = partial(typer.echo, err=True)
    counting = Counting(min_trials, missing.value, trials)
    if trajectory is None:
        found = opened.read_lake(lake, note, counting, ReportOptions(level, compat is not None))
        text = render(found, "tracegrade_scoring.report", format_, out)
    else:
        whole = format_ in {ReportFormat.JSON, ReportFormat.CSV}
        run = opened.read_run(lake, note, trajectory, whole=whole)
        text = render(run, "tracegrade_scoring.timeline", format_, out)
    put_out(text, out, "report")
