"""A client of a browser's DevTools protocol: one connection that any number of threads share.

https://chromedevtools.github.io/devtools-protocol/ describes it. Playwright and similar libraries
drive a page; as observers, they would answer its dialogs and set up its downloads.
"""

import itertools
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from typing import Any, Final, TypeAlias

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

ANSWER_SECS: Final = 20.0
"""Seconds that the browser itself may take for an answer."""

EventHandler: TypeAlias = Callable[[dict[str, Any]], None]
"""Receives an event; it must not send a request itself."""


class CdpFailed(Exception):
    """The browser refuses a request; the text says why."""


class BrowserError(CdpFailed):
    """The browser answers with an error."""


class BrowserTimeout(CdpFailed):
    """No answer came in time: a page's scripts do not end, or a dialog is open."""


class BrowserClosed(CdpFailed):
    """The browser has ended, or has closed the connection."""


class Cdp:
    """A connection."""

    def __init__(self, url: str, on_event: EventHandler) -> None:
        """Connect.

        Args:
            url: The address that the browser reports, `ws://…`.
            on_event: Called with each event, in a thread of the connection's.

        Raises:
            OSError: No process listens there.
            WebSocketException: The server is not a browser.
        """
        self._socket = connect(
            url, compression=None, max_size=None, ping_interval=None, proxy=None, close_timeout=1
        )
        self._on_event = on_event
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._listen, name="cdp", daemon=True)
        self._thread.start()

    @property
    def has_ended(self) -> bool:
        """Whether the connection has ended."""
        return not self._thread.is_alive()

    def ends_within(self, secs: float) -> bool:
        """Wait for the end of the connection; return whether it ended in time."""
        self._thread.join(secs)
        return self.has_ended

    def ask(
        self,
        method: str,
        session: str | None = None,
        /,
        wait_secs: float = ANSWER_SECS,
        **given: Any,
    ) -> dict[str, Any]:
        """Return the browser's answer to a request.

        Args:
            method: Domain and name, `Target.getTargets`.
            session: Session with a page; None for the browser.
            wait_secs: Seconds that the answer may take.
            **given: The method's parameters.

        Raises:
            BrowserClosed: It has ended.
            BrowserTimeout: It takes too long.
            BrowserError: It answers with an error.
        """
        answer = self.tell(method, session, **given)
        try:
            return answer.result(wait_secs)
        except FutureTimeout as error:
            msg = f"no answer to {method} in {wait_secs:g} s"
            raise BrowserTimeout(msg) from error

    def tell(
        self, method: str, session: str | None = None, /, **given: Any
    ) -> "Future[dict[str, Any]]":
        """Send a request without waiting for the answer."""
        number, answer = next(self._numbers), Future[dict[str, Any]]()
        message = {"id": number, "method": method, "params": given}
        with self._lock:
            self._waiting[number] = answer
        try:
            self._socket.send(
                json.dumps(message if session is None else {**message, "sessionId": session})
            )
        except (OSError, WebSocketException):
            self._socket.close()
        if self.has_ended:
            self._end()
        return answer

    def close(self) -> None:
        """End the connection. Idempotent."""
        with suppress(OSError, WebSocketException):
            self._socket.close()
        self._thread.join()

    def _listen(self) -> None:
        try:
            for text in self._socket:
                self._take(json.loads(text))
        except (OSError, WebSocketException):
            pass
        finally:
            self._end()

    def _take(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            self._on_event(message)
            return
        with self._lock:
            answer = self._waiting.pop(message["id"], None)
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(BrowserError(str(message["error"].get("message"))))
        else:
            answer.set_result(message["result"])

    def _end(self) -> None:
        with self._lock:
            left, self._waiting = [*self._waiting.values()], {}
        for answer in left:
            answer.set_exception(BrowserClosed("the browser has ended"))
