"""The folder of one trial: the agent's working folder, and files that it cannot see."""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tracegrade_harness.parts.folders.folders import explained, removed, temporary_folder

TRIALS: Final = "trials"
"""Name of the folder for trials in a run's folder."""
WORK: Final = "work"


class TrialFolder:
    """A `with` block with a folder that is removed afterwards; its logs stay."""

    def __init__(self, run: Path, label: str) -> None:
        """Choose names for a trial.

        Args:
            run: The run's folder.
            label: Identifies the trial in the run.
        """
        self._logs = run / "logs"
        self._label = label
        self._home = run / TRIALS / label

    def __enter__(self) -> Self:
        """Create the folder; if that fails, nothing remains.

        Raises:
            EnvironmentFailed: It cannot be created.
        """
        with ExitStack() as stack:
            removed(self._home)  # from a harness that was killed
            stack.callback(removed, self._home)
            with explained(self._home):
                self.root.mkdir(parents=True)
                self._logs.mkdir(exist_ok=True)
            self.meeting = stack.enter_context(temporary_folder())
            self._made = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._made.close()

    @property
    def root(self) -> Path:
        """The folder in which the agent runs."""
        return self._home / WORK

    def beside(self, name: str) -> Path:
        """Return the path of a folder for a copy."""
        return self._home / name

    def log(self, name: str) -> Path:
        """Return the file for the output of a program of the trial."""
        return self._logs / f"{self._label}-{name}.log"
