"""Serves an ASGI app on a loopback port, in a thread with its event loop."""

import asyncio
import socket
import threading
from collections.abc import Callable
from typing import Final, TypeVar

import uvicorn
from starlette.types import ASGIApp

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.part import ServiceAddress

HOST: Final = "127.0.0.1"
ANSWER_SECS: Final = 10.0
"""Seconds that an app may block its event loop."""

Result = TypeVar("Result")


class HttpServer:
    """A server that runs until it is closed."""

    def __init__(self, app: ASGIApp) -> None:
        self._socket = socket.create_server(
            (HOST, 0)
        )  # the server soon accepts clients that connect now
        config = uvicorn.Config(
            app,
            loop="asyncio",
            ws="none",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="http-service", daemon=True)
        self.address = ServiceAddress(HOST, self._socket.getsockname()[1])
        self._thread.start()

    def call(self, read: Callable[[], Result]) -> Result:
        """Return the result of a function that is called between two steps of the app.

        Raises:
            EnvironmentFailed: The app does not finish its step.
        """

        async def answered() -> Result:
            return read()

        future = asyncio.run_coroutine_threadsafe(answered(), self._loop)
        try:
            return future.result(ANSWER_SECS)
        except TimeoutError as error:
            msg = f"an HTTP service has not answered for {ANSWER_SECS:g} s; see its app"
            raise EnvironmentFailed(msg) from error

    def close(self) -> None:
        """Tell it to end with its connections; this does not wait for the end."""
        self._server.should_exit = True

    def _serve(self) -> None:
        with self._socket, asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._server.serve(sockets=[self._socket]))
