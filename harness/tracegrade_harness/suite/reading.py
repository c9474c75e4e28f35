"""What an agent may read of what stands beside a suite, and what only the harness knows."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tracegrade_harness.suite import paths
from tracegrade_harness.suite.command import filled, substitutions
from tracegrade_harness.suite.load import LoadedSuite
from tracegrade_harness.suite.model import CommandVerifier, FilesVerifier, Http, Suite

USERS: Final = frozenset({"user_input", "user_input_file"})
"""Substitutions that are not the suite's words: what a user says names no file for an agent."""
TAPES: Final = "tapes"
"""Where tapes stand that no case places."""


def answers(loaded: LoadedSuite) -> list[Path]:
    """Return the files and folders that would tell an agent what is expected of it.

    They are the suite, its task file, tapes, what verifiers compare with and run, and what HTTP
    services consist of.
    """
    if loaded.suite is None:
        return []
    suite, folder = loaded.suite, loaded.folder.resolve()
    named = [TAPES, *filter(None, [suite.tasks, *(case.tape for case in suite.cases.values())])]
    named += [name for case in suite.cases.values() for name in _of_verifiers(case.verify, folder)]
    for environment in suite.environments.values():
        named += [name for part in environment.http.values() for name in _of_service(part)]
    found = [paths.source(folder, name) for name in named]
    return [path for path in [loaded.file or folder / "suite.yaml", *found] if path.exists()]


def readable(suite: Suite, folder: Path, read: Sequence[str], words: Sequence[str]) -> list[Path]:
    """Return what a command of a suite may read.

    Args:
        suite: Whose defaults hold for all commands.
        folder: Where it stands.
        read: What the suite lets this one read.
        words: Its command: files and folders that it names are its own, but for the suite's folder
            and those around it.
    """
    listed = [paths.source(folder, os.path.expanduser(each)) for each in suite.defaults.read]
    listed += [paths.source(folder, os.path.expanduser(each)) for each in read]
    around = {folder, *folder.parents}
    named = (Path(path) for word in words for path in (word, word.partition("=")[2]))
    own = [path for path in named if path.is_absolute() and path.resolve() not in around]
    return [path for path in [*listed, *own] if os.path.exists(path)]


def _of_verifiers(verifiers: Sequence[object], folder: Path) -> Iterator[str]:
    for verifier in verifiers:
        if isinstance(verifier, FilesVerifier) and verifier.expect is not None:
            yield verifier.expect
        if isinstance(verifier, CommandVerifier):
            own = [word for word in verifier.command if substitutions(word) == ["suite"]]
            found = map(Path, filled(own, {"suite": str(folder)}))
            yield from (str(path) for path in found if path.resolve() != folder)


def _of_service(part: Http) -> Iterator[str]:
    yield from filter(None, (part.state, part.routes))
    if part.app is not None:
        module = part.app.partition(":")[0].replace(".", "/")
        yield from (f"{module}.py", module)
