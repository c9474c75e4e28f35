"""Copies the log of a table on an object store to this machine, each object once.

The Delta library reads an entry of a log twice and a checkpoint in eleven ranges at each opening,
and both once more for each transaction that it looks up. Objects of a log never change. So one
listing shows what the log has, by name, size and ETag; new objects are fetched, and the library
opens the copy. A commit is written into the copy first, then put on condition that no other writer
has put an entry of that version.
"""

import hashlib
import os
import re
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import obstore
import orjson
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from obstore.exceptions import AlreadyExistsError, BaseError

from tracegrade_lake.crash_points import reach
from tracegrade_lake.files import folders_in, is_older, make_folder, size_of, write_whole
from tracegrade_lake.log_entries import CHECKPOINT_NAME, ENTRY_NAME
from tracegrade_lake.storage import LOG_FOLDER

if TYPE_CHECKING:
    from obstore.store import ObjectStore as Client

COPIES_FOLDER: Final = "_logs"
"""Folder in the local state: copies of the logs, by table."""

MOST_ENTRIES: Final = 10
"""After so many entries a commit writes a checkpoint, however long the table's interval is."""

FETCHES: Final = 8
"""Objects that are fetched at the same time."""

PAGE: Final = 1_000
"""Objects that a store lists at once."""

LEFT_SECS: Final = 86_400
"""Age at which the folder of a process that no longer runs is removed."""

_POINTER: Final = "_last_checkpoint"


class LogObject(NamedTuple):
    """An entry or a checkpoint, as the store lists it."""

    version: int
    name: str
    size: int
    copy: str
    """The name of its copy, which another object of this name does not get."""

    @property
    def is_checkpoint(self) -> bool:
        """Whether it is a checkpoint, and not an entry."""
        return CHECKPOINT_NAME.fullmatch(self.name) is not None

    @classmethod
    def of(cls, name: str, size: int, tag: str) -> "LogObject":
        """Return an object by its ETag, or the time of its last change on a store without them.

        Azure lists ETags without the quotes that they have in other answers.
        """
        digest = hashlib.sha256(tag.strip('"').encode()).hexdigest()[:16]
        return cls(_version(name), name, size, f"{name}~{digest}")


class CopiedTable(DeltaTable):
    """A handle on a copy of a table's log, which is removed with it."""

    def __init__(self, folder: Path, uri: str, checkpoint: int) -> None:
        """Open the copy in the folder of a table that has this URL, and a checkpoint so old."""
        super().__init__(str(folder))
        self.folder, self._uri, self.checkpoint = folder, uri, checkpoint
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    @property
    def log(self) -> Path:
        """The folder of the copy."""
        return self.folder / LOG_FOLDER

    @property
    def table_uri(self) -> str:
        """The URL of the table itself."""
        return self._uri

    def file_uris(self, *args: Any, **options: Any) -> list[str]:
        """Return the URLs of the table's files."""
        base = str(self.folder)
        found = super().file_uris(*args, **options)
        return [self._uri + uri.removeprefix("file://").removeprefix(base) for uri in found]


@dataclass(frozen=True)
class LogCopies:
    """The copies of one table's log."""

    client: "Client"
    key: str
    """Key of the log, inside the lake."""

    uri: str
    """The URL of the table."""

    folder: Path
    """For copies."""

    def open(self, version: int | None = None) -> CopiedTable | None:
        """Return a handle on the newest version, or on one that is copied whole.

        Returns:
            None if the log has a form that only the Delta library reads, or of an earlier version
            something is not copied.

        Raises:
            BaseError: The store does not answer.
            TableNotFoundError: There is no log.
        """
        try:
            make_folder(self.folder)
            segment = self._segment() if version is None else self._copied(version)
            if not segment:
                return None
            table = self._opened(segment)
            if version is None:
                self._clean({found.copy: found.version for found in segment})
            return table
        except TableNotFoundError:
            raise
        except (DeltaError, OSError):  # the library itself says what the log lacks
            shutil.rmtree(self.folder, ignore_errors=True)
            return None

    def put_commit(self, table: CopiedTable, version: int) -> None:
        """Put the entry that was committed to the copy; with it a checkpoint if one is due.

        Raises:
            BaseError: The store does not answer. The entry may be there.
            CommitFailedError: Another writer put an entry of this version first.
        """
        name = f"{version:020d}.json"
        content = (table.log / name).read_bytes()
        try:
            self._put(name, content, mode="create")
        except AlreadyExistsError as error:
            if not self._holds(name, content):
                msg = f"another writer has committed version {version}"
                raise CommitFailedError(msg) from error
        reach("entry_put")
        if version - table.checkpoint >= MOST_ENTRIES:
            with suppress(BaseError, DeltaError):  # else the next commit writes one
                self._put_checkpoint(table, version)

    def _put_checkpoint(self, table: CopiedTable, version: int) -> None:
        DeltaTable(str(table.folder)).create_checkpoint()
        name = f"{version:020d}.checkpoint.parquet"
        self._put(name, (table.log / name).read_bytes(), mode="overwrite")
        reach("checkpoint_put")
        pointer = (table.log / _POINTER).read_bytes()
        obstore.put(self.client, f"{self.key}/{_POINTER}", pointer, mode="overwrite")

    def _put(self, name: str, content: bytes, mode: Any) -> None:
        put = obstore.put(
            self.client, f"{self.key}/{name}", content, mode=mode, use_multipart=False
        )
        if tag := put["e_tag"]:
            copy = LogObject.of(name, len(content), tag).copy
            write_whole(self.folder / copy, content)

    def _holds(self, name: str, content: bytes) -> bool:
        """Return whether the object is the one that was put: its first response may be lost."""
        with suppress(FileNotFoundError):
            return bytes(obstore.get(self.client, f"{self.key}/{name}").bytes()) == content
        return False

    def _segment(self) -> list[LogObject]:
        """Return the last checkpoint and the entries after it; none if they are not all there."""
        copied = [found for path in self.folder.iterdir() if (found := _object_of(path))]
        last = max((each.version for each in copied if each.is_checkpoint), default=0)
        if last and (segment := _segment_of(list(self._listed(last)))):
            return segment
        listed = list(islice(self._listed(0), PAGE))
        if not listed:
            msg = f"there is no table at {self.uri}"
            raise TableNotFoundError(msg)
        return _segment_of(listed if len(listed) < PAGE else list(self._listed(self._pointed())))

    def _copied(self, version: int) -> list[LogObject]:
        """Return what a version is read from; none if not all of it is copied.

        An opening of the newest version has removed the copies of objects that are others now.
        """
        copied = [found for path in self.folder.iterdir() if (found := _object_of(path))]
        segment = _segment_of([each for each in copied if each.version <= version])
        names = {each.name for each in copied}
        is_whole = segment and segment[-1].version == version and len(names) == len(copied)
        return segment if is_whole else []

    def _pointed(self) -> int:
        """Return the version of the last checkpoint; 0 without one."""
        with suppress(FileNotFoundError, ValueError, KeyError, TypeError):
            found = obstore.get(self.client, f"{self.key}/{_POINTER}")
            return int(orjson.loads(bytes(found.bytes()))["version"])
        return 0

    def _listed(self, start: int) -> Iterator[LogObject]:
        """Yield the entries and checkpoints from a version on."""
        offset = f"{self.key}/{start:020d}"
        for batch in obstore.list(self.client, self.key, offset=offset):
            for found in batch:
                name = found["path"].removeprefix(f"{self.key}/")
                if ENTRY_NAME.fullmatch(name) or CHECKPOINT_NAME.fullmatch(name):
                    tag = found["e_tag"] or str(found["last_modified"])
                    yield LogObject.of(name, found["size"], tag)

    def _opened(self, segment: list[LogObject]) -> CopiedTable:
        folder = Path(tempfile.mkdtemp(prefix=f"open-{os.getpid()}-", dir=self.folder))
        try:
            make_folder(folder / LOG_FOLDER)
            with ThreadPoolExecutor(FETCHES) as pool:
                list(pool.map(lambda found: self._copy(found, folder / LOG_FOLDER), segment))
            checkpoint = segment[0].version if segment[0].is_checkpoint else 0
            table = CopiedTable(folder, self.uri, checkpoint)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return table

    def _copy(self, found: LogObject, log: Path) -> None:
        """Link the copy of an object into the folder of a handle; fetch it if there is none.

        Raises:
            FileNotFoundError: The object is another one since it was listed.
        """
        copy = self.folder / found.copy
        with suppress(FileNotFoundError):
            if copy.stat().st_size == found.size:
                os.link(copy, log / found.name)
                return
        answer = obstore.get(self.client, f"{self.key}/{found.name}")
        content = bytes(answer.bytes())
        tag = answer.meta["e_tag"] or str(answer.meta["last_modified"])
        if LogObject.of(found.name, len(content), tag) != found:
            raise FileNotFoundError(found.name)
        write_whole(log / found.name, content)
        if not copy.exists():
            with suppress(FileExistsError):
                os.link(log / found.name, copy)

    def _clean(self, needed: Mapping[str, int]) -> None:
        """Remove copies that no opening needs again, and folders of processes that were killed."""
        newest = max(needed.values())
        for path in list(self.folder.iterdir()):
            found = _object_of(path)
            if found and found.version <= newest and path.name not in needed:
                path.unlink(missing_ok=True)
        long_ago = time.time_ns() - LEFT_SECS * 10**9
        for folder in folders_in(self.folder):
            if is_older(folder, long_ago) and not _runs(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _segment_of(listed: list[LogObject]) -> list[LogObject]:
    """Return the last checkpoint with the entries after it; none if they are not without gaps."""
    last = max((found for found in listed if found.is_checkpoint), default=None)
    first = last.version + 1 if last else 0
    entries = sorted(found for found in listed if not found.is_checkpoint)
    after = [found for found in entries if found.version >= first]
    is_whole = [found.version for found in after] == [*range(first, first + len(after))]
    same = [found for found in entries if last and found.version == last.version]  # for commits
    return [*([last] if last else []), *same, *after] if is_whole else []


def _version(name: str) -> int:
    return int(name.partition(".")[0])


def _object_of(path: Path) -> LogObject | None:
    """Return the object of a copy; None if it is something else, or removed since."""
    name = path.name.partition("~")[0]
    if not (ENTRY_NAME.fullmatch(name) or CHECKPOINT_NAME.fullmatch(name)):
        return None
    return LogObject(_version(name), name, size_of(path), path.name)


def _runs(folder: Path) -> bool:
    """Return whether the process that made the folder of a handle still runs."""
    found = re.match(r"open-(\d+)-", folder.name)
    try:
        os.kill(int(found[1]) if found else 0, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
