"""A folder of files as a part of an environment.

Objects are named `files:PART/PATH`, and folders end in a slash. A folder of the template is an
object. A new folder is an object only while it is empty; otherwise its content shows that it
exists.
"""

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.file_locks import Inode, held_names, inode, kernel_locks
from tracegrade_harness.parts.folders.contents import entry_digest
from tracegrade_harness.parts.folders.copying import copy_entries, copy_folder
from tracegrade_harness.parts.folders.folders import make_own
from tracegrade_harness.parts.folders.walk import WalkedFile, folder_at, walk
from tracegrade_harness.parts.globs import Globs
from tracegrade_harness.parts.names import part_text, path_text, plain_text
from tracegrade_harness.parts.overlay import Overlay
from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.state_reading import ReadableState, StateReading, fingerprint
from tracegrade_harness.parts.verifying.tree import NotReadable, read

_HERE = PurePosixPath()
_UNREAD = re.compile(r"(file|folder) \d{4} (unreadable|deeper)")


@dataclass(frozen=True)
class FilesLocation:
    """The path, variable and rules of a part of files."""

    name: str
    """Name of the part."""
    at: PurePosixPath
    """Path below the trial's folder."""
    variable: str | None = None
    """Environment variable that gets the path."""
    ignore: tuple[str, ...] = ()
    """Globs over paths below it."""
    leave_out: frozenset[str] = frozenset()
    """Paths below it that belong to other parts."""
    inside: str | None = None
    """Absolute path at which an agent sees it in an image."""

    def path_of(self, name: str) -> str | None:
        """Return the path of an object below the part; None if it belongs to another part."""
        prefix = f"files:{part_text(self.name)}/"
        return plain_text(name.removeprefix(prefix)) if name.startswith(prefix) else None


class FilesPart:
    """A folder of the suite; each trial gets a copy or an overlay."""

    def __init__(
        self, location: FilesLocation, source: Callable[[], Path], *, overlay: bool = False
    ) -> None:
        """Take the part's location.

        Args:
            location: Its path and its rules.
            source: Returns the folder that it copies, which may be in an image.
            overlay: Mount an overlay in each trial, and make no copy.
        """
        self._location = location
        self._source = source
        self._is_overlay = overlay

    def source_digest(self) -> str:
        """Return a digest of all that the template is made from.

        Raises:
            EnvironmentFailed: The source is missing or cannot be read.
        """
        location = FilesLocation(self._location.name, _HERE, leave_out=self._location.leave_out)
        source = self._source()
        state = _read(location, source, _folders(source), str(source)).state
        _refuse_unreadable(state, source)
        return fingerprint(state)

    def freeze(self, folder: Path) -> None:
        """Build the template in a new, empty folder; see `part.py`."""
        try:
            make_own(folder / "tree")
            copy_folder(self._source(), folder / "tree", self._location.leave_out)
        except OSError as error:
            raise EnvironmentFailed(_unread(str(self._source()), error)) from error
        self.use(folder)

    def use(self, folder: Path) -> None:
        """Use an existing template of `freeze`."""
        self._template = folder / "tree"
        self._folders = _folders(self._template)

    def frozen(self) -> StateReading:
        """Return the template as a trial finds it."""
        at_template = FilesLocation(self._location.name, _HERE, ignore=self._location.ignore)
        return _read(at_template, self._template, self._folders, str(self._template))

    def contents(self, names: Collection[str], most_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Yield the contents of files of the template; see `part.py`."""
        return _contents(self._location, self._template, PurePosixPath(), names, most_bytes)

    def open(self, root: Path) -> "OpenedFiles":
        """Return a fresh copy of the template for a trial; see `part.py`."""
        at, overlay = root / self._location.at, None
        try:
            if self._is_overlay:
                overlay = Overlay(self._template, at)
            else:
                copy_folder(self._template, at)
        except OSError as error:
            raise EnvironmentFailed(_unread(str(at), error)) from error
        return OpenedFiles(self._location, root, self._folders, overlay)

    def close(self) -> None:
        """Do nothing: no process serves the part."""


class OpenedFiles(ReadableState):
    """A folder of files of one trial."""

    def __init__(
        self,
        location: FilesLocation,
        root: Path,
        folders: frozenset[str],
        overlay: Overlay | None = None,
    ) -> None:
        self._location = location
        self._root = root
        self._folders = folders
        self._overlay = overlay

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables with which an agent finds the folder."""
        path = self._location.inside or str((self._root / self._location.at).absolute())
        return {self._location.variable: path} if self._location.variable else {}

    @property
    def addresses(self) -> Sequence[ServiceAddress]:
        """Return nothing, because agents reach it through files."""
        return ()

    def read(self) -> StateReading:
        """Return all files, folders, links, FIFOs and sockets as they are now.

        If the part's path is not a folder, it is a single object.

        Raises:
            EnvironmentFailed: The device failed.
        """
        return _read(self._location, self._root, self._folders, str(self._root))

    def contents(self, names: Collection[str], most_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Yield the contents of files as they are now; see `part.py`."""
        return _contents(self._location, self._root, self._location.at, names, most_bytes)

    def held(self) -> list[str]:
        """Return the files that processes lock, such as `files:data/x.lock (flock)`."""
        locks = kernel_locks()
        return held_names(self._inodes() if locks else (), locks)

    def clone(self, root: Path) -> "OpenedFiles":
        """Return a copy of the present state, with `root` instead of the trial's folder."""
        target = root / self._location.at
        try:
            with folder_at(self._root, self._location.at) as old:
                target.mkdir(parents=True, exist_ok=True)
                with folder_at(target, _HERE) as new:
                    copy_entries(old, new, self._location.leave_out)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EnvironmentFailed(_unread(str(self._root), error)) from error
        return OpenedFiles(self._location, root, self._folders)

    def close(self) -> None:
        """Unmount an overlay, so that it can no longer be read; a copy stays."""
        if self._overlay is not None:
            self._overlay.close()

    def _inodes(self) -> Iterator[tuple[Inode, str]]:
        try:
            with folder_at(self._root, self._location.at) as folder:
                for entry in walk(folder):
                    if entry.path not in self._location.leave_out:
                        yield inode(entry.info), _object(self._location.name, entry)
        except OSError:
            return  # not a folder any more, as `read` reports


def _read(
    location: FilesLocation, root: Path, folders: frozenset[str], title: str
) -> StateReading:
    reading = StateReading()
    try:
        with folder_at(root, location.at) as folder:
            reading.state[f"files:{part_text(location.name)}/"] = _top_digest(folder)
            _add_entries(reading, walk(folder), location, folders)
    except FileNotFoundError:
        return reading
    except (NotADirectoryError, PermissionError) as error:
        reading.state[f"files:{part_text(location.name)}"] = f"no folder: {error.strerror}"
    except OSError as error:
        raise EnvironmentFailed(_unread(title, error)) from error
    return reading


def _add_entries(
    reading: StateReading,
    entries: Iterable[WalkedFile],
    location: FilesLocation,
    folders: frozenset[str],
) -> None:
    ignore = Globs(list(location.ignore))
    for entry in entries:
        is_filled_folder = stat.S_ISDIR(entry.info.st_mode) and not (
            entry.is_empty or entry.unread or entry.path in folders
        )
        if is_filled_folder or entry.path in location.leave_out:
            continue
        try:
            digest = entry_digest(entry)
        except FileNotFoundError:
            continue  # removed by now
        reading.add(_object(location.name, entry), digest, ignore.rule(_text(entry)))


def _contents(
    location: FilesLocation,
    folder: Path,
    at: PurePosixPath,
    names: Collection[str],
    most_bytes: int,
) -> Iterator[tuple[str, bytes]]:
    """Yield the contents of regular files; no link is followed."""
    for name in names:
        path = location.path_of(name)
        if path is not None:
            with suppress(NotReadable, OSError):
                yield name, read(folder, str(at / path), most_bytes)


def _top_digest(folder: int) -> str:
    return f"folder {stat.S_IMODE(os.fstat(folder).st_mode):04o}"


def _folders(tree: Path) -> frozenset[str]:
    """Return the paths of all folders below a folder; none if it does not exist."""
    try:
        with folder_at(tree, _HERE) as folder:
            entries = walk(folder)
            return frozenset(e.path for e in entries if stat.S_ISDIR(e.info.st_mode))
    except OSError:
        return frozenset()


def _refuse_unreadable(state: Mapping[str, str], source: Path) -> None:
    if not any(name.endswith("/") for name in state):
        message = f"no such folder '{source}'; name one that can be read"
        raise EnvironmentFailed(message)
    for name, digest in state.items():
        if _UNREAD.match(digest):
            message = f"cannot freeze '{name}' of '{source}', {digest}; leave it out"
            raise EnvironmentFailed(message)


def _object(part: str, entry: WalkedFile) -> str:
    return f"files:{part_text(part)}/{_text(entry)}"


def _text(entry: WalkedFile) -> str:
    return path_text(entry.path) + ("/" if stat.S_ISDIR(entry.info.st_mode) else "")


def _unread(path: str, error: OSError) -> str:
    return f"files '{path}': {error.strerror or error}; check that the disk works and is not full"
