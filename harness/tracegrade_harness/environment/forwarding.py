"""Ports of a network without a way out, whose connections are carried to services outside.

A process in that network opens the listeners and hands them out; they belong to that network
wherever they are accepted. So nothing has to run inside.
"""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, TypeAlias

from tracegrade_harness.environment.part import ServiceAddress

MOST_CONNECTIONS: Final = 256
"""At a time, of one sandbox; one more is refused, lest an agent use up what the harness has."""
CHUNK_BYTES: Final = 65_536


Carry: TypeAlias = Callable[
    [asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]
]


class Forwarding:
    """Carries connections until it is closed."""

    def __init__(
        self, listeners: Sequence[socket.socket], services: Sequence[ServiceAddress]
    ) -> None:
        """Accept from now on: of each listener for the service at the same place."""
        self._loop = asyncio.new_event_loop()
        self._carried: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="forwarding")
        self._thread.daemon = True
        self._thread.start()
        started = self._start([*zip(listeners, services, strict=True)])
        asyncio.run_coroutine_threadsafe(started, self._loop).result()

    def close(self) -> None:
        """Accept no more, and end what is carried. Idempotent."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self, pairs: Sequence[tuple[socket.socket, ServiceAddress]]) -> None:
        self._servers = [
            await asyncio.start_server(self._carrying(service), sock=listener)
            for listener, service in pairs
        ]

    async def _stop(self) -> None:
        for server in self._servers:
            server.close()
        for task in self._carried:
            task.cancel()
        await asyncio.gather(*self._carried, return_exceptions=True)

    def _carrying(self, service: ServiceAddress) -> Carry:
        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            if task is None or len(self._carried) >= MOST_CONNECTIONS:
                writer.transport.abort()
                return
            self._carried.add(task)
            try:
                await _carry(reader, writer, service)
            finally:
                self._carried.discard(task)

        return carry


async def _carry(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, service: ServiceAddress
) -> None:
    """Carry one connection to its service, both ways, until both have ended."""
    try:
        there, back = await asyncio.open_connection(*service)
    except OSError:
        writer.transport.abort()  # as if nobody listened
        return
    try:
        await asyncio.gather(_pump(reader, back), _pump(there, writer))
    except (OSError, asyncio.CancelledError):
        back.transport.abort()
        writer.transport.abort()
    finally:
        for each in (writer, back):
            each.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(CHUNK_BYTES):
        writer.write(data)
        await writer.drain()
    with contextlib.suppress(OSError):
        writer.write_eof()
