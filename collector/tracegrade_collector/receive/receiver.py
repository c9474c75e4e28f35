"""The process that takes requests in: servers, log, and the lander that it keeps running.

Order of a start: claim the folder, cut a torn tail, open a new segment, listen, and only then
start the lander. So a backlog never delays the first answer. Order of a stop: stop accepting,
finish open requests, sync and seal, let the lander land everything.
"""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import uvloop

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.edge.address import OFF
from tracegrade_collector.edge.counters import Counters
from tracegrade_collector.edge.tls import Tls, TlsFiles
from tracegrade_collector.errors import CollectorError
from tracegrade_collector.log_lines import log_to_stderr
from tracegrade_collector.receive.connections import raise_file_limit
from tracegrade_collector.receive.http import http_app
from tracegrade_collector.receive.http_server import serve_http
from tracegrade_collector.receive.lander_process import LanderProcess
from tracegrade_collector.receive.maintenance_process import Maintenance
from tracegrade_collector.receive.tenant_pipeline import LakeLocation
from tracegrade_collector.receive.tenant_router import TenantPipelines, TenantRouter
from tracegrade_lake.errors import LakeUnreachable, StoreUnfit
from tracegrade_lake.files import PRIVATE_UMASK
from tracegrade_lake.lake_root import lake_url, made_root, state_folder, writing_to

WATCH_SECS = 0.5  # how often the lander, the tokens and the size of the logs are looked at
GIVE_UP_SECS = 5.0  # after a second signal, until the process exits in any case
SAME_WISH_SECS = 1.0  # Ctrl-C reaches a whole group of processes, and a supervisor adds its own

logger = logging.getLogger(__name__)


def receive(lake: str, config: CollectorConfig) -> None:
    """Collect until SIGTERM or SIGINT, then land everything that was accepted.

    Raises:
        BadLakePath: The lake cannot have this path or URL.
        BadCredentials: The tokens or the certificate cannot be used.
        StoreUnfit: An object store could not keep the commits of several writers apart.
        CollectorError: An address is taken, or not everything could be landed.
    """
    log_to_stderr("collector", config.log_format)
    os.umask(PRIVATE_UMASK)  # also for the lander, and for files that libraries make
    raise_file_limit()
    location = _made_location(lake, config.state)
    with writing_to(location.state), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_receive(location, config))


def _made_location(lake: str, state: str) -> LakeLocation:
    """Return where a lake is; its folder on this machine is there by then."""
    url = lake_url(lake)
    folder = made_root(lake if url is None else state_folder(lake, state))
    return LakeLocation(url or str(folder), folder)


async def _receive(location: LakeLocation, config: CollectorConfig) -> None:
    lander = LanderProcess(config)
    maintenance = Maintenance(location, config)
    stop = _stop_signal(lander)
    with contextlib.closing(TenantPipelines(location, config, lander)) as pipelines:
        router = TenantRouter(pipelines, config)
        tls = open_tls(config, pipelines.counters)
        async with (
            _servers(router, tls, config),
            _in_background(_watch(router, lander, maintenance)),
            _in_background(_refresh(router, tls)),
        ):
            left_over = asyncio.create_task(pipelines.land_left_over(stop))
            store = asyncio.create_task(_check_store(location, stop))
            await stop.wait()
        await maintenance.stop()
        await pipelines.seal()
        await store
        await left_over
        await lander.drain()


def _stop_signal(lander: LanderProcess) -> asyncio.Event:
    """Return an event that a first SIGTERM or SIGINT sets; a second one stops landing."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    first: list[float] = []

    def on_signal() -> None:
        stop.set()
        first.append(loop.time())
        if first[-1] - first[0] > SAME_WISH_SECS:
            lander.give_up()
            # An operation that hangs in a disk or a store cannot be ended; accepted data is
            # durable.
            loop.call_later(GIVE_UP_SECS, os._exit, CollectorError.exit_code)

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


async def _check_store(location: LakeLocation, stop: asyncio.Event) -> None:
    """Look whether an object store keeps writers apart; set the event if it does not.

    Raises:
        StoreUnfit: It does not.
    """
    if lake_url(location.lake) is None:
        return
    from tracegrade_lake import Lake  # noqa: PLC0415 - 0.3 s, and only here needed

    try:
        await asyncio.to_thread(Lake.create(location.lake, location.state).check_store)
    except LakeUnreachable as error:
        logger.warning("%s; the log keeps what arrives", error)
    except StoreUnfit:
        stop.set()
        raise


async def _refresh(router: TenantRouter, tls: Tls | None) -> None:
    """Keep tokens and certificate up to date, however the disk and the lander are."""
    while True:
        try:
            router.refresh()
            if tls:
                tls.refresh()
        except Exception:  # else no token could be taken away any more
            logger.exception("cannot reload tokens and certificate")
        await asyncio.sleep(WATCH_SECS)


async def _watch(router: TenantRouter, lander: LanderProcess, maintenance: Maintenance) -> None:
    """Keep the lander alive, maintenance on time, and the size of the logs up to date."""
    while True:
        try:
            await lander.keep_alive()
            await router.measure()
            await maintenance.run_if_due()
        except OSError as error:  # too few processes or files; tried again at the next look
            logger.error("cannot supervise landing: %s", error)
        await asyncio.sleep(WATCH_SECS)


@contextlib.asynccontextmanager
async def _servers(
    router: TenantRouter, tls: Tls | None, config: CollectorConfig
) -> AsyncIterator[None]:
    """Run the servers and print where they listen; at the end no request is under way."""
    addresses = config.addresses()
    http = grpc = OFF
    async with contextlib.AsyncExitStack() as stack:
        if addresses["http"]:
            app = http_app(router, config)
            serving = serve_http(app, addresses["http"], config, router.counters, tls)
            http = await stack.enter_async_context(serving)
        if addresses["grpc"]:
            # Our children are new programs, which need no care of gRPC's threads.
            os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
            os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it raises what it would print
            from tracegrade_collector.receive.grpc_server import serve_grpc  # noqa: PLC0415 - 0.1 s

            serving = serve_grpc(router, addresses["grpc"], config, tls)
            grpc = await stack.enter_async_context(serving)
        print(f"http: {http}\ngrpc: {grpc}", flush=True)  # noqa: T201 - what the user asked for
        yield


def open_tls(config: CollectorConfig, counters: Counters) -> Tls | None:
    """Return the TLS of these options, None if there is none.

    Raises:
        BadCredentials: Its files cannot be used.
    """
    if not config.tls_cert_file:
        return None
    client_ca = Path(config.tls_client_ca_file) if config.tls_client_ca_file else None
    files = TlsFiles(Path(config.tls_cert_file), Path(config.tls_key_file), client_ca)
    return Tls(files, counters)
