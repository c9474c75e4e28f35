"""Runs an ASGI application on one address with uvicorn, until told to stop."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from tracegrade_collector.config import Address
from tracegrade_collector.errors import CollectorError

KEEP_ALIVE_SECS = 75  # longer than an exporter's pause between batches (5 s)
BACKLOG = 1024


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: the receiver decides when to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


@contextlib.asynccontextmanager
async def serve_http(app: ASGIApp, address: Address, drain_secs: float) -> AsyncIterator[str]:
    """Serve until the end of the block, which waits for requests under way; yield the URL.

    Raises:
        CollectorError: The address is taken.
    """
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
        timeout_graceful_shutdown=int(drain_secs),
    )
    server = _Server(options)
    with _bound_socket(address) as listener:
        serving = asyncio.create_task(server.serve([listener]))
        while not server.started and not serving.done():
            await asyncio.sleep(0)
        yield f"http://{Address(address.host, cast(int, listener.getsockname()[1]))}"
        server.should_exit = True
        await serving


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
