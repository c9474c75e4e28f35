"""A lake on an object store: whole objects, no rename, no sync, lost responses.

An object appears whole or not at all, and stays once the store confirmed it. The conditional PUT
(`If-None-Match: *`) makes commits safe: of two writers of one name exactly one wins. Data files
use it too. If a PUT was applied but its response was lost, the retry finds its own object and
recognizes it by its content. A store that ignores the condition is refused: this decides where a
lake may be, not the name of the store.
"""

import hashlib
import re
import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import obstore
import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from obstore.exceptions import AlreadyExistsError, BaseError
from pyarrow.fs import FileSystem, SubTreeFileSystem

from tracegrade_lake.backoff import Backoff
from tracegrade_lake.crash_points import reach
from tracegrade_lake.errors import LakeDamaged, LakeUnreachable, StoreUnfit
from tracegrade_lake.lake_root import TENANTS_FOLDER
from tracegrade_lake.lake_version import VERSION_FILE, is_noted, note
from tracegrade_lake.leases import Lease
from tracegrade_lake.log_copies import COPIES_FOLDER, CopiedTable, LogCopies
from tracegrade_lake.storage import (
    LOG_FOLDER,
    RAW_TABLES,
    STAGE_FOLDER,
    WAL_FOLDER,
    StagedFile,
    StoredFile,
)
from tracegrade_lake.stores import RETRY_SECS, StoreKind, delta_options, store_of

if TYPE_CHECKING:
    from obstore.store import ObjectStore as Client

PROBE: Final = "_probe/"
COMPARE_BYTES: Final = 8 << 20

CONFIGURATION: Final[dict[str, str | None]] = {
    "delta.checkpointInterval": "10",  # each open reads what came after it, two requests an entry
}


@dataclass(frozen=True)
class ObjectStore:
    """The place of a whole lake."""

    url: str
    """Bucket and prefix, as `lake_root.py` takes them."""

    state: Path
    """Local folder for files that are not put yet."""

    @property
    def location(self) -> str:
        """The URL."""
        return self.url

    @cached_property
    def kind(self) -> StoreKind:
        """The kind of store that the URL names."""
        return store_of(self.url)

    @cached_property
    def client(self) -> "Client":
        """The client, whose paths start at the lake."""
        return self.kind.client(self.url)

    @cached_property
    def files(self) -> FileSystem:
        """The file system with which pyarrow reads Parquet, by object paths inside the lake."""
        return self.kind.objects(self.url, self.client)

    @cached_property
    def conditional_puts(self) -> "ConditionalPutSupport":
        """The store's support of conditional PUTs; checked once per process."""
        return ConditionalPutSupport(self)

    def exists(self) -> bool:
        """Return whether there is any object under the prefix."""
        with self.reading():
            found = obstore.list_with_delimiter(self.client)
            return bool(found["common_prefixes"] or found["objects"])

    def check_version(self) -> bool:
        """Return whether the lake notes this code's version; raise if it has a later one."""
        content = None
        with self.reading(), suppress(FileNotFoundError):
            content = bytes(obstore.get(self.client, VERSION_FILE).bytes())
        return is_noted(content, self.url)

    def only_tenants(self) -> list[str]:
        """Return the names of the tenants, sorted; none if the lake has rows or a log itself."""
        with self.reading():
            if (self.state / WAL_FOLDER).is_dir() or any(map(self._has_log, RAW_TABLES)):
                return []
            found = obstore.list_with_delimiter(self.client, TENANTS_FOLDER)["common_prefixes"]
            return sorted(name.rstrip("/").rpartition("/")[2] for name in found)

    def prepare(self) -> None:
        """Make sure that the store keeps commits apart, and note the version."""
        self.conditional_puts.check()

    def tables(self) -> list[str]:
        """Return the names of the tables, sorted."""
        with self.reading():
            folders = obstore.list_with_delimiter(self.client)["common_prefixes"]
            return sorted(name for name in folders if self._has_log(name))

    def _has_log(self, table: str) -> bool:
        log = obstore.list(self.client, f"{table}/{LOG_FOLDER}", chunk_size=1)
        return any(log)

    def delete(self, keys: Sequence[str]) -> None:
        """Delete objects; a missing one is not an error."""
        try:
            obstore.delete(self.client, keys)
        except FileNotFoundError:  # Azure tells, and others of these may be left
            for key in keys:
                with suppress(FileNotFoundError):
                    obstore.delete(self.client, key)

    def table(self, name: str) -> "TableObjects":
        """Return the objects of one table, which need not exist."""
        return TableObjects(self, name)

    def lock(self, name: str) -> Lease:
        """Return a lease for the processes of all machines."""
        return Lease(self, name)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn failures of the store into one line without secrets.

        Raises:
            LakeUnreachable: A request failed.
        """
        try:
            yield
        except (CommitFailedError, TableNotFoundError):  # answers, not failures
            raise
        except (BaseError, DeltaError, OSError) as error:
            if isinstance(error, BaseError) or _is_of_store(error):
                raise self._unreachable(error) from error
            raise

    def _unreachable(self, error: Exception) -> LakeUnreachable:
        fact = store_fact(str(error))
        way_out = _way_out(fact).format(credentials=self.kind.credentials)
        return LakeUnreachable(f"the lake {self.url} cannot be reached: {fact}; {way_out}")


@dataclass
class ConditionalPutSupport:
    """Whether a store refuses a second conditional PUT."""

    store: ObjectStore
    is_fit: bool = False

    def check(self) -> None:
        """Put an object twice, once a process, and note the lake's version.

        Raises:
            LakeNewer: It has a later version than this code knows.
            LakeUnreachable: The store does not answer.
            StoreUnfit: It takes the second one, and would let commits overwrite each other.
        """
        if self.is_fit:
            return
        is_noted = self.store.check_version()
        path = f"{PROBE}{uuid.uuid4().hex}"
        with self.store.reading():
            try:
                self._put_twice(path)
            finally:
                self.store.delete([path])
            if not is_noted:
                obstore.put(self.store.client, VERSION_FILE, note(), mode="overwrite")
        self.is_fit = True

    def _put_twice(self, path: str) -> None:
        obstore.put(self.store.client, path, b"1", mode="overwrite")
        try:
            obstore.put(self.store.client, path, b"2", mode="create")
        except AlreadyExistsError:
            return
        msg = (
            f"the store of {self.store.url} ignores If-None-Match, so writers would overwrite "
            "each other's commits; use one with conditional writes, as S3 has them"
        )
        raise StoreUnfit(msg)


@dataclass(frozen=True)
class TableObjects:
    """The objects of one table."""

    store: ObjectStore
    name: str
    options: dict[str, str] = field(default_factory=delta_options)

    @property
    def location(self) -> str:
        """The URL."""
        return self.uri

    @property
    def uri(self) -> str:
        """The URL."""
        return f"{self.store.url}/{self.name}"

    @property
    def configuration(self) -> dict[str, str | None]:
        """Properties that save requests."""
        return CONFIGURATION

    @property
    def stage_folder(self) -> Path:
        """A folder in the lake's local state."""
        return self.store.state / STAGE_FOLDER / self.name

    def reading(self) -> AbstractContextManager[None]:
        """Turn failures of the store into one line without secrets."""
        return self.store.reading()

    def writing(self) -> AbstractContextManager[None]:
        """Turn failures of the store into one line, as `reading` does."""
        return self.store.reading()

    def in_turn(self) -> AbstractContextManager[None]:
        """Let all writers through at once: a lock on a store costs more than a lost race."""
        return nullcontext()

    def may_exist(self) -> bool:
        """Return True: only opening it tells."""
        return True

    @cached_property
    def _log_copies(self) -> LogCopies:
        folder = self.store.state / COPIES_FOLDER / self.name
        return LogCopies(self.store.client, self._key(LOG_FOLDER), self.uri, folder)

    def open_log(self, version: int | None = None) -> DeltaTable:
        """Return a handle on a copy of the log; on the log itself if only the library reads it."""
        return self._log_copies.open(version) or DeltaTable(
            self.uri, version=version, storage_options=self.options
        )

    def put_commit(self, delta: CopiedTable, version: int) -> None:
        """Put the entry of a commit on condition that no other writer was first."""
        self._log_copies.put_commit(delta, version)

    def prepare(self) -> None:
        """Make sure that the store keeps commits apart.

        Raises:
            LakeUnreachable: The store does not answer.
            StoreUnfit: It does not.
        """
        self.store.conditional_puts.check()

    def is_whole(self, version: int) -> bool:
        """Return True: an object appears whole."""
        return True

    def entries_to_read(self) -> int:
        """Return 0: commits write a checkpoint after few entries."""
        return 0

    def put_aside_torn(self) -> list[str]:
        """Return nothing: an object appears whole."""
        return []

    def sync_log(self, after: int) -> None:
        """Do nothing: what the store confirmed, it keeps."""

    def publish(self, staged: Sequence[StagedFile]) -> dict[str, str]:
        """Put staged files unless they are there already; a different object there stays.

        An interrupted attempt may have left other rows under a path, which another writer may be
        about to commit. So no object is ever overwritten. The staged files stay until they are
        committed: another call knows its objects by them.
        """
        with self.writing():
            return {
                file.name: self._put_elsewhere(file) or self._publish(file.path, file.name)
                for file in staged
            }

    def _put_elsewhere(self, file: StagedFile) -> str | None:
        """Return the path of a file that another process has put; None if it is still staged."""
        if file.path.exists():
            return None
        with suppress(FileNotFoundError):
            size = obstore.head(self.store.client, self._key(file.name))["size"]
            return file.name if size == file.size else None
        return None

    def _publish(self, staged: Path, path: str) -> str:
        taken = path
        if not self._put(staged, path):
            with staged.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            taken = f"{path.removesuffix('.parquet')}-{digest[:12]}.parquet"
            if not self._put(staged, taken):
                msg = f"{self.uri}/{taken} holds other bytes than its name says; remove it"
                raise LakeDamaged(msg)
        reach("file_published")
        return taken

    def _put(self, staged: Path, path: str) -> bool:
        """Return whether the object holds the file's bytes now; False: it holds others."""
        client, key = self.store.client, self._key(path)
        backoff = Backoff(RETRY_SECS)
        while True:
            with suppress(AlreadyExistsError), staged.open("rb") as file:
                obstore.put(client, key, file, mode="create", use_multipart=False)
                return True
            try:
                return self._is_equal(staged, path)
            except FileNotFoundError as error:  # a 409, not a 412: another put was under way
                if not backoff.pause():
                    msg = f"{self.store.url} answers each PUT of {key} with a conflict; try later"
                    raise LakeUnreachable(msg) from error

    def _is_equal(self, staged: Path, path: str) -> bool:
        found = obstore.get(self.store.client, self._key(path))
        if found.meta["size"] != staged.stat().st_size:
            return False
        with staged.open("rb") as file:
            return all(
                bytes(chunk) == file.read(len(chunk)) for chunk in found.stream(COMPARE_BYTES)
            )

    def _key(self, path: str) -> str:
        return f"{self.name}/{path}"

    def stored_files(self) -> Iterator[StoredFile]:
        """Yield every object below the table's prefix but those of the log."""
        with self.reading():
            for batch in obstore.list(self.store.client, self.name):
                for found in batch:
                    path = found["path"].removeprefix(f"{self.name}/")
                    modified_ms = int(found["last_modified"].timestamp() * 1000)
                    if not path.startswith(f"{LOG_FOLDER}/"):
                        yield StoredFile(path, found["size"], modified_ms)

    @property
    def filesystem(self) -> FileSystem:
        """The file system that pyarrow uses to read the table, by paths inside it."""
        return SubTreeFileSystem(self.name, self.store.files)

    def open_input(self, path: str) -> pa.NativeFile:
        """Open an object for reading ranges of it."""
        with self.reading():
            return self.filesystem.open_input_file(path)

    def remove(self, paths: Sequence[str]) -> None:
        """Delete objects; a missing one is not an error."""
        with self.reading():
            if paths:
                self.store.delete([self._key(path) for path in paths])

    def drop(self) -> None:
        """Delete the table's objects, its log first, so that a failure leaves no table behind."""
        with self.reading():
            for prefix in (self._key(LOG_FOLDER), self.name):
                for batch in obstore.list(self.store.client, prefix):
                    self.store.delete([found["path"] for found in batch])


def _is_of_store(error: Exception) -> bool:
    return (
        re.search("Error performing|(S3|MicrosoftAzure|GCS) error|AWS Error", str(error))
        is not None
    )


def store_fact(text: str) -> str:
    """Return the cause in a client's long text, but never a URL's query or a header."""
    code, message = (re.search(rf"<{tag}>([^<]*)</{tag}>", text) for tag in ("Code", "Message"))
    if code:
        return f"{code[1]} ({_without_keys(message[1])})" if message else code[1]
    sdk = re.search(r"ExceptionName: (\w+)", text) or re.search(r"AWS Error (\w+)", text)
    if sdk:
        return sdk[1] if "ExceptionName" in sdk[0] else sdk[1].lower().replace("_", " ")
    status = re.search(r"\b([45]\d\d [A-Z][A-Za-z ]+)", text)
    if status:
        return status[1].strip()
    cause = re.search(r'message: "([^"]+)"|\b(TimedOut|timed out)\b', text)
    if cause:
        return (cause[1] or "no answer in time").lower()
    sent = re.search(r"HTTP error: ([a-z ]+)$", text, re.MULTILINE)
    last = sent[1] if sent else text.splitlines()[-1].rpartition("\x1b[0m")[2].strip()
    return last if re.search(r"\w", last) else "no answer"


def _without_keys(text: str) -> str:
    first = text.partition("\n")[0]  # Azure adds lines with the number and time of the request
    return re.sub(r"\b[A-Za-z0-9/+=]{16,}", "***", first.rstrip("."))


def _way_out(fact: str) -> str:
    for pattern, way in WAYS_OUT.items():
        if re.search(pattern, fact, re.IGNORECASE):
            return way
    return "check the network and the store, then try again"


WAYS_OUT: Final = {
    "TimeTooSkewed|RequestExpired": "set this machine's clock",
    "NoSuchBucket|ContainerNotFound": "create the bucket, or correct the lake's URL",
    "Token|Credential|AccessKey|Signature|Authenti|Authori|access.?denied|40[13] ": "renew the "
    "credentials ({credentials}) and their rights",
    "slow.?down|ServerBusy|503": "it is overloaded; try again later",
}
