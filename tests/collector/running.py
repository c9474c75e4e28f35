"""A real collector in its own processes, requests to send to it, and what it landed."""

from __future__ import annotations

import http.client
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from google.protobuf import json_format
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_collector.edge.counters import PREFIX
from tracegrade_lake import RAW_LOGS, RAW_SPANS

RAW_TABLES = {"raw_spans": RAW_SPANS, "raw_logs": RAW_LOGS}
COMMAND = [str(Path(sys.executable).with_name("tracegrade")), "collect"]
PROTOBUF = {"Content-Type": "application/x-protobuf"}
JSON = {"Content-Type": "application/json"}
BESIDE_SECS = 10
"""For which work in the background goes on once it is to end soon."""


class Answer(NamedTuple):
    """What the collector said to one HTTP request."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> Status:
        """The error in the body, read in the encoding that the answer names."""
        status = Status()
        if self.headers["content-type"] == "application/json":
            json_format.Parse(self.body, status)
        else:
            status.ParseFromString(self.body)
        return status


class Collector:
    """A running `tracegrade collect`; its processes form a group of their own."""

    def __init__(self, lake: Path, *flags: str, **options: str | float) -> None:
        """Start it on free ports and wait until it is ready."""
        self.lake = Path(lake)  # of a URL it means nothing
        environment = {
            f"TRACEGRADE_COLLECTOR_{name.upper()}": str(options[name]) for name in options
        }
        self.process = subprocess.Popen(
            [*COMMAND, "--lake", str(lake), "--http=127.0.0.1:0", "--grpc=127.0.0.1:0", *flags],
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout
        printed = dict(self.process.stdout.readline().strip().split(": ") for _ in range(2))
        self.process.stdout.close()
        self.url, self.grpc = printed["http"], printed["grpc"]
        self.port = int(self.url.rpartition(":")[2])

    def post(self, path: str, body: bytes = b"", headers: Mapping[str, str] = PROTOBUF) -> Answer:
        """Send one request on a new connection and return the answer."""
        return self.request("POST", path, body, headers)

    def request(
        self, method: str, path: str, body: Any = b"", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send one request on a new connection and return the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECS)
        try:
            connection.request(method, path, body, dict(headers or {}))
            return read_answer(connection)
        finally:
            connection.close()

    @contextmanager
    def busy_with(self, size: int) -> Iterator[None]:
        """Let so many bytes of a request, and not its end, be in its memory during the block."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            connection.putrequest("POST", "/v1/traces")
            for name, value in (PROTOBUF | {"Content-Length": str(size + 1)}).items():
                connection.putheader(name, value)
            connection.endheaders(bytes(size))
            yield

    def numbers(self) -> dict[str, float]:
        """Return what /metrics tells, by name with labels, without the common prefix."""
        lines = self.request("GET", "/metrics").body.decode().splitlines()
        pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
        return {name.removeprefix(PREFIX): float(value) for name, _, value in pairs}

    def stop(self) -> int:
        """Ask it to end, and return its exit code."""
        self.process.terminate()
        return self.process.wait(PATIENCE_SECS)

    def kill(self) -> None:
        """End all its processes without notice."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE_SECS)

    def lander_pid(self) -> int:
        """Return the process id of its lander, which runs by then; Linux only."""
        wait_until(self.lander_pids)
        return self.lander_pids()[0]

    def lander_pids(self) -> list[int]:
        """Return the process ids of running landers: one or none; Linux only."""
        return [pid for pid in child_pids(self.process.pid) if _is_lander(pid)]

    def halt_lander(self) -> int:
        """Stop its lander, which runs by then; return its process id; Linux only."""
        pid = self.lander_pid()
        halt(pid)
        return pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    @property
    def is_listening(self) -> bool:
        """Whether it takes new connections, which it does until it is asked to end."""
        try:
            socket.create_connection(("127.0.0.1", self.port), PATIENCE_SECS).close()
        except ConnectionError:
            return False
        return True


def is_gone(pid: int) -> bool:
    """Return whether a process has ended, waited for by its parent or not; Linux only."""
    return _thread_states(pid) <= {"X", "Z"}


def halt(pid: int) -> None:
    """Stop a process, which does nothing more when this returns; SIGCONT lets it go on."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: _thread_states(pid) <= {"T", "X", "Z"})


def _thread_states(pid: int) -> set[str]:
    """Return the letters that Linux has for what the threads of a process do."""
    states: set[str] = set()
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            states.add(_stat_fields(stat)[0])
    return states


def processor_secs(pid: int) -> float:
    """Return how long a process has computed, which a busy machine does not change; Linux only."""
    fields = _stat_fields(Path(f"/proc/{pid}/stat"))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _stat_fields(stat: Path) -> list[str]:
    """Return the fields of a process or thread from its state on."""
    return stat.read_text().rpartition(") ")[2].split()


def child_pids(pid: int) -> list[int]:
    """Return the process ids of a process's children; none once it has ended."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    with suppress(OSError):
        return [int(child) for child in children.read_text().split()]
    return []


def _is_lander(pid: int) -> bool:
    """Return whether a child has become the lander; before that it is a copy of the receiver."""
    with suppress(OSError):  # it has ended meanwhile
        return b".land.lander_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


@contextmanager
def collecting(lake: Path, *flags: str, **options: str | float) -> Iterator[Collector]:
    """Run a collector during the block; nothing of it is left afterwards."""
    collector = Collector(lake, *flags, **options)
    try:
        yield collector
    finally:
        if collector.is_running:
            collector.kill()


def read_answer(connection: http.client.HTTPConnection) -> Answer:
    """Return the answer that a connection waits for."""
    response = connection.getresponse()
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, headers, response.read())


@contextmanager
def in_background(*works: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Do some things again and again during the block, side by side.

    Yields:
        What lets that end some seconds later. On a loaded machine, work without an end might never
        let the test's own come to its end.
    """
    stop, ends_at = threading.Event(), math.inf

    def run(work: Callable[[], None]) -> None:
        while not stop.is_set() and time.monotonic() < ends_at:
            work()

    def end_soon() -> None:
        nonlocal ends_at
        ends_at = time.monotonic() + BESIDE_SECS

    threads = [threading.Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield end_soon
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def trace_request(*span_ids: int, trace_id: int = 1) -> ExportTraceServiceRequest:
    """Return a request with one span for each id."""
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for span_id in span_ids:
        spans.add(
            trace_id=trace_id.to_bytes(16),
            span_id=span_id.to_bytes(8),
            name=f"span {span_id}",
            start_time_unix_nano=span_id,
            end_time_unix_nano=span_id + 1,
        )
    return request


def trace_body(*span_ids: int, trace_id: int = 1) -> bytes:
    """Return a protobuf request with one span for each id."""
    return trace_request(*span_ids, trace_id=trace_id).SerializeToString()


def log_body(*texts: str) -> bytes:
    """Return a protobuf request with one log record for each text."""
    request = ExportLogsServiceRequest()
    records = request.resource_logs.add().scope_logs.add().log_records
    for text in texts:
        records.add(time_unix_nano=1).body.string_value = text
    return request.SerializeToString()


def landed_files(lake: Path, table: str = "raw_spans") -> list[str]:
    """Return the Parquet files that belong to a raw table."""
    if not DeltaTable.is_deltatable(str(lake / table)):
        return []
    uris = DeltaTable(str(lake / table)).file_uris()
    return [uri.removeprefix("file://") for uri in uris]


def landed(lake: Path, table: str = "raw_spans") -> pa.Table:
    """Return all rows of a raw table, in no order."""
    none = RAW_TABLES[table].arrow().empty_table().drop_columns(["date"])
    files = landed_files(lake, table)
    return pa.concat_tables(
        [none, *(_read(each, Path(each).stat().st_mtime_ns) for each in files)]
    )


@lru_cache(maxsize=2000)
def _read(file: str, _changed_ns: int) -> pa.Table:
    """Return a file's rows; it is read once, however often a test looks whether more have come."""
    return pq.read_table(file, partitioning=None)


def landed_ids(lake: Path, *, with_resent: bool = True) -> list[int]:
    """Return the span ids of `raw_spans` as numbers, sorted; those of `spans` if so wished."""
    rows = landed(lake)
    found = zip(rows["span_id"].to_pylist(), rows["resent"].to_pylist(), strict=True)
    return sorted(int(span_id, 16) for span_id, resent in found if with_resent or not resent)
