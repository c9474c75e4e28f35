"""An environment of one part, a folder of files called `data`, as a killed run left it."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.harness.parts.environments import declare

from tracegrade.rollback.undo import UndoFailed
from tracegrade_harness.parts.state import State
from tracegrade_harness.rollback.part_locator import PartLocator
from tracegrade_harness.rollback.records import Records, read_records
from tracegrade_harness.rollback.rubric import ObservedState
from tracegrade_harness.rollback.undo import EnvironmentCopy, Run
from tracegrade_harness.suite.records import Journal, Manifest, Record, Runbook
from tracegrade_harness.suite.runbook import Instruction, read

Tree = Mapping[str, str | None]
"""Path → text of a file; None for a folder."""

ENVIRONMENT = declare(files={"data": {"from": "data", "at": "/data"}})

RECORDS: list[Record] = [
    Journal(journal="/data/.rollback.jsonl"),
    Manifest(
        manifest="/data/manifest.json",
        items="$.files",
        object="files:data/{name}",
        undo={"delete": "data/{name}"},
    ),
]


class Folder:
    """The part as one trial has it: names, kinds, modes, texts and where links lead."""

    def __init__(self, root: Path) -> None:
        self._folder = root / "data"

    @property
    def variables(self) -> Mapping[str, str]:
        """None."""
        return {}

    def state(self) -> State:
        """Return the digest of each file, folder and link."""
        paths = sorted(self._folder.rglob("*"))
        return {f"files:data/{path.relative_to(self._folder)}": _digest(path) for path in paths}

    def ignored(self) -> State:
        """Return nothing."""
        return {}

    def held(self) -> list[str]:
        """Return the lock files."""
        return [name for name in self.state() if name.endswith(".lock")]

    def clone(self, root: Path) -> "Folder":
        """Return a copy."""
        shutil.copytree(self._folder, root / "data", symlinks=True)
        return Folder(root)

    def close(self) -> None:
        """Do nothing."""


def run_here(command: Sequence[str], folder: Path) -> None:
    """Run a command in a folder; in earnest that is done by a sandbox.

    Raises:
        UndoFailed: It failed.
    """
    code = subprocess.run(command, cwd=folder, check=False).returncode
    if code:
        msg = f"command ended with {code}"
        raise UndoFailed(msg)


def _digest(path: Path) -> str:
    mode = oct(path.lstat().st_mode)
    if path.is_symlink():
        return f"{mode} {path.readlink()}"
    text = path.read_bytes() if path.is_file() else b""
    return f"{mode} {hashlib.sha256(text).hexdigest()}"


def fill(folder: Path, tree: Tree) -> None:
    """Write files and folders, and the folder itself."""
    folder.mkdir(parents=True)
    for name, text in tree.items():
        path = folder / name
        if text is None:
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(os.fsencode(text))


class Trial:
    """A trial's folder as a killed run left it, and one as it was before."""

    def __init__(self, folder: Path, before: Tree, now: Tree) -> None:
        self._base = folder
        self.folder = folder / "trial"
        self.pristine = folder / "pristine"
        fill(self.pristine / "data", before)
        fill(self.folder / "data", now)
        self.locator = PartLocator(ENVIRONMENT, self.folder)
        self._clones = 0

    def seen(self, runbook: str | None = None, *, held: tuple[str, ...] = ()) -> ObservedState:
        """Return what is seen of it, with the lock files and what else is held."""
        now = Folder(self.folder)
        return ObservedState(
            before=Folder(self.pristine).state(),
            now=now.state(),
            held=[*now.held(), *held],
            records=self.records(runbook),
        )

    def records(self, runbook: str | None = None) -> Records:
        """Return what its records say."""
        declared = RECORDS
        runbooks: dict[str, list[Instruction]] = {}
        if runbook is not None:
            (self._base / "RUNBOOK.yaml").write_text(runbook)
            declared = [*RECORDS, Runbook(runbook="RUNBOOK.yaml")]
            runbooks["RUNBOOK.yaml"] = read(self._base / "RUNBOOK.yaml")
        return read_records(declared, runbooks, self.folder, self.locator)

    def clone(self, run: Run = run_here) -> EnvironmentCopy:
        """Return a clone to try undos on."""
        self._clones += 1
        root = self._base / f"clone-{self._clones}"
        root.mkdir()
        part = Folder(self.folder).clone(root)
        return EnvironmentCopy(root, [part], self.pristine, self.folder, self.locator, run)
