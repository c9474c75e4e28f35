"""Prints log records on stderr, in which no text of a trace acts on a terminal."""

import logging

from tracegrade.terminal.visible import visible_text


class _Visible(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Return the line and its traceback, in which nothing acts on a terminal."""
        return visible_text(super().format(record))


def show_logs() -> None:
    """Print log records from now on, unless another handler does."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Visible())
    logging.basicConfig(handlers=[handler])
