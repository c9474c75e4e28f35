"""The folder of one trial: what the agent works in, beside what it does not see."""

import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Final, Self

WORK: Final = "work"


class TrialFolder:
    """A `with` block with a folder that is removed after it; its logs stay."""

    def __init__(self, run: Path, label: str) -> None:
        """Choose names for a trial.

        Args:
            run: The run's folder.
            label: Tells the trial from others of the run.
        """
        self._logs = run / "logs"
        self._label = label
        self._home = run / "trials" / label

    def __enter__(self) -> Self:
        shutil.rmtree(self._home, ignore_errors=True)  # of a harness that was killed
        self.root.mkdir(parents=True)
        self._logs.mkdir(exist_ok=True)
        self.meeting = Path(tempfile.mkdtemp(prefix="tracegrade-"))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        remove(self._home)
        remove(self.meeting)

    @property
    def root(self) -> Path:
        """In which the agent is run."""
        return self._home / WORK

    def beside(self, name: str) -> Path:
        """Return the path of a folder for a copy."""
        return self._home / name

    def log(self, name: str) -> Path:
        """Return the file that gets what a program of the trial prints."""
        return self._logs / f"{self._label}-{name}.log"


def remove(folder: Path) -> None:
    """Remove a folder, whatever rights an agent took from parts of it."""

    def allow(_: object, path: str, __: object) -> None:
        Path(path).parent.chmod(0o700)
        if Path(path).is_dir() and not Path(path).is_symlink():
            Path(path).chmod(0o700)
            shutil.rmtree(path, ignore_errors=True)
        else:
            Path(path).unlink(missing_ok=True)

    if folder.exists():
        shutil.rmtree(folder, onerror=allow)
