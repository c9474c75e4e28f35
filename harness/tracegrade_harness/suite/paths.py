"""Checks that paths in a suite lead only where they may.

Paths in an environment are relative and stay in it. Paths of sources are relative to the suite's
folder and stay below it, so that a suite can be moved with its files. An absolute path names a
source elsewhere. These checks look at the text of a path only: the author of the suite answers for
links in its folder.
"""

from pathlib import Path, PurePosixPath


def source(folder: Path, name: str) -> Path:
    """Return the path of a source that a suite in this folder names."""
    return folder / name


def source_fault(name: str) -> tuple[str, str] | None:
    """Return (fact, way out) if a source's path leads out of the suite's folder, else None."""
    if "\0" in name:
        return "has a NUL character", "remove it"
    if not name.startswith("/") and _climbs_out(name):
        return "leads out of the suite's folder", "move it there, or give an absolute path"
    return None


def inside_fault(name: str) -> tuple[str, str] | None:
    """Return (fact, way out) if a path is not inside an environment, else None."""
    if "\0" in name:
        return "has a NUL character", "remove it"
    if name.startswith("/"):
        return "is absolute", "give it relative to the folder in which the agent is run"
    if ".." in PurePosixPath(name).parts:
        return "has '..' in it", "write it without"
    return None


def parts(name: str) -> tuple[str, ...]:
    """Return the names on a path inside an environment; none for the environment itself."""
    return PurePosixPath(name).parts


def _climbs_out(name: str) -> bool:
    depth = 0
    for part in PurePosixPath(name).parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False
