"""The interface of a table's storage, which a local folder and an object store implement.

Everything above (staging, commits, maintenance) uses these protocols; `folder.py` and
`object_store.py` implement them.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pyarrow as pa
from deltalake import DeltaTable
from pyarrow.fs import FileSystem

if TYPE_CHECKING:
    from tracegrade_lake.log_copies import CopiedTable

LOG_FOLDER = "_delta_log"
STAGE_FOLDER = "_stage"
PUT_ASIDE_FOLDER = "_put_aside"  # of the lake: tables that a repair gave up
WAL_FOLDER = "wal"  # of the lake, on this machine: what has not landed yet
RAW_TABLES = ("raw_spans", "raw_logs")
"""Tables that get rows first in every lake; `schema.py` declares them."""


class StoredFile(NamedTuple):
    """A file below a table's folder, whether the table holds it or not."""

    path: str
    """Inside the table's folder."""

    size: int
    """Bytes."""

    modified_ms: int
    """Since 1970 UTC."""


@dataclass(frozen=True)
class StagedFile:
    """A Parquet file that is written and synced but belongs to no table yet."""

    path: Path
    """Where it lies, below `_stage/`."""

    name: str
    """Its path inside the table once it is committed: `date=2026-11-21/NAME.parquet`."""

    partition: dict[str, str]
    size: int
    """Bytes."""

    rows: int
    stats: str
    """Delta's per-file statistics, JSON."""


class TableStorage(Protocol):
    """The files of one table."""

    @property
    def name(self) -> str:
        """The name of the table."""

    @property
    def location(self) -> str:
        """The folder's path or URL, for people."""

    @property
    def uri(self) -> str:
        """The folder as the Delta library wants it."""

    @property
    def options(self) -> dict[str, str] | None:
        """The Delta library's `storage_options`."""

    @property
    def configuration(self) -> dict[str, str | None]:
        """Table properties in which this storage differs from others."""

    @property
    def stage_folder(self) -> Path:
        """A local folder for files that belong to no table yet."""

    def reading(self) -> AbstractContextManager[None]:
        """Turn failures of the storage in the block into an error of one line."""

    def writing(self) -> AbstractContextManager[None]:
        """Turn failures of the storage in the block into an error of one line."""

    def in_turn(self) -> AbstractContextManager[None]:
        """Let writers through the block one at a time, if that costs little.

        The block must be safe without it.
        """

    def may_exist(self) -> bool:
        """Return False only if the table certainly does not exist."""

    def open_log(self, version: int | None = None) -> DeltaTable:
        """Return a handle of a version, None for the newest; perhaps on a copy of the log."""

    def put_commit(self, delta: "CopiedTable", version: int) -> None:
        """Put a commit that a handle made in its copy of the log into the log itself."""

    def prepare(self) -> None:
        """Prepare the storage for a first write, or report why it cannot be written."""

    def is_whole(self, version: int) -> bool:
        """Return whether the entry of a commit is readable to its end."""

    def entries_to_read(self) -> int:
        """Return how many entries of the log an opening reads; 0 if commits keep them few."""

    def put_aside_torn(self) -> list[str]:
        """Put aside the log entries that a power cut tore; return the names of their files."""

    def sync_log(self, after: int) -> None:
        """Make each entry of the log that is later than this version durable."""

    def publish(self, staged: Sequence[StagedFile]) -> dict[str, str]:
        """Move staged files into the table's folder; return the path that each has there.

        A file that an earlier call moved stays unchanged.

        Returns:
            Path by file name; a new path if the name belongs to a different file that must stay.
        """

    def stored_files(self) -> Iterator[StoredFile]:
        """Yield every file below the table's folder but those of the log."""

    @property
    def filesystem(self) -> FileSystem:
        """The file system that pyarrow uses to read the table, by paths inside it."""

    def open_input(self, path: str) -> pa.NativeFile:
        """Open a file of the table for reading at any place."""

    def remove(self, paths: Sequence[str]) -> None:
        """Remove files for good; a missing one is not an error."""

    def drop(self) -> None:
        """Remove the table with its log."""


class Lock(Protocol):
    """An exclusive lock, held until it is closed or the process ends."""

    def try_acquire(self) -> bool:
        """Return whether the caller now holds the lock."""

    def acquire(self) -> None:
        """Wait until the caller holds the lock."""

    def sign(self) -> None:
        """Note the machine and the process of the caller, who holds the lock."""

    def holder(self) -> str:
        """Return who holds the lock, or held it last, in words; '' if that is not known."""

    def check(self) -> None:
        """Raise `LeaseLost` if the caller no longer holds the lock."""

    def close(self) -> None:
        """Give the lock back."""


class Storage(Protocol):
    """The place of a whole lake."""

    @property
    def location(self) -> str:
        """Path or URL, as `Lake.open` takes it."""

    def exists(self) -> bool:
        """Return whether the lake exists."""

    def check_version(self) -> bool:
        """Return whether the lake notes this code's version; raise if it has a later one."""

    def only_tenants(self) -> list[str]:
        """Return the names of the tenants, sorted; none if the lake has rows or a log itself."""

    def prepare(self) -> None:
        """Check that several writers are safe here; raise if they are not. Note the version."""

    def tables(self) -> list[str]:
        """Return the names of the tables, sorted."""

    def table(self, name: str) -> TableStorage:
        """Return the files of one table, which need not exist."""

    def lock(self, name: str) -> Lock:
        """Return a lock of the lake for all processes that work on it, not acquired yet."""
