"""Connects an agent to the harness: the agent starts this program as its MCP server.

The program uses Python's standard library alone. Its argument is the path of a socket. It copies
standard input to the socket, and the socket to standard output.
"""

import contextlib
import os
import socket
import sys
import threading

CHUNK_BYTES = 65_536
UNREACHABLE = 69
"""Exit code, `EX_UNAVAILABLE` of sysexits.h."""


def main() -> int:
    """Copy bytes until the harness closes the connection."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(sys.argv[1])
    except OSError as error:
        os.write(2, f"tracegrade: no MCP server at '{sys.argv[1]}': {error}\n".encode())
        return UNREACHABLE
    threading.Thread(target=_send_input, args=(connection,), daemon=True).start()
    while chunk := _received(connection):
        _write(chunk)
    return 0


def _send_input(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the other side has closed, which `main` notices
        while chunk := os.read(0, CHUNK_BYTES):
            connection.sendall(chunk)
        connection.shutdown(socket.SHUT_WR)


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(CHUNK_BYTES)
    except OSError:
        return b""


def _write(chunk: bytes) -> None:
    while chunk:
        chunk = chunk[os.write(1, chunk) :]


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):  # the reader has closed the pipe
        os._exit(main())  # its thread may still wait for input
    os._exit(0)
