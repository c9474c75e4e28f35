"""The file of a run: finished trials, so that an interrupted run resumes after them.

JSON Lines, each synced before the next trial starts. An incomplete last line is from a harness
that was killed while it wrote; that trial is run again.
"""

import json
import os
import threading
from pathlib import Path
from typing import Any, Final

from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.parts.folders.folders import hold
from tracegrade_harness.tape.entries import TapeEntry, TapeKey
from tracegrade_harness.trial.baseline import Baseline
from tracegrade_harness.trial.points import Boundary
from tracegrade_harness.trial.result import TrialResult
from tracegrade_harness.trial.suite_run import Trial

NAME: Final = "run.jsonl"
WORDS: Final = {
    "content": "content of the suite",
    "tasks": "content of the task file",
    "runbooks": "content of the runbooks",
    "environments": "content of the environments",
    "cases": "choice of cases",
    "trials": "--trials",
    "kills": "--kill",
    "version": "version of tracegrade",
}
"""Names in messages for the keys of a run's first line."""
DIGESTS: Final = frozenset({"content", "tasks", "runbooks", "environments"})
"""Keys whose values are digests, which a message does not show."""


def is_begun(folder: Path) -> bool:
    """Return whether a run's folder has this file."""
    return (folder / NAME).is_file()


def _hold(folder: Path) -> int:
    """Return a file descriptor that locks a run until it is closed."""
    descriptor = hold(folder)
    if descriptor is None:
        msg = f"run '{folder.name}' is still in progress; wait for its end"
        raise SuiteUnusable(msg)
    return descriptor


def _difference(key: str, begun: object, now: object) -> str:
    """Return the difference between two runs, with short values."""
    word = WORDS.get(key, key)
    return word if key in DIGESTS else f"{word} ({_value_text(begun)}, now {_value_text(now)})"


def _value_text(value: object) -> str:
    return "none" if value is None else json.dumps(value)


class RunFile:
    """The record of a run; threads may add to it."""

    def __init__(self, folder: Path, described: dict[str, Any]) -> None:
        """Open the file in a run's folder; the folder is created if it is missing.

        Args:
            folder: The folder of the run.
            described: The description of the run; it must equal the one in the file.

        Raises:
            SuiteUnusable: The descriptions differ, or another process continues the run.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / NAME
        self._lock_descriptor = _hold(folder)
        self._lock = threading.Lock()
        self.spent = 0
        """Cost of the run so far, in millionths of a millionth of a US dollar."""
        self._results: dict[tuple[str, int, str], TrialResult] = {}
        self._baselines: dict[Trial, Baseline] = {}
        try:
            self._begin(described)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let other processes continue the run."""
        os.close(self._lock_descriptor)

    def result(self, trial: Trial, kill_point: str | None) -> TrialResult | None:
        """Return a result from the file; None if there is none."""
        return self._results.get((trial.task_id, trial.number, kill_point or ""))

    def baseline(self, trial: Trial) -> Baseline | None:
        """Return the course of an undisturbed trial, if the file has it."""
        return self._baselines.get(trial)

    def results(self) -> list[TrialResult]:
        """Return all results, sorted by trial."""
        return [self._results[key] for key in sorted(self._results)]

    def add(self, result: TrialResult, baseline: Baseline | None = None) -> None:
        """Store a result, and the baseline that its kills need."""
        line: dict[str, Any] = {"result": result.model_dump(mode="json")}
        if baseline is not None:
            line["baseline"] = baseline._asdict()
        with self._lock:
            self._write(line)
            self._take(line)

    def add_spent(self, pico_usd: int) -> None:
        """Write a cost as it arises, since a killed harness has no result of its trial."""
        with self._lock:
            self._write({"spent": pico_usd})
            self.spent += pico_usd

    def _begin(self, described: dict[str, Any]) -> None:
        lines = self.path.read_bytes().splitlines(keepends=True) if self.path.exists() else []
        whole = [line for line in lines if line.endswith(b"\n")]
        if not whole:
            self.path.write_bytes(b"")
            self._write(described)
            return
        self._check(whole[0], described)
        os.truncate(self.path, sum(map(len, whole)))
        for number, line in enumerate(whole[1:], 2):
            try:
                self._take(json.loads(line))
            except (ValueError, LookupError, TypeError) as error:
                raise self._unreadable(number) from error

    def _check(self, line: bytes, described: dict[str, Any]) -> None:
        """Check that the description equals that of the run's beginning."""
        try:
            begun = dict(json.loads(line))
        except (ValueError, TypeError) as error:
            raise self._unreadable(1) from error
        differ = [key for key in described if begun.get(key) != described[key]]
        if differ:
            other = ", ".join(_difference(key, begun.get(key), described[key]) for key in differ)
            name = self.path.parent.name
            msg = f"run '{name}' was begun with another {other}; give what it was begun with, or "
            raise SuiteUnusable(msg + "leave out --resume for a new run")

    def _unreadable(self, line: int) -> SuiteUnusable:
        msg = f"'{self.path}:{line}' is not a record of a run; omit --resume to start a new run"
        return SuiteUnusable(msg)

    def _take(self, line: dict[str, Any]) -> None:
        if "spent" in line:
            self.spent += int(line["spent"])
            return
        result = TrialResult.model_validate(line["result"])
        self._results[result.key] = result
        if (found := line.get("baseline")) is not None:
            boundaries = tuple(Boundary(*boundary) for boundary in found.pop("boundaries"))
            models = tuple(
                TapeEntry(TapeKey(*key), *rest) for key, *rest in found.pop("models", ())
            )
            baseline = Baseline(boundaries=boundaries, models=models, **found)
            self._baselines[Trial(result.task_id, result.trial)] = baseline

    def _write(self, line: dict[str, Any]) -> None:
        with self.path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
