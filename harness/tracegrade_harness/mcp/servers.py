"""MCP servers over standard input and output, which the harness runs for its agents.

    with McpServers(folder, {"shop": Served(start)}, run) as servers:
        servers.commands["shop"]  # what an agent starts instead of the server

An agent starts `mcp/pipe.py`. For each such connection the harness starts a server, outside of the
agent's sandbox. So a kill of the agent ends only the agent's side of the pipe, and the server
finishes the call that it is executing. Messages are lines, which pass unchanged; each waits until
`McpCalls` lets it pass.
"""

import contextlib
import select
import shlex
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Final, NamedTuple, Protocol, Self

from tracegrade_harness.errors import EnvironmentFailed, SandboxFailed
from tracegrade_harness.mcp import pipe as mcp_pipe
from tracegrade_harness.mcp.calls import McpCalls
from tracegrade_harness.mcp.messages import McpUnreadable
from tracegrade_harness.parts.folders.folders import temporary_folder
from tracegrade_harness.telemetry.observed_run import ObservedRun, RunClosed

MAX_LINE_BYTES: Final = 64 << 20
"""Largest size of one message."""
MAX_CONNECTIONS: Final = 16
"""Most servers of an agent at one time."""
START_SECS: Final = 60.0
SETTLE_SECS: Final = 10.0
"""Seconds that calls in progress may continue after their agent has ended."""
END_SECS: Final = 5.0
"""Seconds that a server may take to end after its input has ended."""
PIPE: Final = Path(mcp_pipe.__file__).resolve()


class Started(Protocol):
    """A server's process, which becomes readable when it has ended."""

    def fileno(self) -> int:
        """Return the file descriptor."""


StartServer = Callable[[Path], AbstractContextManager[Started]]
"""Starts a server that connects to the socket at a path; the server ends with the block."""


class Listener(Protocol):
    """Receives the messages between one client and its server."""

    def sent(self, line: bytes) -> None:
        """Receive a message of the client."""

    def answered(self, line: bytes) -> None:
        """Receive a message of the server."""


class Served(NamedTuple):
    """A server with the way in which its connections are served."""

    start: StartServer
    listener: Callable[[], Listener] | None = None
    """Makes a listener for each connection, if all messages are recorded."""


class McpServers:
    """A `with` block in which an agent finds its servers."""

    def __init__(
        self,
        folder: Path,
        servers: Mapping[str, Served],
        run: ObservedRun | None,
        seen: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare.

        Args:
            folder: The folder for the sockets to which the agent connects.
            servers: Name → how it is served.
            run: The agent's run, if the gate must let each call pass.
            seen: Called for each message.
        """
        self._seen = seen
        self._socket_paths = {name: folder / f"mcp-{i}" for i, name in enumerate(servers)}
        self._servers = servers
        self._run = run
        self._lock = threading.Lock()
        self._listeners: list[socket.socket] = []
        self._connections: list[_Connection] = []
        self._threads: list[threading.Thread] = []
        self._is_closed = False
        self._refused = 0

    @property
    def commands(self) -> Mapping[str, list[str]]:
        """The command that an agent starts instead of each server."""
        program = [sys.executable, "-I", "-S", str(PIPE)]
        return {name: [*program, str(path)] for name, path in self._socket_paths.items()}

    @property
    def shell_commands(self) -> Mapping[str, str]:
        """The same commands, each as one text for a shell."""
        return {name: shlex.join(command) for name, command in self.commands.items()}

    def __enter__(self) -> Self:
        for name, path in self._socket_paths.items():
            listener = listening(path)
            self._listeners.append(listener)
            self._start(self._accept, name, listener)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close()
        faults = self._faults()
        if faults and error is None:
            raise EnvironmentFailed(faults[0])

    def notes(self) -> list[str]:
        """Return the notes about the servers for readers of the trial."""
        refused = f"mcp: {self._refused} connections beyond {MAX_CONNECTIONS} were refused"
        found = [note for each in self._connections for note in each.notes]
        return [*found, *([refused] if self._refused else [])]

    def close(self) -> None:
        """End the servers after the calls in progress have returned. Idempotent."""
        with self._lock:
            self._is_closed = True
            threads, connections = [*self._threads], [*self._connections]
        for listener in self._listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits there
        for connection in connections:
            connection.leave()
        for thread in threads:
            thread.join()
        for path in self._socket_paths.values():
            path.unlink(missing_ok=True)

    def _faults(self) -> list[str]:
        return [each.fault for each in self._connections if each.fault]

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, name="mcp", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, name: str, listener: socket.socket) -> None:
        with listener:
            while True:
                try:
                    agent, _ = listener.accept()
                except OSError:
                    return
                self._admit(name, agent)

    def _admit(self, name: str, agent: socket.socket) -> None:
        with self._lock:
            open_ = sum(not each.has_ended for each in self._connections)
            if self._is_closed or open_ == MAX_CONNECTIONS:
                self._refused += not self._is_closed
                agent.close()
                return
            connection = _Connection(name, agent, self._servers[name], self._run, self._seen)
            self._connections.append(connection)
            self._start(self._serve, connection)

    def _serve(self, connection: "_Connection") -> None:
        try:
            connection.serve()
            if self._is_last(connection) and self._run is not None:
                self._run.answering()
        except RunClosed:
            pass
        finally:
            connection.close()

    def _is_last(self, connection: "_Connection") -> bool:
        with self._lock:
            connection.has_ended = True
            return all(each.has_ended for each in self._connections)


class _Connection:
    """One agent's connection to a server of its own."""

    def __init__(
        self,
        name: str,
        agent: socket.socket,
        served: Served,
        run: ObservedRun | None,
        seen: Callable[[], None],
    ) -> None:
        self._seen = seen
        self.has_ended = False
        self.fault: str | None = None
        """Why the server did not start."""
        self.notes: list[str] = []
        self._name = name
        self._agent = agent
        self._start = served.start
        self._listener = served.listener() if served.listener else None
        self._calls = McpCalls(run)
        self._server_ended = threading.Event()

    def serve(self) -> None:
        """Start the server and copy messages until one side ends."""
        try:
            with temporary_folder() as folder:
                self._serve_in(folder)
        except (EnvironmentFailed, SandboxFailed, OSError) as error:
            self.fault = f"mcp server '{self._name}': {error}"

    def leave(self) -> None:
        """Note that the agent has ended."""
        with contextlib.suppress(OSError):
            self._agent.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Tell the agent that the server has ended."""
        self.has_ended = True
        self.leave()
        self._agent.close()

    def _serve_in(self, folder: Path) -> None:
        with listening(folder / "server") as listener, self._start(folder / "server") as started:
            server = arrived(listener, started)
            if server is None:
                self.fault = f"mcp server '{self._name}' did not start; see its log"
                return
            with server:
                sending = threading.Thread(target=self._to_server, args=(server,), daemon=True)
                sending.start()
                self._to_agent(server)
                self._server_ended.set()
                self._calls.abandon()
                with contextlib.suppress(OSError):
                    self._agent.shutdown(socket.SHUT_RD)  # ends the other thread
                sending.join()

    def _to_server(self, server: socket.socket) -> None:
        try:
            with self._agent.makefile("rb") as agent:
                for line in self._lines(agent):
                    self._calls.sent(line)
                    if self._listener is not None:
                        self._listener.sent(line)
                    server.sendall(line)
        except McpUnreadable as error:
            self.notes.append(f"mcp: {error}")
        except (OSError, RunClosed):
            pass  # one side has left, or nothing may pass to the agent any more
        self._end(server)

    def _end(self, server: socket.socket) -> None:
        """End the server of an agent that has ended, after its present call."""
        if not self._calls.settle(SETTLE_SECS):
            self.notes.append(
                f"mcp: a call of server '{self._name}' continued "
                f"{SETTLE_SECS:g} s after its agent ended"
            )
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_WR)
        if not self._server_ended.wait(END_SECS):
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)

    def _to_agent(self, server: socket.socket) -> None:
        """Pass answers to the agent; after its end, only read them."""
        try:
            with server.makefile("rb") as answers:
                for line in self._lines(answers):
                    self._pass_back(line)
        except McpUnreadable as error:
            self.notes.append(f"mcp: {error}")
        except OSError:
            pass  # it has ended

    def _pass_back(self, line: bytes) -> None:
        if self._listener is not None:
            self._listener.answered(line)
        with contextlib.suppress(OSError, RunClosed):  # the agent has ended, the server has not
            self._calls.answered(line)
            self._agent.sendall(line)

    def _lines(self, file: IO[bytes]) -> Iterator[bytes]:
        """Yield lines, up to a line that is too long, which is noted."""
        while line := file.readline(MAX_LINE_BYTES + 1):
            if len(line) > MAX_LINE_BYTES:
                self.notes.append(f"mcp: a message of more than {MAX_LINE_BYTES} bytes")
                return
            self._seen()
            yield line


def listening(path: Path) -> socket.socket:
    """Return a socket that listens at a path."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def arrived(listener: socket.socket, started: Started) -> socket.socket | None:
    """Return the connection of a started server; None if it ends first, or is too slow."""
    ready, _, _ = select.select([listener, started], [], [], START_SECS)
    return listener.accept()[0] if listener in ready else None
