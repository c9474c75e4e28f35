"""The harness's side of the gate: a socket at which agents wait for permission to continue.

    with Gate(folder) as gate, sandbox.start(program) as running:  # with `gate.variables`
        for event in gate.events(deadline, running):
            match event.message:
                case ToolReturned(n=3):
                    gate.flush(event, 5)
                    running.kill()
                case ToolReturned() | AnswerPending():
                    gate.go(event)

One thread does all the work. The gate disconnects a peer that breaks the protocol, which ends the
peer if it is one of the harness's agents. No more than one message of a peer is kept. Linux only:
other systems have no Unix sockets that keep messages apart.
"""

import contextlib
import json
import selectors
import socket
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple, Protocol, Self

from tracegrade_harness.control.deadline import Deadline
from tracegrade_harness.control.gate_messages import (
    PROTOCOL,
    AnswerPending,
    Flushed,
    GateMessage,
    Hello,
    ProcessLeft,
    ToolReturned,
    read_message,
)
from tracegrade_harness.errors import SandboxFailed

MAX_MESSAGE_BYTES: Final = 131_072
MAX_PEERS: Final = 64
"""Most processes at a gate at one time."""
MAX_BEFORE_FLUSHED: Final = 100
"""Most messages read from a process before it confirms a flush; only a signal handler sends any.
"""
VARIABLE: Final = "TRACEGRADE_GATE"


class HasFileno(Protocol):
    """An object that becomes readable when the agent has ended."""

    def fileno(self) -> int:
        """Return the file descriptor."""


class Event(NamedTuple):
    """One message or exit of a process at the gate."""

    peer: int
    """Number of the process, in order of arrival from 1."""
    message: GateMessage | ProcessLeft


class Gate:
    """A listening socket and the processes that are connected to it."""

    def __init__(self, folder: Path) -> None:
        """Listen in `folder`, at a path of its own.

        Raises:
            SandboxFailed: It is not possible to listen there.
        """
        self.address = str(folder / "gate")
        self._listener = _listen(self.address)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._peers: dict[int, socket.socket] = {}
        self._greeted: set[int] = set()
        self._later: deque[Event] = deque()
        self._arrived = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables with which an agent finds the gate."""
        return {VARIABLE: self.address}

    def events(self, deadline: Deadline, until: HasFileno | None = None) -> Iterator[Event]:
        """Yield events until no time is left.

        The process behind each `ToolReturned` and `AnswerPending` waits for a `go` or a `kill`.

        Args:
            deadline: When to stop waiting; the caller may extend it.
            until: The agent. After it has ended and all its messages are read, the wait is over.
        """
        agent = None if until is None else until.fileno()
        if agent is not None:
            self._selector.register(agent, selectors.EVENT_READ)
        try:
            while deadline.left_secs():
                if self._later:
                    deadline.seen()
                    yield self._later.popleft()
                elif not self._wait(deadline):
                    return
        finally:
            if agent is not None:
                self._selector.unregister(agent)

    def go(self, event: Event) -> None:
        """Let a waiting process continue; if it has left, an event reports that."""
        self._answer(event, "go")

    def flush(self, event: Event, timeout_secs: float) -> Flushed | None:
        """Make a waiting process send the spans that have ended.

        The process keeps waiting afterwards, for `go` or to be killed.

        Returns:
            The process's report; None if it sent none in time, or has left.
        """
        deadline = Deadline(timeout_secs)
        answered = self._answer(event, "flush")
        for _ in range(MAX_BEFORE_FLUSHED):
            if event.peer not in self._peers or not self._is_readable(event.peer, deadline):
                return None
            message = self._receive(event.peer)
            if isinstance(message, Flushed) and message.ask == answered:
                return message
            if message is not None and not isinstance(message, Flushed):
                self._later.append(Event(event.peer, message))
        if event.peer in self._peers:
            left = self._dismiss(event.peer, "talks instead of flushing")
            self._later.append(Event(event.peer, left))
        return None

    def close(self) -> None:
        """Close the gate; agents that still run end at their next boundary. Idempotent."""
        for peer in list(self._peers):
            self._close_peer(peer)
        self._selector.close()
        self._listener.close()
        Path(self.address).unlink(missing_ok=True)

    def _wait(self, deadline: Deadline) -> bool:
        """Queue all readable messages; return False if there are none and the agent has ended."""
        ready = [key for key, _ in self._selector.select(deadline.left_secs())]
        ours = [key for key in ready if key.fileobj is self._listener or key.data is not None]
        for key in ours:
            if key.data is None:
                self._accept()
            else:
                self._read(key.data)
        return bool(ours) or not ready

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        self._arrived += 1
        if len(self._peers) == MAX_PEERS:
            connection.close()
            self._later.append(
                Event(self._arrived, ProcessLeft(f"more than {MAX_PEERS} processes"))
            )
            return
        self._peers[self._arrived] = connection
        self._selector.register(connection, selectors.EVENT_READ, self._arrived)

    def _read(self, peer: int) -> None:
        message = self._receive(peer)
        if message is not None and not isinstance(message, Flushed):  # that arrived too late
            self._later.append(Event(peer, message))

    def _receive(self, peer: int) -> GateMessage | ProcessLeft | None:
        """Return the peer's next message, which is available; None if the peer has left."""
        connection = self._peers.get(peer)
        if connection is None:
            return None
        try:
            text, _, flags, _ = connection.recvmsg(MAX_MESSAGE_BYTES)
        except OSError:
            return self._dismiss(peer, None)
        if not text:
            return self._dismiss(peer, None)
        if flags & socket.MSG_TRUNC:
            return self._dismiss(peer, f"a message of more than {MAX_MESSAGE_BYTES} bytes")
        try:
            message = read_message(text)
        except (ValueError, RecursionError):
            return self._dismiss(peer, f"no message: {text[:100]!r}")
        fault = self._fault(peer, message)
        return message if fault is None else self._dismiss(peer, fault)

    def _fault(self, peer: int, message: GateMessage) -> str | None:
        """Return what is wrong with a message in the present state."""
        first = peer not in self._greeted
        self._greeted.add(peer)
        if first != isinstance(message, Hello):
            return f"'{message.type}' {'before' if first else 'after'} hello"
        if isinstance(message, Hello) and message.protocol != PROTOCOL:
            return f"protocol {message.protocol}; this harness speaks {PROTOCOL}"
        return None

    def _answer(self, event: Event, answer: str) -> int:
        """Send an answer, and return the number of the answered message."""
        if not isinstance(event.message, ToolReturned | AnswerPending):
            msg = f"'{event.message}' waits for no answer"
            raise TypeError(msg)
        connection = self._peers.get(event.peer)
        text = json.dumps({"type": answer, "ask": event.message.ask}).encode()
        if connection is not None:
            _send_or_cut(connection, text)
        return event.message.ask

    def _is_readable(self, peer: int, deadline: Deadline) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(self._peers[peer], selectors.EVENT_READ)
            return bool(selector.select(deadline.left_secs()))

    def _dismiss(self, peer: int, reason: str | None) -> ProcessLeft:
        self._close_peer(peer)
        return ProcessLeft(reason)

    def _close_peer(self, peer: int) -> None:
        connection = self._peers.pop(peer)
        self._selector.unregister(connection)
        connection.close()
        self._greeted.discard(peer)


def _send_or_cut(connection: socket.socket, text: bytes) -> None:
    """Send without waiting; cut off a peer that never reads, which a later read reports."""
    try:
        connection.send(text, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
    except OSError:
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)


def _listen(address: str) -> socket.socket:
    listener: socket.socket | None = None
    try:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(address)
        listener.listen(MAX_PEERS)
    except OSError as error:
        if listener is not None:
            listener.close()
        msg = f"no gate at '{address}': {error}; give a folder with a short path, on Linux"
        raise SandboxFailed(msg) from error
    return listener
