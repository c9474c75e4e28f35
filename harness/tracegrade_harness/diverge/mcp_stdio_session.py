"""Asks an MCP server over standard input and output, after starting it."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from itertools import count
from pathlib import Path
from typing import Any, Final

from tracegrade_harness.diverge.answers import answer_on
from tracegrade_harness.diverge.comparison import ServiceAnswer
from tracegrade_harness.diverge.live_services import CLIENT, NO_REPLY
from tracegrade_harness.errors import EnvironmentFailed, SandboxFailed
from tracegrade_harness.mcp.messages import CALL, McpUnreadable, messages_of
from tracegrade_harness.mcp.servers import MAX_LINE_BYTES, Started, arrived, listening
from tracegrade_harness.mcp.tape import McpTapeSession
from tracegrade_harness.parts.folders.folders import temporary_folder
from tracegrade_harness.tape.entries import TapeKey, redacted
from tracegrade_harness.tape.player import TapeRecorder

SOCKET: Final = "server"
"""Socket for the server, in the folder of its session."""
LOG: Final = "log"
"""Name of the server's log file in that folder."""
ENDED: Final = "ended without an answer"
ANSWER_SECS: Final = 60.0
"""Seconds that a call may take."""
NO_METHOD: Final = -32_601
"""JSON-RPC's code for a method that the client does not offer."""
_TAIL_BYTES: Final = 4096

StartIn = Callable[[Path], AbstractContextManager[Started]]
"""Starts a server that connects to `SOCKET` in a folder and logs to `LOG`; it ends with the block.
"""


class _NoAnswer(Exception):
    """The server gives no answer; the text says why."""


class McpStdioSession:
    """A session with a server; each `initialize` begins a new one, with a new server."""

    def __init__(self, name: str, start: StartIn, protocol: str) -> None:
        """Prepare.

        Args:
            name: Name of the server.
            start: Starts the server.
            protocol: The version of MCP that the client offers.
        """
        self._name = name
        self._start = start
        self._protocol = protocol
        self._session: _Session | None = None
        self._begun: ServiceAnswer | None = None

    def __call__(self, key: TapeKey) -> ServiceAnswer:
        """Return the server's answer to a call."""
        if key.name == "initialize":
            return self._begin(key.channel)
        if self._session is None:
            self._begun = self._begin(key.channel)
        if self._begun is not None and self._begun.failed:
            return self._begun
        arguments = json.loads(key.arguments)
        if key.name.startswith(f"{CALL} "):
            name = key.name.removeprefix(f"{CALL} ")
            return self._ask(key.channel, CALL, {"name": name, "arguments": arguments})
        return self._ask(key.channel, key.name, arguments)

    def close(self) -> None:
        """End the server. Idempotent."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _begin(self, channel: str) -> ServiceAnswer:
        self.close()
        try:
            self._session = _Session(self._name, self._start)
        except _NoAnswer as error:
            return _no_reply(error)
        offered = {"protocolVersion": self._protocol, "capabilities": {}, "clientInfo": CLIENT}
        self._begun = self._ask(channel, "initialize", offered)
        if not self._begun.failed and self._session is not None:
            self._session.tell("notifications/initialized")
        return self._begun

    def _ask(self, channel: str, method: str, params: Any) -> ServiceAnswer:
        if self._session is None:
            return _no_reply(_NoAnswer(f"mcp server '{self._name}' has ended"))
        recorder = TapeRecorder()
        try:
            self._session.ask(McpTapeSession(channel, recorder), method, params)
        except _NoAnswer as error:
            self.close()  # a late answer would be taken for the next call's
            return _no_reply(error)
        except (McpUnreadable, RecursionError):
            self.close()
            return ServiceAnswer(failed=True, outcome="unreadable", content="no message of MCP")
        return answer_on(recorder.entries()[0])


class _Session:
    """A running server, and the connection to it."""

    def __init__(self, name: str, start: StartIn) -> None:
        """Start it.

        Raises:
            _NoAnswer: It did not start.
        """
        self._name = name
        self._ids = count(1)
        self._end = ExitStack()
        try:
            self._folder = self._end.enter_context(temporary_folder())
            listener = self._end.enter_context(listening(self._folder / SOCKET))
            started = self._end.enter_context(start(self._folder))
            server = arrived(listener, started)
            if server is None:
                raise _NoAnswer(self._why("did not start"))
            self._server = self._end.enter_context(server)
            self._lines = self._end.enter_context(server.makefile("rb"))
        except (EnvironmentFailed, SandboxFailed, OSError) as error:
            self._end.close()
            msg = f"mcp server '{name}' did not start: {error}"
            raise _NoAnswer(msg) from error
        except _NoAnswer:
            self._end.close()
            raise

    def close(self) -> None:
        """End it."""
        self._end.close()

    def tell(self, method: str) -> None:
        """Send a notification, to which there is no answer."""
        self._send({"method": method})

    def ask(self, tape_session: McpTapeSession, method: str, params: Any) -> None:
        """Send a request, and wait until its answer is recorded.

        Raises:
            McpUnreadable: The server sends something that is not a message.
            _NoAnswer: No answer came.
        """
        number = next(self._ids)
        tape_session.sent(self._send({"id": number, "method": method, "params": params}))
        for line in self._received():
            for message in messages_of(line):
                if "method" in message:
                    self._refuse(message)
                elif message.get("id") == number:
                    tape_session.answered(json.dumps(message).encode())
                    return
        raise _NoAnswer(self._why(ENDED))

    def _received(self) -> Iterator[bytes]:
        """Yield lines of the server until it ends, or until an answer is too late."""
        until = time.monotonic() + ANSWER_SECS
        while True:
            try:
                self._server.settimeout(max(until - time.monotonic(), 0.001))
                line = self._lines.readline(MAX_LINE_BYTES + 1)
            except TimeoutError as error:
                raise _NoAnswer(self._why(f"gave no answer in {ANSWER_SECS:g} s")) from error
            except OSError:
                return
            if len(line) > MAX_LINE_BYTES:
                raise _NoAnswer(self._why(f"sent a message of more than {MAX_LINE_BYTES} bytes"))
            if not line:
                return
            yield line

    def _refuse(self, message: Mapping[str, Any]) -> None:
        """Refuse a server's request, because this client offers nothing."""
        if "id" not in message:
            return
        refused = {"error": {"code": NO_METHOD, "message": "not offered"}}
        answer = {"result": {}} if message["method"] == "ping" else refused
        self._send({"id": message["id"], **answer})

    def _send(self, message: Mapping[str, Any]) -> bytes:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        try:
            self._server.settimeout(ANSWER_SECS)
            self._server.sendall(line)
        except TimeoutError as error:
            raise _NoAnswer(self._why(f"took no message in {ANSWER_SECS:g} s")) from error
        except OSError as error:  # before or after the message was sent: the same for callers
            raise _NoAnswer(self._why(ENDED)) from error
        return line

    def _why(self, what: str) -> str:
        """Return the reason, with the last line that the server wrote."""
        last = _last_line(self._folder / LOG)
        return f"mcp server '{self._name}' {what}{f': {last}' if last else ''}"


def _no_reply(error: _NoAnswer) -> ServiceAnswer:
    return ServiceAnswer(failed=True, outcome=NO_REPLY, content=redacted(str(error)))


def _last_line(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(log.stat().st_size - _TAIL_BYTES, 0))
            lines = file.read(_TAIL_BYTES).decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
