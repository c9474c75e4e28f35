"""Failure of a stage of the demo: one line with the cause, and the log."""

from pathlib import Path


class StageError(Exception):
    """A stage did not produce the input of the next one."""

    def __init__(self, text: str, log: Path | None = None) -> None:
        super().__init__(text)
        self.log = log
        """Output of the stage's process, if it had one."""
