"""The connection to the harness: one JSON object a message, protocol 1.

A notice needs no answer; a request waits until the harness lets the agent continue. A process that
loses its gate ends at once. Otherwise the run would continue unobserved, and the kill would never
happen. A forked child gets a connection of its own.
"""

import json
import os
import platform
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, NoReturn

PROTOCOL: Final = 1
MAX_MESSAGE_BYTES: Final = 131_072
"""Longer messages are not sent; a socket's buffer takes 200 KiB by default."""
GATE_LOST: Final = 75
"""Exit code, `EX_TEMPFAIL` of sysexits.h."""
_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)


class Flush(NamedTuple):
    """Result of a flush of the spans that had ended."""

    complete: bool
    """Whether all processors were done in time."""
    lost: int
    """Spans that could not be sent, since the process began."""


class Channel:
    """A connection that one thread at a time uses: take `lock` around what belongs together.

    The lock is re-entrant, since a signal handler or a finalizer may end a span while its thread
    waits for the harness.
    """

    def __init__(self, address: str, flush: Callable[[], Flush]) -> None:
        self.lock = threading.RLock()
        self._address = address
        self._flush = flush
        self._requested = self._granted = 0
        self._socket = self._connect()
        self._say_hello()
        os.register_at_fork(after_in_child=self._start_again)

    def tell(self, message: Mapping[str, object]) -> None:
        """Send a message, in the order of calls."""
        text = _JSON.encode(message)
        with self.lock:
            try:
                self._socket.send(text.encode(errors="replace"), socket.MSG_NOSIGNAL)
            except OSError as error:
                give_up(f"gate '{self._address}' is lost: {error}; the harness has ended")

    def ask(self, message: Mapping[str, object]) -> None:
        """Send a message, and return once the harness lets the agent continue."""
        with self.lock:
            self._requested += 1
            number = self._requested
            self.tell({**message, "ask": number})
            # By number: an exception out of a signal handler may leave an answer unread.
            while self._granted < number:
                self._take_answer()

    def _take_answer(self) -> None:
        try:
            answer = json.loads(self._socket.recv(4096) or b"{}")
        except OSError:
            answer = {}
        match answer:
            case {"type": "go", "ask": int(number)}:
                self._granted = max(self._granted, number)
            case {"type": "flush", "ask": int(number)}:
                self.tell({"type": "flushed", "ask": number, **self._flush()._asdict()})
            case _:
                give_up(f"gate '{self._address}' is lost; the harness has ended")

    def _connect(self) -> socket.socket:
        name = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        try:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            connection.settimeout(None)  # a host may have set a default for all sockets
            connection.connect(name)
        except OSError as error:
            way_out = "start the harness, or unset TRACEGRADE_GATE"
            give_up(f"gate '{self._address}' cannot be reached: {error}; {way_out}")
        return connection

    def _say_hello(self) -> None:
        python = platform.python_version()
        self.tell({"type": "hello", "protocol": PROTOCOL, "pid": os.getpid(), "python": python})

    def _start_again(self) -> None:
        self.lock = threading.RLock()  # another thread may have held it
        self._requested = self._granted = 0
        self._socket.close()
        self._socket = self._connect()
        self._say_hello()


def give_up(why: str) -> NoReturn:
    """End this process, with one line on stderr and nothing else written or run."""
    try:
        os.write(2, f"tracegrade: {why}\n".encode(errors="replace"))
    finally:
        os._exit(GATE_LOST)
