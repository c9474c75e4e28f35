"""Separates files of a suite that agents may read from files for the harness alone."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tracegrade_harness.loading.load import LoadedSuite
from tracegrade_harness.parts.registry import declared_in, kind_of_verifier
from tracegrade_harness.suite import paths
from tracegrade_harness.suite.model import Suite

USERS: Final = frozenset({"user_input", "user_input_file"})
"""Substitutions with a user's words, which name no file for an agent."""
TAPES: Final = "tapes"
"""Folder of the tapes for which no case gives a path."""


def answers(loaded: LoadedSuite) -> list[Path]:
    """Return the files and folders that would reveal expectations to an agent.

    They are the suite, its task file, tapes, files that verifiers compare with or run, and files
    of HTTP services.
    """
    if loaded.suite is None:
        return []
    suite, folder = loaded.suite, loaded.folder.resolve()
    named = [TAPES, *filter(None, [suite.tasks, *(case.tape for case in suite.cases.values())])]
    for case in suite.cases.values():
        for verifier in case.verify:
            named += kind_of_verifier(verifier).verifier_answers(verifier, folder)
    for environment in suite.environments.values():
        for part in declared_in(environment):
            named += part.kind.answers(part.declared)
    found = [paths.source(folder, name) for name in named]
    return [path for path in [loaded.file or folder / "suite.yaml", *found] if path.exists()]


def readable(suite: Suite, folder: Path, read: Sequence[str], words: Sequence[str]) -> list[Path]:
    """Return the files and folders that a command of a suite may read.

    Args:
        suite: The suite, whose defaults hold for all commands.
        folder: The folder of the suite.
        read: The paths that the suite lets this command read.
        words: The command. It may read files and folders that it names, but not the suite's folder
            or a parent of it.
    """
    listed = [paths.source(folder, os.path.expanduser(each)) for each in suite.defaults.read]
    listed += [paths.source(folder, os.path.expanduser(each)) for each in read]
    around = {folder, *folder.parents}
    named = (Path(path) for word in words for path in (word, word.partition("=")[2]))
    own = [path for path in named if path.is_absolute() and path.resolve() not in around]
    return [path for path in [*listed, *own] if os.path.exists(path)]
