"""Small files that the processes of one job exchange: `_tasks/RUN/NAME.json`.

They are in the lake because every process of a job can reach it from any machine. A file appears
whole or not at all, and a rewrite replaces it. A job removes its files when it ends; upkeep
removes those of a killed job.
"""

import re
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import obstore

from tracegrade_lake.errors import BadLakePath
from tracegrade_lake.files import all_below, make_folder, size_of, write_whole
from tracegrade_lake.folder import Folder
from tracegrade_lake.lake import Lake
from tracegrade_lake.lake_root import writing_to

if TYPE_CHECKING:
    from tracegrade_lake.object_store import ObjectStore

JOBS_FOLDER: Final = "_tasks"
RUNNING: Final = "running-000000.json"
"""A file that a run has from its begin to its end."""

MAX_BYTES: Final = 256 << 20
"""Largest file that is read; a bucket of a quarter million spans is described in 3 MB."""

_RUN: Final = r"\d{8}T\d{6}Z-[0-9a-f]{8}"
_NAME: Final = r"[a-z]+-\d{6}\.json"
_LOCATION: Final = re.compile(rf"(?P<lake>.+)/{JOBS_FOLDER}/(?P<run>{_RUN})/(?P<name>{_NAME})")


class JobFile(NamedTuple):
    """A file of some job."""

    path: str
    """From the lake's root."""

    size: int
    """Bytes."""

    modified: float
    """When it was written, in seconds since 1970 UTC."""


class SmallFiles(Protocol):
    """Operations on small files that differ between a folder and an object store."""

    def write(self, path: str, content: bytes) -> None:
        """Let the file have this content."""

    def read(self, path: str) -> bytes | None:
        """Return its content; None if there is no such file."""

    def below(self, prefix: str) -> Iterator[JobFile]:
        """Yield all files below a folder, in no order; none if it is not there."""

    def remove(self, path: str) -> None:
        """Remove a file, if it exists."""

    def remove_folder(self, path: str) -> None:
        """Remove a folder with its content, if it exists."""


@dataclass(frozen=True)
class JobFiles:
    """The files of one run of a job."""

    lake: Lake
    run: str
    """Sorts by the time at which the run began."""

    @property
    def folder(self) -> str:
        """Path or URL of their folder."""
        return f"{self.lake.location}/{JOBS_FOLDER}/{self.run}"

    def location(self, name: str) -> str:
        """Return the path or URL of a file, for other processes."""
        return f"{self.folder}/{name}"

    def write(self, name: str, content: bytes) -> None:
        """Let the file have this content."""
        small_files(self.lake).write(self._path(name), content)

    def read(self, name: str) -> bytes | None:
        """Return its content; None if there is no such file.

        Raises:
            BadLakePath: It is larger than `MAX_BYTES`, so no job of this package wrote it.
        """
        return small_files(self.lake).read(self._path(name))

    def names(self) -> set[str]:
        """Return the names of the files that are there."""
        folder = f"{JOBS_FOLDER}/{self.run}/"
        found = {file.path.removeprefix(folder) for file in small_files(self.lake).below(folder)}
        return {name for name in found if re.fullmatch(_NAME, name)}

    def remove(self, names: Iterable[str]) -> None:
        """Remove these files, those that are there."""
        files = small_files(self.lake)
        for name in names:
            files.remove(self._path(name))

    def remove_all(self) -> None:
        """Remove all of them: the run has ended."""
        small_files(self.lake).remove_folder(f"{JOBS_FOLDER}/{self.run}")

    def _path(self, name: str) -> str:
        return f"{JOBS_FOLDER}/{self.run}/{name}"


def new_job_files(lake: Lake) -> JobFiles:
    """Return a new run's files: one file, which exists as long as the run."""
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    files = JobFiles(lake, f"{now}-{uuid.uuid4().hex[:8]}")
    files.write(RUNNING, b"{}")
    return files


def runs_with_files(lake: Lake, written_after: float = 0.0) -> list[JobFiles]:
    """Return the files of all runs that have some, sorted by when they began.

    Args:
        lake: The lake.
        written_after: Only runs with a file that was written later, in seconds since 1970 UTC.
    """
    files = small_files(lake).below(f"{JOBS_FOLDER}/")
    found = (file.path.split("/") for file in files if file.modified > written_after)
    runs = {parts[1] for parts in found if len(parts) > 1 and re.fullmatch(_RUN, parts[1])}
    return [JobFiles(lake, run) for run in sorted(runs)]


def find_job_file(location: str) -> tuple[JobFiles, str]:
    """Return the run and the name of a file, from what `JobFiles.location` says.

    Raises:
        BadLakePath: It is not the location of such a file.
        LakeMissing: It is in no lake.
    """
    found = _LOCATION.fullmatch(location if "://" in location else str(Path(location).absolute()))
    if not found:
        msg = f"a task's manifest is LAKE/{JOBS_FOLDER}/RUN/manifest-NUMBER.json, got {location}"
        raise BadLakePath(msg)
    return JobFiles(Lake.open(found["lake"]), found["run"]), found["name"]


def remove_old_job_files(lake: Lake, before: float, *, dry_run: bool) -> list[JobFile]:
    """Remove the files that were written before that time, in seconds since 1970; return them."""
    files = small_files(lake)
    old = [file for file in files.below(f"{JOBS_FOLDER}/") if file.modified < before]
    for file in () if dry_run else old:
        files.remove(file.path)
    return old


def small_files(lake: Lake) -> SmallFiles:
    """Return how small files are written to a lake, and read."""
    if isinstance(lake.storage, Folder):
        return _InFolder(lake.storage.root)
    from tracegrade_lake.object_store import ObjectStore  # noqa: PLC0415 - 15 MB

    if not isinstance(lake.storage, ObjectStore):
        msg = f"the lake {lake.location} is neither a folder nor on an object store"
        raise TypeError(msg)
    return _InStore(lake.storage)


@dataclass(frozen=True)
class _InFolder:
    root: Path

    def write(self, path: str, content: bytes) -> None:
        with writing_to(self.root):
            file = self.root / path
            make_folder(file.parent)
            write_whole(file, content)

    def read(self, path: str) -> bytes | None:
        file = self.root / path
        _check_size(path, size_of(file))
        try:
            return file.read_bytes()
        except FileNotFoundError:
            return None

    def below(self, prefix: str) -> Iterator[JobFile]:
        for file in all_below(self.root / prefix):
            try:
                found = file.stat()
            except FileNotFoundError:  # removed since it was listed
                continue
            if file.is_file():
                name = file.relative_to(self.root).as_posix()
                yield JobFile(name, found.st_size, found.st_mtime)

    def remove(self, path: str) -> None:
        file = self.root / path
        file.unlink(missing_ok=True)
        with suppress(OSError):  # others are in it, or it is gone
            file.parent.rmdir()

    def remove_folder(self, path: str) -> None:
        shutil.rmtree(self.root / path, ignore_errors=True)


@dataclass(frozen=True)
class _InStore:
    store: "ObjectStore"

    def write(self, path: str, content: bytes) -> None:
        with self.store.reading():
            obstore.put(self.store.client, path, content)

    def read(self, path: str) -> bytes | None:
        with self.store.reading():
            try:
                found = obstore.get(self.store.client, path)
            except FileNotFoundError:
                return None
            _check_size(path, found.meta["size"])
            return bytes(found.bytes())

    def below(self, prefix: str) -> Iterator[JobFile]:
        with self.store.reading():
            for batch in obstore.list(self.store.client, prefix):
                for found in batch:
                    modified = found["last_modified"].timestamp()
                    yield JobFile(found["path"], found["size"], modified)

    def remove(self, path: str) -> None:
        with self.store.reading(), suppress(FileNotFoundError):
            obstore.delete(self.store.client, path)

    def remove_folder(self, path: str) -> None:
        for file in self.below(f"{path}/"):
            self.remove(file.path)


def _check_size(path: str, size: int) -> None:
    if size > MAX_BYTES:
        msg = f"{path} has {size:,} bytes, the file of a job at most {MAX_BYTES:,}; remove it"
        raise BadLakePath(msg)
