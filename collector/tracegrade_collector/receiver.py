"""The process that takes requests in: servers, log, and the lander that it keeps running.

Order of a start: claim the folder, cut a torn tail, open a new segment, listen, and only then
start the lander: a backlog never delays the first answer. Order of a stop: stop accepting, finish
what is under way, sync and seal, let the lander land everything.
"""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import uvloop

from tracegrade_collector.config import OFF, CollectorConfig
from tracegrade_collector.http import http_app
from tracegrade_collector.http_server import serve_http
from tracegrade_collector.intake import Intake
from tracegrade_collector.lake_root import made_root, writing_to
from tracegrade_collector.lander_process import LanderProcess
from tracegrade_collector.quarantine import Quarantine
from tracegrade_collector.wal_folder import WalFolder
from tracegrade_collector.wal_writer import WalWriter

WATCH_SECS = 0.5  # how often the lander and the size of the log are looked at

log = logging.getLogger(__name__)


def receive(lake_root: Path, config: CollectorConfig) -> None:
    """Collect until SIGTERM or SIGINT, then land everything that was accepted.

    Raises:
        BadLakePath: The lake cannot have this path.
        CollectorError: An address is taken, or not everything could be landed.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s collector: %(message)s")
    lake_root = made_root(lake_root)
    with (
        writing_to(lake_root),
        contextlib.closing(WalFolder.claim(lake_root)) as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(_receive(folder, lake_root, config))


async def _receive(folder: WalFolder, lake_root: Path, config: CollectorConfig) -> None:
    writer = WalWriter(
        folder,
        folder.recover(),
        max_bytes=config.max_segment_bytes,
        max_age_secs=config.max_segment_age_secs,
    )
    quarantine = Quarantine(lake_root, folder.collector_id, config.max_quarantine_bytes)
    intake = Intake(
        writer,
        quarantine,
        max_in_flight_bytes=config.max_in_flight_bytes,
        max_wal_bytes=config.max_wal_bytes,
    )
    lander = LanderProcess(config)
    lander.land(lake_root, lake_root, folder.collector_id)
    stop = _stop_signal(lander)
    async with _servers(intake, config), _in_background(_watch(folder, intake, lander)):
        orphans = asyncio.create_task(_land_orphans(lake_root, config))
        await stop.wait()
    await writer.close()
    intake.close()
    await lander.drain()
    await orphans


def _stop_signal(lander: LanderProcess) -> asyncio.Event:
    """Return an event that a first SIGTERM or SIGINT sets; a second one gives up on landing."""
    stop = asyncio.Event()

    def on_signal() -> None:
        if stop.is_set():
            lander.kill()
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    return stop


@contextlib.asynccontextmanager
async def _in_background(work: "asyncio._CoroutineLike[None]") -> AsyncIterator[None]:
    """Run something during the block, and no longer."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _watch(folder: WalFolder, intake: Intake, lander: LanderProcess) -> None:
    """Keep the lander alive, and the intake informed of the log's size."""
    while True:
        try:
            await lander.keep_alive()
            intake.wal_bytes = await asyncio.to_thread(folder.pending_bytes)
        except OSError as error:  # no process to be had, or no file; the next look may do better
            log.error("cannot look after landing: %s", error)
        await asyncio.sleep(WATCH_SECS)


async def _land_orphans(lake_root: Path, config: CollectorConfig) -> None:
    """Land what other collectors of this lake left in their folders when they died."""
    for folder in WalFolder.claim_orphans(lake_root):
        with contextlib.closing(folder):
            lander = LanderProcess(config)
            lander.land(lake_root, lake_root, folder.collector_id)
            await lander.drain()


@contextlib.asynccontextmanager
async def _servers(intake: Intake, config: CollectorConfig) -> AsyncIterator[None]:
    """Run the servers and print where they listen; at the end no request is under way."""
    addresses = config.addresses()
    http = grpc = OFF
    async with contextlib.AsyncExitStack() as stack:
        if addresses["http"]:
            app = http_app(intake, config.max_request_bytes)
            serving = serve_http(app, addresses["http"], config.drain_secs)
            http = await stack.enter_async_context(serving)
        if addresses["grpc"]:
            # Our children are new programs, which need no care of gRPC's threads.
            os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
            os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it raises what it would print
            from tracegrade_collector.grpc_server import serve_grpc  # noqa: PLC0415 - 0.1 s

            serving = serve_grpc(intake, addresses["grpc"], config)
            grpc = await stack.enter_async_context(serving)
        print(f"http: {http}\ngrpc: {grpc}", flush=True)  # noqa: T201 - what the user asked for
        yield
