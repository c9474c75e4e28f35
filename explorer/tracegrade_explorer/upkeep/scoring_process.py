"""Runs `tracegrade score` on what is new in a lake, in a process of its own.

The process may be started ahead: its imports take a second of CPU, which a label would wait for.
"""

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Final

CHILD: Final = "tracegrade_explorer.upkeep.scoring_child"
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
        self._command = [sys.executable, "-m", CHILD, lake]
        self._one_at_a_time = threading.Lock()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._ahead: subprocess.Popen[bytes] | None = None
        """Started, and waits for its line."""
        self._closed = False
        self.when_scored: Callable[[], object] = lambda: None
        """Called after each run that succeeded."""

    @property
    def is_running(self) -> bool:
        """Whether a scoring run is under way."""
        return self._process is not None

    def prepare(self) -> None:
        """Start the process of the next run, which will be soon."""
        with self._lock:
            if not self._closed and self._ahead is None:
                self._ahead = self._started()

    def run(self) -> str:
        """Score what is new, after a run that is under way; return why it failed, '' if not."""
        with self._one_at_a_time:
            with self._lock:
                if self._closed:
                    return ""
                ahead, self._ahead = self._ahead, None
                is_ready = ahead is not None and ahead.poll() is None
                process = self._process = ahead if ahead and is_ready else self._started()
            _, errors = process.communicate(b"score\n")
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
            ahead, self._ahead = self._ahead, None
            if self._process:
                self._process.terminate()
        if ahead:
            ahead.communicate()  # closes its stdin, so that it ends

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our own command
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
