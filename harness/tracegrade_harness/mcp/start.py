"""Becomes an MCP server whose standard input and output are a connection to the harness.

The program uses Python's standard library alone. Its arguments are the path of a socket and the
server's command. It connects to the socket only if the command exists.
"""

import os
import shutil
import socket
import sys

NO_PROGRAM = 127
"""Exit code of shells for a missing program."""


def main() -> int:
    """Connect, then replace this process with the server."""
    address, *command = sys.argv[1:]
    program = shutil.which(command[0])
    if program is None:
        os.write(2, f"no program '{command[0]}'; install it, or correct the suite\n".encode())
        return NO_PROGRAM
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(address)
    for standard in (0, 1):
        os.dup2(connection.fileno(), standard)
    return os.execv(program, command)  # noqa: S606 - what the suite says


if __name__ == "__main__":
    sys.exit(main())
