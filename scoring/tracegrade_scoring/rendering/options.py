"""Options that several commands have."""

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from tracegrade_scoring.rendering.times import WAYS, parse_length, parse_time

RUNS: Final = "Which runs"
STATISTICS: Final = "Statistics"
TRACES: Final = "Which traces"
LATER: Final = "Tasks, prices and dimensions, which later runs of score use again"

LakeOption = Annotated[
    str, typer.Option(envvar="TRACEGRADE_LAKE", help="Folder or URL.", metavar="LAKE")
]

OutOption = Annotated[
    Path | None,
    typer.Option(
        help="File to write, else stdout. As HTML also a folder, for which a path without an "
        "ending is taken: index.html and a page for each run that it names.",
        metavar="PATH",
    ),
]

LevelOption = Annotated[
    float,
    typer.Option(
        min=0.5,
        max=0.999,
        help="Share of intervals that hold the true value.",
        rich_help_panel=STATISTICS,
    ),
]


FragmentsOption = Annotated[
    bool | None,
    typer.Option(
        "--fragments/--no-fragments",
        help="Score traces of tools, or of titles and summaries, alone as runs, too.",
        rich_help_panel=LATER,
    ),
]

RetrievalOption = Annotated[
    bool | None,
    typer.Option(
        "--retrieval/--no-retrieval",
        help="Searches and operations on memory that a program makes itself are calls, too. If "
        "this changes, every trace is built again.",
        rich_help_panel=LATER,
    ),
]


class MissingAttempts(StrEnum):
    """The ways to count attempts of unknown success."""

    EXCLUDE = "exclude"
    AS_FAILURE = "as-failure"


MissingOption = Annotated[
    MissingAttempts,
    typer.Option(
        help="Counts attempts of unknown success, and with --trials missing ones, in this way.",
        rich_help_panel=STATISTICS,
    ),
]

TrialsOption = Annotated[
    int,
    typer.Option(
        min=0,
        help="Attempts that each task should have, also of a task that another release tried.",
        rich_help_panel=STATISTICS,
    ),
]

RuleFileOption = Annotated[
    Path | None,
    typer.Option(
        "--release-rule",
        help="TOML file whose table [release] says when the candidate may ship.",
        metavar="FILE",
    ),
]

WeightsOption = Annotated[
    str,
    typer.Option(
        help="Weights of the T-Score's axes: default, research, etl, api, code, infrastructure, "
        "financial, or numbers such as tsa=1.2,pq=1,ra=0.8.",
        metavar="WEIGHTS",
        rich_help_panel=STATISTICS,
    ),
]


def utc_time(text: str) -> datetime:
    """Return a time that the user typed in the form of tables: in UTC, without an offset.

    Raises:
        BadParameter: It is not a time (`rendering/times.py`).
    """
    if (time := parse_time(text)) is None:
        msg = f"'{text}' is not a time; write {WAYS}"
        raise typer.BadParameter(msg)
    return time


TracesSinceOption = Annotated[
    datetime | None,
    typer.Option(
        parser=utc_time,
        metavar="TIME",
        help="Only traces with a run that started at or after this time (UTC).",
        rich_help_panel=TRACES,
    ),
]

TracesUntilOption = Annotated[
    datetime | None,
    typer.Option(
        parser=utc_time,
        metavar="TIME",
        help="Only traces with a run that started before this time (UTC).",
        rich_help_panel=TRACES,
    ),
]


def seconds(text: str) -> float:
    """Return the seconds of a length of time that the user typed.

    Raises:
        BadParameter: It is not one, or has no length.
    """
    if not (secs := parse_length(text)):
        msg = f"'{text}' is not a length of time; write 30s, 10m, 1h or 7d"
        raise typer.BadParameter(msg)
    return secs


KeepReplacedOption = Annotated[
    float | None,
    typer.Option(
        parser=seconds,
        help="Keep files of steps and scores that later runs replaced for so long, for readers "
        "that began before; if not given, 12h, and 1h with --follow. 1h is the least.",
        metavar="TIME",
    ),
]
