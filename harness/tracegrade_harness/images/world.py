"""The root file system of a trial: an image, with an overlay that stores the trial's changes."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.images.settings import ImageSettings
from tracegrade_harness.images.source import ImageSource
from tracegrade_harness.images.store import StoredImage, stored_image
from tracegrade_harness.parts.folders.folders import make_own, removed
from tracegrade_harness.parts.folders.walk import folder_at
from tracegrade_harness.parts.overlay import UPPER, Overlay

_LAYERS: Final = "layers"
_TOP: Final = "top"
_MODE: Final = 0o755


class ImageWorld(NamedTuple):
    """A root file system for programs of one trial."""

    root: Path
    """The mounted overlay."""
    changes: Path
    """The folder in which the overlay stores changes."""
    settings: ImageSettings
    mounts: Mapping[str, Path]
    """Absolute paths in the image, and the folders of parts that are seen there."""


class ImageTemplate:
    """The image of an environment, which all of its trials share."""

    def __init__(self, source: ImageSource, mounts: Mapping[str, PurePosixPath]) -> None:
        """Take the image's source.

        Args:
            source: The place that the image comes from.
            mounts: Absolute paths in the image, and parts' paths below the trial's folder.
        """
        self._source = source
        self._mounts = mounts
        self._stored: StoredImage | None = None

    def freeze(self, frozen: Path) -> None:
        """Unpack the image into the store of a folder, unless it is there.

        Raises:
            EnvironmentFailed: The image is refused, or could not be written.
        """
        self._stored = stored_image(self._source, frozen)

    @property
    def stored(self) -> StoredImage:
        """The unpacked image.

        Raises:
            EnvironmentFailed: `freeze` was not called.
        """
        if self._stored is None:
            msg = f"image '{self._source.title}' is not unpacked yet; freeze its environment first"
            raise EnvironmentFailed(msg)
        return self._stored

    def folder(self, path: str) -> Path:
        """Return a folder of the unpacked image.

        Raises:
            EnvironmentFailed: There is none, or a link is on the way to it.
        """
        at = PurePosixPath(path).relative_to("/")
        try:
            with folder_at(self.stored.root, at):
                return self.stored.root / at
        except OSError as error:
            msg = f"the image '{self._source.title}' has no folder '{path}' without links on its "
            raise EnvironmentFailed(msg + "path; name another in 'inside'") from error

    def open(self, trial: Path) -> "OpenedImage":
        """Return a fresh root file system for a trial.

        Args:
            trial: The trial's folder; the layers of the overlay are in a folder next to it.

        Raises:
            EnvironmentFailed: It could not be mounted.
        """
        return OpenedImage(self.stored, trial, self._mounts)


class OpenedImage:
    """The root file system of one trial."""

    def __init__(
        self, stored: StoredImage, trial: Path, mounts: Mapping[str, PurePosixPath]
    ) -> None:
        self._home = trial.with_name(f"{trial.name}-image")
        self._mounts = mounts
        try:
            make_own(self._home)
            make_own(self._home / _LAYERS)
            self._overlay = Overlay(stored.root, self._home / _TOP, self._home / _LAYERS)
        except OSError as error:
            removed(self._home)
            msg = f"no overlay over the image in '{self._home}': {error.strerror}"
            raise EnvironmentFailed(msg) from error
        self._stored = stored
        self.world = self._world(trial)

    def _world(self, trial: Path) -> ImageWorld:
        layers = self._home / _LAYERS / UPPER
        mounts = {path: trial / at for path, at in self._mounts.items()}
        return ImageWorld(self._home / _TOP, layers, self._stored.settings, mounts)

    def copy(self, trial: Path) -> "OpenedImage":
        """Return the image as it was before the trial, for a copy of the trial's folder."""
        return OpenedImage(self._stored, trial, self._mounts)

    def close(self) -> None:
        """Unmount it, and remove all changes. Idempotent."""
        with ExitStack() as stack:
            stack.callback(removed, self._home)
            self._overlay.close()


def make_mount_point(root: Path, path: str, *, is_folder: bool) -> None:
    """Make an empty folder or file at an absolute path in a root file system, if it is missing.

    No link is followed, so that no program in it can lead a later mount elsewhere.

    Raises:
        OSError: It cannot be made, or a link or another kind of file is on the path.
    """
    at = PurePosixPath(path).relative_to("/")
    folders = at.parts if is_folder else at.parts[:-1]
    for length, name in enumerate(folders):
        with folder_at(root, PurePosixPath(*folders[:length])) as above:
            try:
                os.mkdir(name, _MODE, dir_fd=above)
            except FileExistsError:
                continue
    with folder_at(root, PurePosixPath(*folders)) as folder:
        if not is_folder:
            flags = os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            os.close(os.open(at.name, flags, 0o644, dir_fd=folder))
