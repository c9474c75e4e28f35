"""Shows the progress of a long command on stderr: one line on a terminal, else plain lines."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from tracegrade.terminal.visible import echo, visible

PLAIN_EVERY_SECS: Final = 1.0
"""Seconds between lines of a log, because a line for each of thousands of files is useless."""


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step in a line; the line disappears at the end."""
    if not sys.stderr.isatty():
        yield _Plain().note
        return
    from rich.console import Console  # noqa: PLC0415 - 50 ms that other commands need not wait
    from rich.text import Text  # noqa: PLC0415

    with Console(stderr=True).status("") as status:
        yield lambda line: status.update(Text(visible(line)))


class _Plain:
    """Prints a line at most once a second, and never the same twice running."""

    def __init__(self) -> None:
        self._last = ""
        self._due = 0.0

    def note(self, line: str) -> None:
        now = time.monotonic()
        if now >= self._due and line != self._last:
            echo(line, err=True)
            self._last, self._due = line, now + PLAIN_EVERY_SECS
