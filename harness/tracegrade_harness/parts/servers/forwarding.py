"""Ports of a closed network whose connections are carried to services outside.

A process in that network opens the listeners and hands them out. A listener stays in its network,
even if another process accepts. So no process has to run inside.
"""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Sequence
from typing import Final

from tracegrade_harness.parts.part import ServiceAddress

MOST_CONNECTIONS: Final = 256
"""Most connections of one sandbox at a time; further ones are refused, so that no agent uses up
the harness's own."""
CHUNK_BYTES: Final = 65_536
RETRY_SECS: Final = 1.0
"""Seconds until the next attempt, after a connection could not be accepted."""


class Forwarding:
    """Carries connections until it is closed."""

    def __init__(
        self, listeners: Sequence[socket.socket], services: Sequence[ServiceAddress]
    ) -> None:
        """Accept from now on: each listener belongs to the service at the same index."""
        self._listeners = listeners
        self._carried: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        for listener, service in zip(listeners, services, strict=True):
            listener.setblocking(False)
            self._listen(listener, service)
        self._thread = threading.Thread(target=self._loop.run_forever, name="forwarding")
        self._thread.daemon = True
        self._thread.start()

    def close(self) -> None:
        """Accept no more, and end all carried connections. Idempotent."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        for listener in self._listeners:
            self._loop.remove_reader(listener)
            listener.close()
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in self._carried:
                task.cancel()
            await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)

    def _listen(self, listener: socket.socket, service: ServiceAddress) -> None:
        if listener.fileno() >= 0:  # it may have been closed before another attempt
            self._loop.add_reader(listener, self._accept, listener, service)

    def _accept(self, listener: socket.socket, service: ServiceAddress) -> None:
        """Carry the next connection, which always has an owner, so that none is left open."""
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return
        except OSError:  # for example too many open files; the event would repeat at once
            self._loop.remove_reader(listener)
            self._loop.call_later(RETRY_SECS, self._listen, listener, service)
            return
        if len(self._carried) >= MOST_CONNECTIONS:
            connection.close()
            return
        task = self._loop.create_task(_carry(connection, service))
        self._carried.add(task)
        task.add_done_callback(self._carried.discard)
        task.add_done_callback(lambda _: connection.close())  # also if it never began


async def _carry(connection: socket.socket, service: ServiceAddress) -> None:
    """Carry a connection to its service, both ways, until both sides have ended."""
    with contextlib.suppress(
        OSError
    ):  # if no process listens, the connection closes as if none did here
        reader, writer = await asyncio.open_connection(sock=connection)
        try:
            there, back = await asyncio.open_connection(*service)
            try:
                await asyncio.gather(_pump(reader, back), _pump(there, writer))
                await _ended(back)
                await _ended(writer)
            finally:
                back.transport.abort()
        finally:
            writer.transport.abort()


async def _ended(writer: asyncio.StreamWriter) -> None:
    """Close a connection after its last bytes are sent."""
    writer.close()
    await writer.wait_closed()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(CHUNK_BYTES):
        writer.write(data)
        await writer.drain()
    with contextlib.suppress(OSError):
        writer.write_eof()
