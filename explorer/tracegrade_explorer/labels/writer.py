"""Passes labels to a process that writes them, and scores their runs a little later.

The explorer itself writes nothing. A label is in the lake once `write` returns. The scoring job
begins when no label has arrived for two seconds, and one job runs at a time.
"""

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tracegrade_explorer.errors import LabelNotWritten
from tracegrade_explorer.labels.kill_scores import KillScore, ScoredKill, row_of_score
from tracegrade_explorer.upkeep.line_process import LineProcess
from tracegrade_explorer.upkeep.scoring_process import ScoringProcess

CHILD: Final = "tracegrade_explorer.labels.child"
ANSWER_SECS: Final = 45.0
"""For an answer: the process starts, and waits for another import."""
ENDED: Final = "the process that writes labels ended; try again"
SCORE_AFTER_SECS: Final = 2.0
MOST_REMEMBERED: Final = 10_000
"""Labels of this start that pages show before the lake's next scoring."""

logger = logging.getLogger(__name__)


class LabelGiven(NamedTuple):
    """A label that was written since the explorer started."""

    name: str
    """The labeler's name."""
    verdict: str
    """good | bad | unsure; '' if the label was taken back."""
    tag: str
    note: str
    step: int | None
    """None labels the run itself."""


class LabelWriter:
    """Writes labels of one lake; `close` ends its processes."""

    def __init__(self, lake: str, scoring: ScoringProcess | None = None) -> None:
        """Start nothing yet.

        Args:
            lake: Folder or URL.
            scoring: Scores the same lake; None for a process of its own.
        """
        self._writing = threading.Lock()
        self._one_at_a_time = threading.Lock()
        self._lock = threading.Lock()
        self._process = LineProcess(CHILD, lake)
        self._timer: threading.Timer | None = None
        self._scoring = scoring or ScoringProcess(lake)
        self._given: dict[tuple[str, str], LabelGiven] = {}
        self._scores: dict[tuple[str, str, str], KillScore] = {}
        self._last: dict[str, str] = {}
        self._unscored: set[str] = set()
        self._failure = ""
        self._closed = False

    def start(self) -> None:
        """Start the process that writes, for which the first label would wait."""
        if self._writing.acquire(blocking=False):
            try:
                if not self._closed:
                    self._process.start()
            finally:
                self._writing.release()

    def write(self, run_id: str, rows: Sequence[Mapping[str, Any]], given: LabelGiven) -> None:
        """Put the rows of a label into the lake, and remember it.

        Raises:
            LabelNotWritten: The process failed; the lake is unchanged.
        """
        self._written("label", [*rows])
        self._remember(run_id, given)
        self._score_later()

    def write_score(self, kill: ScoredKill, name: str, given: KillScore) -> None:
        """Put a person's score of a kill into the lake, and remember it.

        Raises:
            LabelNotWritten: The process failed; the lake is unchanged.
        """
        self._written("score", [row_of_score(kill, name, given)])
        with self._lock:
            self._scores[kill.run_id, kill.kill_point, name] = given
            if len(self._scores) > MOST_REMEMBERED:
                self._scores.pop(next(iter(self._scores)))
            self._unscored.add(kill.run_id)
        self._score_later()

    def score_given(self, run_id: str, kill_point: str, name: str) -> KillScore | None:
        """Return a person's score of a kill since the start; None if there is none."""
        return self._scores.get((run_id, kill_point, name))

    def _remember(self, run_id: str, given: LabelGiven) -> None:
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

    def save_query(self, name: str, text: str, by: str, *, overwrite: bool) -> bool:
        """Save a query in the lake.

        Args:
            name: As `own_queries.NAME` has it.
            text: The query.
            by: Who saves it.
            overwrite: Whether it may replace another text.

        Returns:
            Whether it was saved; if not, another text has the name.

        Raises:
            LabelNotWritten: The process could not.
        """
        job = {"name": name, "text": text, "by": by, "overwrite": overwrite}
        return bool(self._written("query", job)["saved"])

    def mark_issue(self, mark: Mapping[str, Any]) -> None:
        """Store a mark on an issue in the lake.

        Args:
            mark: Columns of `issue_marks`, without the time.

        Raises:
            LabelNotWritten: The process could not.
        """
        self._written("mark", {"mark": dict(mark)})

    def acknowledge_alert(self, alert_id: str, note: str) -> None:
        """Note in the lake that a person knows of an alert.

        Args:
            alert_id: The id of an alert that fires.
            note: A note of the person, with the name.

        Raises:
            LabelNotWritten: The process could not.
        """
        self._written("note", {"alert": alert_id, "note": note})

    def _written(self, noun: str, job: object) -> dict[str, Any]:
        """Return the answer of the process to a job.

        Raises:
            LabelNotWritten: It could not do it.
        """
        with self._writing:
            answer = self._process.answer(job, ANSWER_SECS) or {"error": ENDED}
        if "error" in answer:
            msg = f"the {noun} was not saved: {answer['error']}"
            raise LabelNotWritten(msg)
        return answer

    def given(self, run_id: str, name: str) -> LabelGiven | None:
        """Return a person's label of a run since the start; None if there is none."""
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
        """Return the run of a person's last label that counts; '' if there is none."""
        return self._last.get(name, "")

    def awaits_scores(self, run_id: str) -> bool:
        """Return whether a run was labeled, and no scoring job that knows it has succeeded."""
        return run_id in self._unscored

    @property
    def scoring_failure(self) -> str:
        """Last line of what the last scoring job failed with; '' if it succeeded."""
        return self._failure

    def close(self) -> None:
        """End the processes; the lake's next job scores the remaining runs."""
        with self._lock:
            self._closed = True
            if self._timer:
                self._timer.cancel()
        with self._writing:
            self._process.end()
        self._scoring.close()

    def _score_later(self) -> None:
        with self._lock:
            if self._timer:
                self._timer.cancel()
            if not self._closed:
                self._timer = threading.Timer(SCORE_AFTER_SECS, self._score_now)
                self._timer.daemon = True
                self._timer.start()
                self._scoring.prepare()

    def _score_now(self) -> None:
        """Score new runs of the lake, after a job that is already running.

        Where that fails, the runs wait for the next label's job.
        """
        with self._one_at_a_time:
            with self._lock:
                if self._closed or not self._unscored:
                    return
                known = {*self._unscored}
            if failed := self._scoring.run():
                logger.warning("labels were not scored: %s", failed)
            with self._lock:
                self._failure = (failed.strip().splitlines() or [""])[-1]
                if not failed:
                    self._unscored -= known
