"""The process that takes requests in: servers, log, and the lander that it keeps running.

Order of a start: claim the folder, cut a torn tail, open a new segment, listen, and only then start
the lander: a backlog never delays the first answer. Order of a stop: stop accepting, finish what is
under way, sync and seal, let the lander land everything.
"""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import uvicorn
import uvloop

from tracegrade_collector import wal
from tracegrade_collector.config import OFF, Address, CollectorConfig
from tracegrade_collector.errors import CollectorError
from tracegrade_collector.http import http_app
from tracegrade_collector.intake import Intake
from tracegrade_collector.lander_process import LanderProcess
from tracegrade_collector.quarantine import Quarantine
from tracegrade_collector.wal_folder import WalFolder
from tracegrade_collector.wal_writer import WalWriter

KEEP_ALIVE_SECS = (
    75  # longer than an exporter's pause between batches (5 s), so connections are reused
)
BACKLOG = 1024
WATCH_SECS = 0.5  # how often the size of the log is looked up

log = logging.getLogger(__name__)


def receive(lake_root: Path, config: CollectorConfig) -> None:
    """Collect until SIGTERM or SIGINT, then land everything that was accepted.

    Raises:
        CollectorError: An address is taken, or not everything could be landed.
    """
    lake_root = lake_root.absolute()
    lake_root.mkdir(mode=0o700, parents=True, exist_ok=True)
    wal.sync_folder(lake_root.parent)
    folder = WalFolder.claim(lake_root)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_receive(folder, lake_root, config))
    finally:
        folder.close()


async def _receive(folder: WalFolder, lake_root: Path, config: CollectorConfig) -> None:
    stop = _stop_signal()
    log_writer = WalWriter(
        folder,
        folder.recover(),
        max_bytes=config.segment_max_bytes,
        max_age_secs=config.segment_max_age_secs,
    )
    intake = Intake(
        log_writer,
        Quarantine(lake_root, folder.collector_id, config.quarantine_max_bytes),
        max_in_flight_bytes=config.max_in_flight_bytes,
        wal_max_bytes=config.wal_max_bytes,
    )
    lander = LanderProcess(lake_root, folder.collector_id, config)
    async with _servers(intake, log_writer, config):
        watch = asyncio.create_task(_watch(folder, intake, lander))
        await stop.wait()
        watch.cancel()
    await log_writer.close()
    intake.close()
    await lander.drain()


def _stop_signal() -> asyncio.Event:
    """Return an event that SIGTERM or SIGINT sets."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop


async def _watch(folder: WalFolder, intake: Intake, lander: LanderProcess) -> None:
    """Keep the lander alive, and the intake informed of the log's size."""
    while True:
        await lander.keep_alive()
        intake.wal_bytes = await asyncio.to_thread(folder.pending_bytes)
        await asyncio.sleep(WATCH_SECS)


@contextlib.asynccontextmanager
async def _servers(
    intake: Intake, log_writer: WalWriter, config: CollectorConfig
) -> AsyncIterator[None]:
    """Run both servers; print where they listen once they do. At the end no request is under way."""
    addresses = config.addresses()
    async with contextlib.AsyncExitStack() as stack:
        http = grpc = OFF
        if addresses["http"]:
            app = http_app(intake, config.max_request_bytes, lambda: not log_writer.is_failing)
            http = await stack.enter_async_context(_http(app, addresses["http"], config))
        if addresses["grpc"]:
            grpc = await stack.enter_async_context(_grpc(intake, addresses["grpc"], config))
        print(f"http: {http}\ngrpc: {grpc}", flush=True)  # noqa: T201 - what the user asked for
        yield


class _HttpServer(uvicorn.Server):
    """uvicorn without its signal handlers: stopping is decided above."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


@contextlib.asynccontextmanager
async def _http(app, address: Address, config: CollectorConfig) -> AsyncIterator[str]:
    """Serve OTLP/HTTP; yield its URL."""
    options = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECS,
        timeout_graceful_shutdown=int(config.drain_secs),
    )
    server = _HttpServer(options)
    with _listening_socket(address) as listener:
        serving = asyncio.create_task(server.serve([listener]))
        while not server.started:
            await asyncio.sleep(0)
        yield f"http://{Address(address.host, listener.getsockname()[1])}"
        server.should_exit = True
        await serving


def _listening_socket(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        msg = f"cannot listen for HTTP on {address}: {error}"
        raise CollectorError(msg) from error
    return listener


@contextlib.asynccontextmanager
async def _grpc(intake: Intake, address: Address, config: CollectorConfig) -> AsyncIterator[str]:
    """Serve OTLP/gRPC; yield its address."""
    from tracegrade_collector.grpc_server import GrpcServer  # noqa: PLC0415 - 0.1 s, if it is wanted

    server = GrpcServer(intake, address, config.max_request_bytes)
    await server.start()
    yield str(server.address)
    await server.stop(config.drain_secs)
