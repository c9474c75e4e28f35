"""`tracegrade report`: says what a scored lake holds, on a terminal or in a file.

Rendering is imported when it is asked for, so that `--help` stays quick.
"""

import os
import shutil
import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracegrade_scoring.report.output import print_text, write_text

if TYPE_CHECKING:
    from tracegrade_scoring.report.model import Report


class Format(StrEnum):
    """How a report is written."""

    TERMINAL = "terminal"
    HTML = "html"
    MARKDOWN = "markdown"
    JSON = "json"


def report(
    lake: Annotated[
        str, typer.Option(envvar="TRACEGRADE_LAKE", help="Folder or URL.", metavar="LAKE")
    ],
    format_: Annotated[
        Format, typer.Option("--format", help="How to write it.")
    ] = Format.TERMINAL,
    out: Annotated[
        Path | None, typer.Option(help="File to write; else stdout.", metavar="FILE")
    ] = None,
) -> None:
    """Show the scores of each release of each agent, with the evidence behind them."""
    from tracegrade_scoring.report.lake import read_lake  # noqa: PLC0415 - keeps --help quick

    found = read_lake(lake, partial(typer.echo, err=True))
    text = _render(found, format_, on_terminal=out is None and sys.stdout.isatty())
    if out is None:
        print_text(text)
    else:
        write_text(out, text)
        typer.echo(f"report: {out}", err=True)


def _render(found: "Report", format_: Format, *, on_terminal: bool) -> str:
    match format_:
        case Format.TERMINAL:
            from tracegrade_scoring.report.terminal import render_terminal  # noqa: PLC0415

            width = shutil.get_terminal_size(fallback=(100, 24)).columns
            colour = on_terminal and "NO_COLOR" not in os.environ
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
