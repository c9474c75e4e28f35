"""`tracegrade report`: says what a scored lake holds, on a terminal or in a file.

Rendering is imported when it is asked for, so that `--help` stays quick.
"""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracegrade_scoring.rendering.output import put_out, screen

if TYPE_CHECKING:
    from tracegrade_scoring.report.model import Report
    from tracegrade_scoring.timeline.model import Timeline


Level = Annotated[
    float, typer.Option(min=0.5, max=0.999, help="Share of intervals that hold the true value.")
]


class Format(StrEnum):
    """How a report is written."""

    TERMINAL = "terminal"
    HTML = "html"
    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"


class Compat(StrEnum):
    """A source text that a report can follow to the letter."""

    TRIANGLE = "triangle"


class MissingAttempts(StrEnum):
    """What attempts of unknown success count as."""

    EXCLUDE = "exclude"
    AS_FAILURE = "as-failure"


def report(  # noqa: PLR0913, PLR0917 - one parameter per option
    lake: Annotated[
        str, typer.Option(envvar="TRACEGRADE_LAKE", help="Folder or URL.", metavar="LAKE")
    ],
    format_: Annotated[
        Format, typer.Option("--format", help="How to write it.")
    ] = Format.TERMINAL,
    out: Annotated[
        Path | None, typer.Option(help="File to write; else stdout.", metavar="FILE")
    ] = None,
    trajectory: Annotated[
        str | None,
        typer.Option(help="One run, step by step: its id or the beginning.", metavar="ID"),
    ] = None,
    min_trials: Annotated[
        int, typer.Option(min=1, help="Reliability leaves out tasks with fewer attempts.")
    ] = 1,
    missing: Annotated[
        MissingAttempts, typer.Option(help="What attempts of unknown success count as.")
    ] = MissingAttempts.EXCLUDE,
    trials: Annotated[
        int, typer.Option(min=0, help="Attempts that each task should have, for as-failure.")
    ] = 0,
    level: Level = 0.95,
    compat: Annotated[
        Compat | None,
        typer.Option(help="T-Score and its tool selection as this article's text has them."),
    ] = None,
) -> None:
    """Show the scores of each release of each agent, or one run, with the evidence."""
    from tracegrade_scoring.report import lake as opened  # noqa: PLC0415 - keeps --help quick
    from tracegrade_scoring.report.model import Counting, Reading  # noqa: PLC0415

    note = partial(typer.echo, err=True)
    counting = Counting(min_trials, missing.value, trials)
    if trajectory is None:
        found = opened.read_lake(lake, note, counting, Reading(level, compat is not None))
        text = _render(found, format_, out)
    else:
        whole = format_ in {Format.JSON, Format.CSV}
        run = opened.read_run(lake, note, trajectory, whole=whole)
        text = _render_run(run, format_, out)
    put_out(text, out, "report")


def _render(found: "Report", format_: Format, out: Path | None) -> str:
    match format_:
        case Format.TERMINAL:
            from tracegrade_scoring.report.terminal import render_terminal  # noqa: PLC0415

            width, colour = screen(out)
            return render_terminal(found, width=width, colour=colour)
        case Format.HTML:
            from tracegrade_scoring.report.html import render_html  # noqa: PLC0415

            return render_html(found)
        case Format.MARKDOWN:
            from tracegrade_scoring.report.markdown import render_markdown  # noqa: PLC0415

            return render_markdown(found)
        case Format.JSON:
            from tracegrade_scoring.report.as_json import render_json  # noqa: PLC0415

            return render_json(found)
        case Format.CSV:
            from tracegrade_scoring.report.as_csv import render_csv  # noqa: PLC0415

            return render_csv(found)


def _render_run(found: "Timeline", format_: Format, out: Path | None) -> str:
    match format_:
        case Format.TERMINAL:
            from tracegrade_scoring.timeline.terminal import render_terminal  # noqa: PLC0415

            width, colour = screen(out)
            return render_terminal(found, width=width, colour=colour)
        case Format.HTML:
            from tracegrade_scoring.timeline.html import render_html  # noqa: PLC0415

            return render_html(found)
        case Format.MARKDOWN:
            from tracegrade_scoring.timeline.markdown import render_markdown  # noqa: PLC0415

            return render_markdown(found)
        case Format.JSON:
            from tracegrade_scoring.timeline.as_json import render_json  # noqa: PLC0415

            return render_json(found)
        case Format.CSV:
            from tracegrade_scoring.timeline.as_csv import render_csv  # noqa: PLC0415

            return render_csv(found)
