"""Real object stores in processes of their own, each behind a proxy that can fail on request.

S3 is moto's server, Azure is azurite (`make azurite` installs it).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import IO, Any, NamedTuple

from tests.waiting import PATIENCE_SECS

SERVER = """
import threading
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(*server.get_host_and_port(), sep=":", flush=True)
threading.Event().wait()
"""
AZURITE = Path(__file__).parents[2] / ".azurite" / "node_modules/azurite/dist/src/blob/main.js"
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = base64.b64encode(b"of a server for tests " * 3).decode()
BUCKET = "lakes"
SECRET = "s3cr3t/Never+Shown/0123456789abcdefABCDEF"  # noqa: S105 - of a server that checks none
PASSED_ON = ("content-type", "etag", "last-modified", "accept-ranges", "content-range")


class Reply(NamedTuple):
    """What the proxy answers instead of the store, or for it."""

    status: int
    code: str
    message: str = "the test says so"

    @property
    def body(self) -> bytes:
        """The error as S3 writes it."""
        return f"<Error><Code>{self.code}</Code><Message>{self.message}</Message></Error>".encode()


@dataclass
class Fault:
    """Something that goes wrong with some requests."""

    method: str
    path: str
    """A regular expression, searched in path and query."""

    times: int = 1
    reply: Reply | None = None
    """None: the connection is cut."""

    applied: bool = False
    """Whether the store gets the request first."""

    truncated: bool = False
    """Whether half of the store's answer is sent, then the connection cut."""

    delay_secs: float = 0.0
    then: Callable[[], Any] | None = None
    """Called once it is applied."""

    hits: int = 0
    """How many requests it met."""

    def meets(self, method: str, path: str) -> bool:
        """Return whether this request is to fail."""
        wanted = self.method in {method, "*"} and re.search(self.path, path)
        return bool(wanted) and not self.is_over()

    def is_over(self) -> bool:
        """Return whether it met as many requests as it should."""
        return self.hits >= self.times


@dataclass
class Store:
    """A server that tests can disturb."""

    backend: str
    """HOST:PORT of the server itself."""

    scheme: str = "s3"
    """Of URLs: s3 | az."""

    endpoint: str = ""
    """URL of the proxy."""

    faults: list[Fault] = field(default_factory=list)
    requests: list[tuple[float, str, str]] = field(default_factory=list)
    """Time, method and path of each, as they came."""

    ignores_conditions: bool = False
    """Whether it is a store that does not know If-None-Match."""

    lock: threading.Lock = field(default_factory=threading.Lock)

    def fault(self, method: str, path: str, **how: Any) -> Fault:
        """Let the next requests of this kind fail; return what counts them."""
        fault = Fault(method, path, **how)
        self.faults.append(fault)
        return fault

    def heal(self) -> None:
        """Let nothing fail any more."""
        self.faults.clear()
        self.ignores_conditions = False

    def url(self, prefix: str) -> str:
        """Return the URL of a lake in the one bucket."""
        return f"{self.scheme}://{BUCKET}/{prefix}"

    @property
    def exists(self) -> Reply:
        """What it answers to a PUT on condition of an object that is there."""
        azure = Reply(409, "BlobAlreadyExists")
        return azure if self.scheme == "az" else Reply(412, "PreconditionFailed")

    @property
    def endpoint_variable(self) -> str:
        """The variable that tells clients where it is."""
        return "AZURE_STORAGE_ENDPOINT" if self.scheme == "az" else "AWS_ENDPOINT_URL"

    @property
    def environment(self) -> dict[str, str]:
        """What a client needs."""
        if self.scheme == "az":
            return {
                self.endpoint_variable: f"{self.endpoint}/{ACCOUNT}",
                "AZURE_ALLOW_HTTP": "true",
                "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
                "AZURE_STORAGE_ACCOUNT_KEY": ACCOUNT_KEY,
            }
        return {
            self.endpoint_variable: self.endpoint,
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "AKIATESTKEY000000000",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
        }

    def counts(self) -> Counter[str]:
        """Return how many requests of each method there were."""
        return Counter(method for _, method, _ in self.requests)


@contextmanager
def s3_server() -> Iterator[Store]:
    """Run server and proxy during the block; there is one empty bucket."""
    with _running([sys.executable, "-c", SERVER]) as output:
        store = Store(output.readline().strip())
        _ask_for(urllib.request.Request(f"http://{store.backend}/{BUCKET}", method="PUT"))
        with _proxy(store):
            yield store


def azure_is_there() -> bool:
    """Return whether there is an Azure server to run."""
    return AZURITE.is_file() and shutil.which("node") is not None


@contextmanager
def azure_server() -> Iterator[Store]:
    """Run an Azure server and a proxy during the block; there is one empty container."""
    options = ["--skipApiVersionCheck", "--inMemoryPersistence", "--disableTelemetry"]
    ports = ["--blobHost", "127.0.0.1", "--blobPort", "0"]
    with _running(["node", str(AZURITE), *options, *ports]) as output:
        listens = (re.search(r"listens on http://(\S+)", line) for line in output)
        store = Store(next(found[1] for found in listens if found), "az")
        _ask_for(_new_container(store.backend))
        with _proxy(store):
            yield store


@contextmanager
def _running(command: list[str]) -> Iterator[IO[str]]:
    """Run a server, and give what it prints."""
    variables = {"AZURITE_ACCOUNTS": f"{ACCOUNT}:{ACCOUNT_KEY}"}
    server = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | variables,
    )
    assert server.stdout
    try:
        yield server.stdout
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def _new_container(backend: str) -> urllib.request.Request:
    """Return the signed request for the container; obstore makes none."""
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
    signed = [f"{name}:{value}" for name, value in headers.items()]
    path = f"/{ACCOUNT}/{BUCKET}"
    text = "\n".join(["PUT", *[""] * 11, *signed, f"/{ACCOUNT}{path}", "restype:container"])
    mac = hmac.digest(base64.b64decode(ACCOUNT_KEY), text.encode(), hashlib.sha256)
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(mac).decode()}"
    url = f"http://{backend}{path}?restype=container"
    return urllib.request.Request(url, method="PUT", headers=headers)


def _ask_for(request: urllib.request.Request) -> None:
    urllib.request.urlopen(request).close()  # noqa: S310 - our own server


@contextmanager
def _proxy(store: Store) -> Iterator[None]:
    class Handler(_Handler):
        behind = store

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    store.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(http.server.BaseHTTPRequestHandler):
    """One client's connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else the body of an answer waits 40 ms for its head's receipt
    behind: Store

    def log_message(self, *_: object) -> None:
        """Be quiet."""

    def handle_one_request(self) -> None:
        """Take one request with any method; a client that has left is not an error."""
        try:
            super().handle_one_request()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        with self.behind.lock:
            self.behind.requests.append((time.monotonic(), self.command, self.path))
            met = (each for each in self.behind.faults if each.meets(self.command, self.path))
            fault = next(met, None)
            if fault:
                fault.hits += 1
        if fault is None:
            self._answer(*self._ask(body))
            return
        time.sleep(fault.delay_secs)
        answer = self._ask(body) if fault.applied or fault.truncated or fault.delay_secs else None
        if fault.then:
            fault.then()
        if fault.truncated and answer:
            self._answer(*answer, cut=True)
        elif fault.reply:
            self._answer(fault.reply.status, {}, fault.reply.body)
        elif fault.delay_secs and answer and not fault.applied:
            self._answer(*answer)
        else:
            self.close_connection = True

    def __getattr__(self, name: str) -> Any:
        """Return what serves a method: the same for all."""
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def _ask(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Return what the store answers."""
        connection = http.client.HTTPConnection(self.behind.backend, timeout=PATIENCE_SECS)
        headers = {name: value for name, value in self.headers.items() if name != "connection"}
        if self.behind.ignores_conditions:
            headers.pop("if-none-match", None)
        try:
            connection.request(self.command, self.path, body, headers)
            response = connection.getresponse()
            kept = {k: v for k, v in response.getheaders() if k.lower() in PASSED_ON}
            if self.command == "HEAD":
                kept["Content-Length"] = response.getheader("content-length") or "0"
            return response.status, kept, response.read()
        finally:
            connection.close()

    def _answer(
        self, status: int, headers: dict[str, str], body: bytes, *, cut: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.command != "HEAD":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self.wfile.flush()
            self.close_connection = True


def put_environment(store: Store, set_variable: Callable[[str, str], None]) -> None:
    """Point the clients of this process, and those that it starts, at the store."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_"))]:
        set_variable(name, "")
    for name, value in store.environment.items():
        set_variable(name, value)
