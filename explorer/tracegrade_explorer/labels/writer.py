"""Hands labels to a process that writes them, and has their runs scored a little later.

The explorer itself writes nothing. A label is in the lake once `write` returns; the scoring job
begins when none has come for two seconds, and one job runs at a time.
"""

import contextlib
import logging
import select
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from tracegrade_explorer.errors import LabelNotWritten

CHILD: Final = "tracegrade_explorer.labels.child"
ANSWER_SECS: Final = 45.0
"""For an answer: the process starts, and waits for another import."""
SCORE_AFTER_SECS: Final = 2.0
MOST_REMEMBERED: Final = 10_000
"""Labels of this start that pages show before the lake's next scoring."""

logger = logging.getLogger(__name__)


class LabelGiven(NamedTuple):
    """A label that was written since the explorer started."""

    name: str
    """Who labeled."""
    verdict: str
    """good | bad | unsure; '' if the label was taken back."""
    tag: str
    note: str
    step: int | None
    """Of the run itself."""


class LabelWriter:
    """Writes labels of one lake; `close` ends its processes."""

    def __init__(self, lake: str) -> None:
        """Start nothing yet.

        Args:
            lake: Folder or URL.
        """
        self._lake = lake
        self._writing = threading.Lock()
        self._scoring = threading.Lock()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._timer: threading.Timer | None = None
        self._score: subprocess.Popen[bytes] | None = None
        self._given: dict[tuple[str, str], LabelGiven] = {}
        self._last: dict[str, str] = {}
        self._unscored: set[str] = set()
        self._closed = False

    def write(self, run_id: str, rows: Sequence[Mapping[str, Any]], given: LabelGiven) -> None:
        """Put the rows of a label into the lake, and remember it.

        Raises:
            LabelNotWritten: The process could not; what stood in the lake still does.
        """
        with self._writing:
            answer = self._answer_of_child(rows)
        if "error" in answer:
            msg = f"the label was not saved: {answer['error']}"
            raise LabelNotWritten(msg)
        with self._lock:
            self._given.pop((run_id, given.name), None)
            self._given[run_id, given.name] = given
            if len(self._given) > MOST_REMEMBERED:
                self._given.pop(next(iter(self._given)))
            if given.verdict:
                self._last[given.name] = run_id
            else:
                self._last.pop(given.name, None)
            self._unscored.add(run_id)
        self._score_later()

    def given(self, run_id: str, name: str) -> LabelGiven | None:
        """Return what somebody said of a run since the start; None if nothing."""
        return self._given.get((run_id, name))

    def labeled(self, name: str = "") -> list[str]:
        """Return the runs that were labeled since the start, by one or by anybody."""
        with self._lock:
            return [
                run_id
                for (run_id, who), label in self._given.items()
                if label.verdict and name in {"", who}
            ]

    def last(self, name: str) -> str:
        """Return the run that somebody labeled last and did not take back; '' if there is none."""
        return self._last.get(name, "")

    def awaits_scores(self, run_id: str) -> bool:
        """Return whether a run was labeled, and no scoring job that knows it has ended."""
        return run_id in self._unscored

    def close(self) -> None:
        """End the processes; what was not scored is so by the next job of the lake."""
        with self._lock:
            self._closed = True
            if self._timer:
                self._timer.cancel()
        with self._writing:
            if self._process:
                self._ended(self._process)
        if self._score:
            self._score.terminate()

    def _answer_of_child(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the answer of the process, which is started anew if it has ended."""
        if self._process is None or self._process.poll() is not None:
            self._process = _started(self._lake)
        process = self._process
        try:
            assert process.stdin is not None  # noqa: S101 - both are pipes
            assert process.stdout is not None  # noqa: S101
            process.stdin.write(orjson.dumps([*rows]) + b"\n")
            process.stdin.flush()
            ready = select.select([process.stdout], [], [], ANSWER_SECS)[0]
            line = process.stdout.readline() if ready else b""
        except OSError:
            line = b""
        if not line:
            process.kill()
            self._ended(process)
            return {"error": "the process that writes labels ended; try again"}
        answer: dict[str, Any] = orjson.loads(line)
        return answer

    def _ended(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until the process has done what it was told, and forget it."""
        with contextlib.suppress(OSError), process:
            pass  # closes its pipes, stdin first, and waits
        self._process = None

    def _score_later(self) -> None:
        with self._lock:
            if self._timer:
                self._timer.cancel()
            if not self._closed:
                self._timer = threading.Timer(SCORE_AFTER_SECS, self._score_now)
                self._timer.daemon = True
                self._timer.start()

    def _score_now(self) -> None:
        """Score what is new in the lake; after a job that runs already."""
        with self._scoring:
            with self._lock:
                if self._closed or not self._unscored:
                    return
                known = {*self._unscored}
            command = [sys.executable, "-m", "tracegrade", "score", "--lake", self._lake]
            self._score = subprocess.Popen(  # noqa: S603 - our own command
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            _, told = self._score.communicate()
            if self._score.returncode and not self._closed:
                logger.warning(
                    "labels were not scored: %s", told.decode("utf-8", "replace")[-400:]
                )
            with self._lock:
                self._unscored -= known


def _started(lake: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-m", CHILD, lake],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C of the explorer does not cut a label in two
    )
