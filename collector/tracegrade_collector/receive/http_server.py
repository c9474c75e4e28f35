"""Runs an ASGI application on one address with uvicorn, until it is stopped."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.edge.address import Address
from tracegrade_collector.edge.counters import Counters
from tracegrade_collector.edge.tls import Tls
from tracegrade_collector.edge.tls_layer import TlsLayer
from tracegrade_collector.errors import CollectorError
from tracegrade_collector.receive.connections import Connections
from tracegrade_collector.receive.http_connection import KEEP_ALIVE_SECS, BoundedProtocol

BACKLOG = 1024

logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # else a line per malformed request


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: the receiver decides when to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the receiver."""
        yield


@contextlib.asynccontextmanager
async def serve_http(
    app: ASGIApp,
    address: Address,
    config: CollectorConfig,
    counters: Counters,
    tls: Tls | None = None,
) -> AsyncIterator[str]:
    """Serve until the end of the block, which waits for requests under way; yield the URL.

    Raises:
        CollectorError: The address is taken.
    """
    connections = Connections(config, counters)
    options = uvicorn.Config(
        app,
        http=cast(type[asyncio.Protocol], partial(_connection, connections, tls)),
        ws="none",
        lifespan="off",
        proxy_headers=False,  # no peer may speak for another
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECS,
        timeout_graceful_shutdown=int(config.drain_secs),
    )
    server = _Server(options)
    with _bound_socket(address) as listener:
        serving = asyncio.create_task(server.serve([listener]))
        while not server.started and not serving.done():
            await asyncio.sleep(0)
        sweeping = asyncio.create_task(connections.expire_late())
        port = cast(int, listener.getsockname()[1])
        yield f"{'https' if tls else 'http'}://{Address(address.host, port)}"
        server.should_exit = True
        await serving
        sweeping.cancel()


def _connection(connections: Connections, tls: Tls | None, **given: Any) -> asyncio.Protocol:
    """Return what handles one connection."""
    protocol = BoundedProtocol(connections, **given)
    return TlsLayer(tls, protocol, connections.max_head_secs) if tls else protocol


def _bound_socket(address: Address) -> socket.socket:
    bound = socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a restart need not wait
    try:
        bound.bind(address)
    except OSError as error:
        bound.close()
        msg = (
            f"cannot listen for HTTP on {address}: {error.strerror}; choose another with "
            f"--http HOST:PORT, or --http off"
        )
        raise CollectorError(msg) from error
    return bound
