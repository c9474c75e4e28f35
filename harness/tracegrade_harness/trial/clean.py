"""Removes the leftovers of killed harnesses; folders that a living harness uses stay."""

import os
from pathlib import Path
from typing import NamedTuple

from tracegrade_harness.parts.folders.folders import abandoned, hold, removed
from tracegrade_harness.trial.folder import TRIALS
from tracegrade_harness.trial.run import FROZEN, RUNS


class Cleaned(NamedTuple):
    """The folders that cleaning removed, and those that it left."""

    removed: list[Path]
    in_use: list[Path]
    """Folders that a harness uses."""


def clean(home: Path) -> Cleaned:
    """Remove frozen environments, folders of trials, and temporary folders that are not in use.

    Args:
        home: Folder for frozen environments and runs.

    Raises:
        EnvironmentFailed: Something could not be removed.
    """
    cleaned = Cleaned([], [])
    _clean(home / FROZEN, home / FROZEN, cleaned)
    for run in sorted(home.glob(f"{RUNS}/*")):
        _clean(run, run / TRIALS, cleaned)
    for folder in abandoned():
        removed(folder)
        cleaned.removed.append(folder)
    return cleaned


def _clean(holder: Path, folder: Path, cleaned: Cleaned) -> None:
    """Remove a folder unless a harness has locked it or the folder around it."""
    if not folder.is_dir():
        return
    descriptor = hold(holder)
    if descriptor is None:
        cleaned.in_use.append(folder)
        return
    try:
        removed(folder)
    finally:
        os.close(descriptor)
    cleaned.removed.append(folder)
