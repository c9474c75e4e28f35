"""The kinds of object stores that a lake may be on, and their clients.

obstore, which writes, and the Delta library are the same client (the Rust crate `object_store`).
Both retry with jitter, and have conditional PUTs, which pyarrow's clients lack. pyarrow reads
Parquet on S3, because it fetches ranges in parallel without Python. obstore reads it from other
stores, so that there is only one way to find credentials. All take them, and endpoints, from
variables of the environment whose names begin as `variables` says.
"""

import errno
import io
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import obstore
import pyarrow as pa
from deltalake.fs import DeltaStorageHandler
from obstore.store import AzureStore, GCSStore, S3Store
from pyarrow.fs import (
    AwsStandardS3RetryStrategy,
    FileSystem,
    PyFileSystem,
    S3FileSystem,
    SubTreeFileSystem,
)

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

MAX_RETRIES: Final = 6
RETRY_SECS: Final = 30
"""Within one request; after it the lander pauses and tries its round again."""

SMALL_BYTES: Final = 1 << 20
"""Size up to which an object is read whole: it takes less time than two requests."""

MOST_BYTES: Final = 64 << 20
"""Size of all small objects that are kept for one opening of a lake, or one job."""

PUT_SECS: Final = 120
"""For one object: 64 MiB at 5 Mbit/s."""

CONNECT_SECS: Final = 5


@dataclass(frozen=True)
class StoreKind:
    """A kind of object store."""

    variables: str
    """How the names of the variables begin that its clients read."""

    credentials: str
    """Names of variables with credentials, for messages."""

    connect: Callable[..., "ObjectStore"]
    """Makes obstore's client from a URL."""

    objects: Callable[[str, "ObjectStore"], FileSystem]
    """Makes what pyarrow reads the objects below a URL with, by their paths there."""

    def client(self, url: str) -> "ObjectStore":
        """Return the client, whose paths start at the URL."""
        retries: RetryConfig = {
            "max_retries": MAX_RETRIES,
            "retry_timeout": timedelta(seconds=RETRY_SECS),
        }
        return self.connect(url, retry_config=retries, client_options=self._client_options())

    def _client_options(self) -> "ClientConfig":
        """Return the options; those of the environment count only if they are repeated."""
        options: ClientConfig = {
            "timeout": timedelta(seconds=PUT_SECS),
            "connect_timeout": timedelta(seconds=CONNECT_SECS),
        }
        for name in ("allow_http", "allow_invalid_certificates"):
            if os.environ.get(f"{self.variables}{name.upper()}", "").lower() in {"1", "true"}:
                options[name] = True
        return options


def delta_options() -> dict[str, str]:
    """Return the Delta library's options in addition to the environment's."""
    return {"max_retries": str(MAX_RETRIES), "retry_timeout": f"{RETRY_SECS}s"}


def store_of(url: str) -> StoreKind:
    """Return the kind of store that a lake's URL names."""
    return STORES[url.partition("://")[0]]


def _s3_objects(url: str, client: "ObjectStore") -> FileSystem:
    files = S3FileSystem(
        endpoint_override=os.environ.get("AWS_ENDPOINT_URL") or None,
        region=os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"),
        connect_timeout=CONNECT_SECS,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=MAX_RETRIES + 1),
    )
    large = SubTreeFileSystem(url.removeprefix("s3://"), files)
    return PyFileSystem(_SmallObjects(url, client, large))


@contextmanager
def _missing_as_file(path: str) -> Iterator[None]:
    """Report an object that is missing as a file that is gone, and not as an outage."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(errno.ENOENT, "there is no such object", path) from error


class _Object(io.RawIOBase):
    """An object that is open for reading; each read is a request for that range."""

    def __init__(self, client: "ObjectStore", path: str) -> None:
        self._client, self._path = client, path
        with _missing_as_file(path):
            self._size = obstore.head(client, path)["size"]
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = start + offset
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        rest = max(0, self._size - self._position)
        length = rest if size is None or size < 0 else min(size, rest)
        if not length:
            return b""
        start, self._position = self._position, self._position + length
        return bytes(obstore.get_range(self._client, self._path, start=start, length=length))


class _Objects(DeltaStorageHandler):
    """Reads the Delta library's files by obstore, because the library reads under the GIL."""

    def __init__(self, url: str, client: "ObjectStore") -> None:
        super().__init__(url, delta_options())
        self._client = client

    def open_input_file(self, path: str) -> pa.PythonFile:
        return pa.PythonFile(_Object(self._client, path), mode="r")

    def open_input_stream(self, path: str) -> pa.PythonFile:
        return self.open_input_file(path)


class _SmallObjects(DeltaStorageHandler):
    """Reads small objects whole, by one request each, and keeps them for further openings.

    An engine opens a file dozens of times. Larger objects are left to another file system.
    """

    def __init__(self, url: str, client: "ObjectStore", large: FileSystem) -> None:
        super().__init__(url, delta_options())
        self._client, self._large = client, large
        self._whole: dict[str, bytes] = {}
        """Contents by path, the one that was used last at the end."""
        self._large_paths: set[str] = set()
        self._lock = threading.Lock()

    def open_input_file(self, path: str) -> pa.NativeFile:
        content = self._content(path)
        return self._large.open_input_file(path) if content is None else pa.BufferReader(content)

    def open_input_stream(self, path: str) -> pa.NativeFile:
        return self.open_input_file(path)

    def _content(self, path: str) -> bytes | None:
        """Return the bytes of a small object; None for a large one."""
        with self._lock:
            content = self._whole.pop(path, None)
            if content is not None:
                self._whole[path] = content
                return content
        if path in self._large_paths:
            return None
        with _missing_as_file(path):
            found = obstore.get(self._client, path)  # its body is fetched only if it is read
        if found.meta["size"] > SMALL_BYTES:
            self._large_paths.add(path)
            return None
        return self._keep(path, bytes(found.bytes()))

    def _keep(self, path: str, content: bytes) -> bytes:
        """Keep a content in place of those that were not used for longest; return it."""
        with self._lock:
            self._whole[path] = content
            surplus = sum(map(len, self._whole.values())) - MOST_BYTES
            for oldest in list(self._whole):
                if surplus <= 0:
                    break
                surplus -= len(self._whole.pop(oldest))
        return content


def _objects(url: str, client: "ObjectStore") -> FileSystem:
    return PyFileSystem(_SmallObjects(url, client, PyFileSystem(_Objects(url, client))))


_AZURE: Final = StoreKind(
    "AZURE_",
    "AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_SAS_TOKEN or "
    "AZURE_CLIENT_ID, AZURE_CLIENT_SECRET, AZURE_TENANT_ID",
    AzureStore.from_url,
    _objects,
)

STORES: Final[dict[str, StoreKind]] = {
    "s3": StoreKind(
        "AWS_",
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN",
        S3Store.from_url,
        _s3_objects,
    ),
    "az": _AZURE,
    "abfss": _AZURE,
    "gs": StoreKind("GOOGLE_", "GOOGLE_APPLICATION_CREDENTIALS", GCSStore.from_url, _objects),
}
"""By the scheme of a lake's URL; `lake_root.py` says which URLs there are."""
