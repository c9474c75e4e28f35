"""Failure of a stage of the demo: one line with the cause, and the log."""

from pathlib import Path


class StageError(Exception):
    """A stage did not do what the next one needs."""

    def __init__(self, text: str, log: Path | None = None) -> None:
        super().__init__(text)
        self.log = log
        """What the stage's process printed, if it had one."""
