"""MCP servers on tape: recorded while they serve, or replaced by the tape."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from tracegrade_harness.mcp.messages import CALL, McpUnreadable, messages_of
from tracegrade_harness.tape.entries import TapeKey, key_of
from tracegrade_harness.tape.player import TapeMiss, TapePlayer, TapeRecorder

MISS: Final = -32_001
"""Code of the error for a call that is missing on the tape."""


class McpTapeSession:
    """Records the requests of one client to a server, and the answers."""

    def __init__(self, channel: str, recorder: TapeRecorder, path: str | None = None) -> None:
        """Begin with nothing.

        Args:
            channel: The server's channel.
            recorder: The recorder.
            path: The path of an HTTP server.
        """
        self._path = path
        self._channel = channel
        self._recorder = recorder
        self._pending: dict[str, TapeKey] = {}

    def sent(self, line: bytes) -> None:
        """Record a message of the client."""
        for message in messages_of(line):
            if "method" in message and "id" in message:
                self._pending[json.dumps(message["id"])] = _key(self._channel, message)

    def answered(self, line: bytes) -> None:
        """Record a message of the server."""
        for message in messages_of(line):
            key = self._pending.pop(json.dumps(message.get("id")), None)
            if key is not None and "method" not in message:
                outcome = {name: message[name] for name in ("result", "error") if name in message}
                self._recorder.add(key, outcome, self._path)


@contextmanager
def played(channel: str, player: TapePlayer, address: Path) -> Iterator[socket.socket]:
    """Serve a tape at the socket at a path, for as long as the block lasts.

    Yields:
        An object that becomes readable when the client has left.
    """
    ended, ending = socket.socketpair()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(str(address))
    arguments = (channel, player, connection, ending)
    thread = threading.Thread(target=_serve, args=arguments, name="tape", daemon=True)
    thread.start()
    try:
        with ended:
            yield ended
    finally:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        thread.join()


def _serve(
    channel: str, player: TapePlayer, connection: socket.socket, ending: socket.socket
) -> None:
    with ending, connection, suppress(OSError, McpUnreadable), connection.makefile("rb") as lines:
        for line in lines:
            for message in messages_of(line):
                if "method" in message and "id" in message:
                    reply = reply_of(channel, player, message)
                    answer = {"jsonrpc": "2.0", "id": message["id"], **reply}
                    connection.sendall(json.dumps(answer).encode() + b"\n")


def reply_of(channel: str, player: TapePlayer, message: dict[str, Any]) -> dict[str, Any]:
    """Return the `result` or `error` of a request."""
    if message["method"] == "ping":
        return {"result": {}}
    try:
        is_call = message["method"] == CALL
        found: dict[str, Any] = player.take(_key(channel, message), again=not is_call)
    except TapeMiss as miss:
        return {"error": {"code": MISS, "message": str(miss)}}
    return found


def _key(channel: str, message: dict[str, Any]) -> TapeKey:
    """Return the key of a request, without the client's description and the metadata."""
    method, params = str(message["method"]), message.get("params")
    request = {**params} if isinstance(params, dict) else {}
    request.pop("_meta", None)
    if method == CALL:
        return key_of(channel, f"{CALL} {request.get('name')}", request.get("arguments") or {})
    return key_of(channel, method, {} if method == "initialize" else request)
