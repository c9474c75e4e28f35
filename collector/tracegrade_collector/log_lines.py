"""The collector's log lines, on stderr: for people, or one JSON object per line for machines.

They hold facts about requests (counts, sizes, sequence numbers), never their content. For an
exception they give class and location: its text may quote unreadable input.
"""

import json
import logging
from datetime import UTC, datetime
from traceback import format_tb
from typing import Any

from tracegrade.terminal.visible import visible_text

TEXT, JSON = "text", "json"
FORMATS = (TEXT, JSON)
MAX_CAUSES = 5


def log_to_stderr(process: str, log_format: str) -> None:
    """Write log lines in one of the `FORMATS`; lines of libraries only from WARNING on."""
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines(process) if log_format == JSON else _Text(process))
    logging.basicConfig(handlers=[handler], force=True)
    logging.getLogger(__package__).setLevel(logging.INFO)


class _WithoutContent(logging.Formatter):
    def formatException(self, ei: Any) -> str:  # noqa: N802 - the library's name
        """Return where an exception and its causes were raised, without their texts."""
        error: BaseException | None = ei[1]
        lines: list[str] = []
        while error and len(lines) < MAX_CAUSES:
            trace = "".join(format_tb(error.__traceback__))
            lines.append(
                f"{type(error).__qualname__}, raised here (most recent call last):\n{trace}"
            )
            error = error.__cause__ or error.__context__
        return "caused by ".join(lines).rstrip()


class _Text(_WithoutContent):
    def __init__(self, process: str) -> None:
        super().__init__(f"%(asctime)s %(levelname)s {process}: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, in which nothing acts on a terminal."""
        return visible_text(super().format(record))


class _JsonLines(_WithoutContent):
    """Members: time (UTC), level, process, logger, message; error, its class and traceback."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; a line break in a message or a traceback is escaped."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "process": self._process,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)
