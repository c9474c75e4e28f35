"""Searches the texts of steps date by date, the newest first, for some seconds."""

import os
import select
import time
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, Final, NamedTuple

import orjson

from tracegrade_explorer.errors import SqlStopped
from tracegrade_explorer.sql_process.process import (
    GRACE_SECS,
    MEMORY_BYTES,
    ReadingProcess,
    reading_process,
    stopped,
)
from tracegrade_queries.errors import QueryFailed

SECS: Final = 5.0
"""After which no further date is waited for."""
DATE_SECS: Final = 40.0
"""For the first date, so that each search gets on by one."""
HITS: Final = 50
OF_RUN: Final = 3
"""Steps of one run; its page has the others."""
BEFORE, LENGTH = 80, 320
"""Characters of an excerpt before the match, and in total."""
PIECE_BYTES: Final = 1 << 16
CHILD: Final = "tracegrade_explorer.sql_process.search_child"


class SearchCursor(NamedTuple):
    """The start of a search: a date, and a run to begin after."""

    date: date
    run: str = ""
    """'' to begin with the date's first run."""


class Searched(NamedTuple):
    """The result of one search."""

    hits: list[dict[str, Any]]
    """Rows of `text_hits`, those of newer dates first."""
    dates: int
    """Searched to their end."""
    following: SearchCursor | None
    """The position to continue at; None if all dates have been searched."""


def search(
    lake: str, text: str, dates: Sequence[date], after: SearchCursor | None = None
) -> Searched:
    """Return the first steps whose texts contain a text, in any case.

    It stops at `HITS`, or after `SECS`; the first date is searched to its end, or to its last hit
    that is wanted.

    Args:
        lake: Path or URL of the lake.
        text: The text to find; not empty.
        dates: Receipt dates of traces, in the order of the search, at least one; the first is that
            of `after`.
        after: The run to begin after; None for the first date's first run.

    Raises:
        SqlStopped: The first date took more time or memory than it may.
        QueryFailed: The engine refuses it.
        TooSlow: Several others wait already.
    """
    job = {
        "lake": lake, "dates": dates, "rows": HITS, "after_run": after.run if after else "",
        "given": {"text": text, "of_run": OF_RUN, "before": BEFORE, "length": LENGTH},
        "memory_bytes": MEMORY_BYTES, "secs": DATE_SECS + GRACE_SECS,
    }  # fmt: skip
    with reading_process(CHILD, job) as reading:
        return _searched([*_answers(reading, lake)], dates)


def _searched(answers: Sequence[dict[str, Any]], dates: Sequence[date]) -> Searched:
    hits = [{"date": answer["date"], **hit} for answer in answers for hit in answer["hits"]]
    if answers and answers[-1]["more"]:
        cursor = SearchCursor(dates[len(answers) - 1], hits[-1]["trajectory_id"])
        return Searched(hits, len(answers) - 1, cursor)
    rest = dates[len(answers) :]
    return Searched(hits, len(answers), SearchCursor(rest[0]) if rest else None)


def _answers(reading: ReadingProcess, lake: str) -> Iterator[dict[str, Any]]:
    """Yield the answer for each date until the time is over."""
    lines, begun, found = _Lines(reading), time.monotonic(), 0
    why = f"a date took longer than {DATE_SECS:g} s"
    while line := lines.read(begun + (SECS if found else DATE_SECS)):
        answer: dict[str, Any] = orjson.loads(line)
        if "error" in answer:
            raise QueryFailed(answer["error"])
        if "stopped" in answer:
            why = answer["stopped"]
            break
        found += 1
        yield answer
    if not found:
        raise SqlStopped(stopped(lake, why))


class _Lines:
    """The lines of a process's output."""

    def __init__(self, reading: ReadingProcess) -> None:
        self._output = reading.output
        self._unread = reading.first

    def read(self, until: float) -> bytes:
        """Return the next line; b"" if the output ends, or a time is reached, before that."""
        while b"\n" not in self._unread:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._output], [], [], left)[0]:
                return b""
            piece = os.read(self._output.fileno(), PIECE_BYTES)
            if not piece:
                return b""
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        return line
