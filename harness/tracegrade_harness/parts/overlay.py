"""A kernel overlay: a folder that looks like a copy and stores only changes.

Its layers are in the same folder over which it is mounted. There they are hidden, and are removed
with it. The folder below is only read.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.folders.copying import copy_attributes
from tracegrade_harness.parts.folders.folders import make_own, removed
from tracegrade_harness.parts.servers import namespace

_SAME_EVERYWHERE: Final = "redirect_dir=nofollow,metacopy=off,index=off"
"""Options whose defaults differ between systems, with the values that user namespaces require."""
UPPER: Final = "upper"
"""Name of the folder with the changes, in the folder of the layers."""
_WORK: Final = "work"
_WAY_OUT: Final = "write 'overlay: false' for a copy"


class Overlay:
    """A mounted overlay."""

    def __init__(self, lower: Path, at: Path, layers: Path | None = None) -> None:
        """Mount an overlay.

        Args:
            lower: The folder that it copies; it must not change while the overlay is mounted.
            at: An empty folder, which is created if it is missing.
            layers: An empty folder for the layers; `at` itself if it is not given.

        Raises:
            EnvironmentFailed: This process has no mount namespace of its own, or another user owns
                `lower`.
            OSError: The kernel refuses.
        """
        if reason := namespace.why_not():
            msg = f"no overlay for '{at}': {reason}; {_WAY_OUT}"
            raise EnvironmentFailed(msg)
        at.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            below = opened.enter_context(_folder(lower))
            _refuse_foreign(lower, os.fstat(below))
            point = opened.enter_context(_folder(at))
            holder = point if layers is None else opened.enter_context(_folder(layers))
            for name in (UPPER, _WORK):
                make_own(Path(_path(holder), name))
            upper, work = (
                opened.enter_context(_folder(Path(_path(holder), name))) for name in (UPPER, _WORK)
            )
            copy_attributes(below, upper)
            namespace.mount("overlay", _path(point), _options(below, upper, work))
        self._top: int | None = os.open(at, os.O_PATH | os.O_DIRECTORY)

    def close(self) -> None:
        """Unmount it, even if it has been moved. Idempotent."""
        if self._top is not None:
            top, self._top = self._top, None
            try:
                namespace.unmount(_path(top))
            finally:
                os.close(top)


def why_not(folder: Path) -> str | None:
    """Return why a part cannot be an overlay in an existing folder, and the way out; or None."""
    reason = why_no_mount(folder)
    return reason and f"{reason}; {_WAY_OUT}"


def why_no_mount(folder: Path) -> str | None:
    """Return why no overlay can be mounted in an existing folder; None if one can."""
    reason = namespace.why_not()
    if reason is None:
        probe = Path(tempfile.mkdtemp(prefix="overlay-", dir=folder))
        try:
            make_own(probe / "lower")
            Overlay(probe / "lower", probe / "at").close()
        except OSError as error:
            reason = f"no overlay in '{folder}': {error.strerror}"
        finally:
            removed(probe)
    return reason


def _refuse_foreign(lower: Path, info: os.stat_result) -> None:
    """Refuse files that the kernel cannot copy up, because the user namespace lacks their owner.

    Raises:
        EnvironmentFailed: Another user or group owns the folder.
    """
    ours = os.geteuid(), os.getegid()
    if os.geteuid() != 0 and (info.st_uid, info.st_gid) != ours:
        msg = f"no overlay over '{lower}', which is of another user or group; {_WAY_OUT}, or run "
        raise EnvironmentFailed(msg + "`tracegrade harness clean`, which removes it")


def _options(lower: int, upper: int, work: int) -> str:
    """Return the mount's options, which stay short for every folder name."""
    layers = f"lowerdir={_path(lower)},upperdir={_path(upper)},workdir={_path(work)}"
    own = ",userxattr" if namespace.user_attributes_only() else ""
    return f"{layers},{_SAME_EVERYWHERE}{own}"


def _path(folder: int) -> str:
    return f"/proc/self/fd/{folder}"


@contextmanager
def _folder(path: Path) -> Iterator[int]:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield folder
    finally:
        os.close(folder)
