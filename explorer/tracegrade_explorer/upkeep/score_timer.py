"""Scores what is new in a lake every so many seconds, while its pages are read."""

import logging
import threading
from collections.abc import Callable

import duckdb

from tracegrade.errors import TracegradeError
from tracegrade_explorer.upkeep.scoring_process import ScoringProcess

logger = logging.getLogger(__name__)


class ScoreTimer:
    """Starts a scoring run at each turn at which there may be something to score."""

    def __init__(
        self, scoring: ScoringProcess, every_secs: float, is_due: Callable[[], bool]
    ) -> None:
        """Start nothing yet.

        Args:
            scoring: Runs the command.
            every_secs: From the end of one run to the next.
            is_due: Whether there may be something to score.
        """
        self.every_secs = every_secs
        self._scoring = scoring
        self._is_due = is_due
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._fault = ""

    def follow(self) -> None:
        """Score from now on, in a thread."""
        self._thread = threading.Thread(target=self._follow, name="scores", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, once the scoring process has ended."""
        self._stopped.set()
        if self._thread:
            self._thread.join()

    def _follow(self) -> None:
        while not self._stopped.wait(self.every_secs):
            try:
                is_due = self._is_due() or bool(self._fault)  # what a failed run left is still new
                fault = self._scoring.run() if is_due else ""
            except (TracegradeError, duckdb.Error, OSError) as error:
                fault = str(error)
            if fault and fault != self._fault:
                logger.warning("new runs are not scored: %s", fault)
            self._fault = fault
