"""Runs `tracegrade score` on what is new in a lake, in a process of its own."""

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Final

LAST_CHARACTERS: Final = 400
"""Length of the part of a failed run's stderr to keep."""
ENDED: Final = "the scoring process ended with"


class ScoringProcess:
    """The scoring runs that one explorer starts, one at a time."""

    def __init__(self, lake: str) -> None:
        """Start nothing yet.

        Args:
            lake: Folder or URL.
        """
        self._command = [sys.executable, "-m", "tracegrade", "score", "--lake", lake]
        self._one_at_a_time = threading.Lock()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self.when_scored: Callable[[], object] = lambda: None
        """Called after each run that succeeded."""

    @property
    def is_running(self) -> bool:
        """Whether a scoring run is under way."""
        return self._process is not None

    def run(self) -> str:
        """Score what is new, after a run that is under way; return why it failed, '' if not."""
        with self._one_at_a_time:
            with self._lock:
                if self._closed:
                    return ""
                process = self._process = self._started()
            _, errors = process.communicate()
            with self._lock:
                self._process = None
                failed = process.returncode and not self._closed
        if not process.returncode:
            self.when_scored()
        text = errors.decode("utf-8", "replace")[-LAST_CHARACTERS:]
        return (text or f"{ENDED} {process.returncode}") if failed else ""

    def close(self) -> None:
        """End a run that is under way; the next one repeats it."""
        with self._lock:
            self._closed = True
            if self._process:
                self._process.terminate()

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our own command
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
