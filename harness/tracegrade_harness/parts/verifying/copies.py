"""Copies an agent's files, so that a program on the copy cannot change or leave them.

A link that stays inside leads to the same path of the copy. A link that leads out, or that is
absolute and leads to the original, leads nowhere. FIFOs, sockets and devices are left out.
"""

import os
import shutil
import stat
from pathlib import Path
from typing import Final

from tracegrade_harness.errors import VerifierFailed
from tracegrade_harness.parts.verifying import tree

MAX_BYTES: Final = 4 * 2**30
"""Largest size of one copy."""

NOWHERE: Final = "/dev/null/leads-out-of-the-environment"
"""A path at which no file can exist."""


def copy_file(root: Path, path: str, to: Path, limit: int = MAX_BYTES) -> int:
    """Copy a regular file from below a folder, and return its size.

    Raises:
        NotReadable: There is none, or a link leads there.
        VerifierFailed: It has more bytes than the limit.
    """
    with tree.opened(root, path) as source:
        status = os.fstat(source.fileno())
        if status.st_size > limit:
            msg = f"more than {MAX_BYTES:,} bytes would be copied; verify a part of them"
            raise VerifierFailed(msg)
        with to.open("xb") as target:
            shutil.copyfileobj(source, target)
    to.chmod(stat.S_IMODE(status.st_mode) & 0o777)
    return status.st_size


def copy_tree(root: Path, to: Path) -> list[str]:
    """Copy a folder to a new one, and return the paths whose copies differ.

    Raises:
        VerifierFailed: It is too large.
    """
    to.mkdir()
    left, changed = MAX_BYTES, []
    for path, each in tree.walk(root):
        copy = to / path
        if each.kind == "folder":
            copy.mkdir()
        elif each.kind == "link":
            changed += [path] if not _copy_link(root, path, each.target, copy) else []
        elif each.kind != "file":  # also folders that cannot be read, which are now empty
            changed.append(path)
        else:
            try:
                left -= copy_file(root, path, copy, left)
            except tree.NotReadable:
                copy.touch(mode=0)  # as unreadable as the original
                changed.append(path)
    return changed


def _copy_link(root: Path, path: str, target: str, copy: Path) -> bool:
    """Create a link like the original; return whether it leads anywhere."""
    # Without `..` after a link's name, a path that is inside by its text is inside.
    holder = os.path.dirname(f"{root}/{path}")
    path = os.path.normpath(os.path.join(holder, target))
    is_inside = path == str(root) or path.startswith(f"{root}/")
    copy.symlink_to(os.path.relpath(path, holder) if is_inside else NOWHERE)
    return is_inside
