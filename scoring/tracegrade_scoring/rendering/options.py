"""Options that several commands have."""

import re
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

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
    float, typer.Option(min=0.5, max=0.999, help="Share of intervals that hold the true value.")
]


class MissingAttempts(StrEnum):
    """What attempts of unknown success count as."""

    EXCLUDE = "exclude"
    AS_FAILURE = "as-failure"


MissingOption = Annotated[
    MissingAttempts,
    typer.Option(help="How to count attempts of unknown success and, with --trials, missing."),
]

TrialsOption = Annotated[
    int,
    typer.Option(
        min=0,
        help="Attempts that each task should have, also of a task that another release tried.",
    ),
]

_DATED: Final = re.compile(r"\d{4}-?\d\d-?\d\d([T ].+)?", re.ASCII)


def utc_time(text: str) -> datetime:
    """Return a time that somebody typed as tables hold it: in UTC, without an offset.

    It is ISO 8601, so that eight digits are a date and no seconds; without an offset it is UTC.

    Raises:
        BadParameter: It is no time.
    """
    try:
        if _DATED.fullmatch(text):
            given = datetime.fromisoformat(text)
            return given.astimezone(UTC).replace(tzinfo=None) if given.tzinfo else given
    except (OverflowError, ValueError):  # no day of the calendar
        pass
    msg = f"'{text}' is no time; write 2026-11-21, or 2026-11-21T09:30, in UTC or with its offset"
    raise typer.BadParameter(msg)
