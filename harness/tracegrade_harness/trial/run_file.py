"""The file of a run: what is done already, so that an interrupted run goes on where it was.

JSON Lines, each synced before the next trial starts. A torn last line is of a harness that was
killed while it wrote; what it would have said is done again.
"""

import fcntl
import json
import os
import threading
from pathlib import Path
from typing import Any, Final

from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.trial.points import Boundary
from tracegrade_harness.trial.result import TrialResult
from tracegrade_harness.trial.setting import Tried
from tracegrade_harness.trial.undisturbed import Baseline

NAME: Final = "run.jsonl"


def is_begun(folder: Path) -> bool:
    """Return whether a run's folder has such a file."""
    return (folder / NAME).is_file()


def _hold(folder: Path) -> int:
    """Return a file descriptor that keeps a run from other processes until it is closed."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(held)
        msg = f"run '{folder.name}' is still going on; wait for its end"
        raise SuiteUnusable(msg) from error
    return held


class RunFile:
    """What is known of a run; threads may add to it."""

    def __init__(self, folder: Path, described: dict[str, Any]) -> None:
        """Open the file in a run's folder, which is made where it is missing.

        Args:
            folder: The run's.
            described: What is run; the same as when the file was begun.

        Raises:
            SuiteUnusable: It was begun for something else, or another process goes on with it.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / NAME
        self._held = _hold(folder)
        self._lock = threading.Lock()
        self._results: dict[tuple[str, int, str], TrialResult] = {}
        self._baselines: dict[Tried, Baseline] = {}
        try:
            self._begin(described)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let others go on with the run."""
        os.close(self._held)

    def result(self, tried: Tried, injection: str | None) -> TrialResult | None:
        """Return a result that is known."""
        return self._results.get((tried.task_id, tried.trial, injection or ""))

    def baseline(self, tried: Tried) -> Baseline | None:
        """Return what an undisturbed trial did, if that is known."""
        return self._baselines.get(tried)

    def results(self) -> list[TrialResult]:
        """Return all results, sorted by what was tried."""
        return [self._results[key] for key in sorted(self._results)]

    def add(self, result: TrialResult, baseline: Baseline | None = None) -> None:
        """Keep a result, and what killed runs need of it."""
        line: dict[str, Any] = {"result": result.model_dump(mode="json")}
        if baseline is not None:
            line["baseline"] = baseline._asdict()
        with self._lock:
            self._write(line)
            self._take(line)

    def _begin(self, described: dict[str, Any]) -> None:
        lines = self.path.read_bytes().splitlines(keepends=True) if self.path.exists() else []
        whole = [line for line in lines if line.endswith(b"\n")]
        if not whole:
            self.path.write_bytes(b"")
            self._write(described)
            return
        begun = json.loads(whole[0])
        if begun != described:
            other = ", ".join(key for key in described if begun.get(key) != described[key])
            msg = f"run '{self.path.parent.name}' was begun with another {other}; start a new run"
            raise SuiteUnusable(msg)
        os.truncate(self.path, sum(map(len, whole)))
        for line in whole[1:]:
            self._take(json.loads(line))

    def _take(self, line: dict[str, Any]) -> None:
        result = TrialResult.model_validate(line["result"])
        self._results[result.key] = result
        if (found := line.get("baseline")) is not None:
            boundaries = tuple(Boundary(*boundary) for boundary in found.pop("boundaries"))
            baseline = Baseline(boundaries=boundaries, **found)
            self._baselines[Tried(result.task_id, result.trial)] = baseline

    def _write(self, line: dict[str, Any]) -> None:
        with self.path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
