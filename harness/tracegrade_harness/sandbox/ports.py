"""Finds the ports that a process listens on, in any network namespace."""

import os
from pathlib import Path
from typing import Final

import psutil

PROC: Final = Path("/proc")
_LISTENING: Final = "0A"


def listening_ports(process: psutil.Process) -> set[int]:
    """Return the TCP ports that a process listens on.

    Raises:
        psutil.Error: It has ended, or may not be read.
    """
    if not (PROC / str(process.pid) / "net").is_dir():
        found = process.net_connections("tcp")
        return {each.laddr.port for each in found if each.status == psutil.CONN_LISTEN}
    try:
        return _ports(PROC / str(process.pid))
    except OSError as error:
        raise psutil.NoSuchProcess(process.pid) from error


def _ports(folder: Path) -> set[int]:
    """Return a process's ports from Linux's list of its own network, which psutil does not read.

    A line is: number, local address, remote address, state, …; the tenth word is the socket.
    """
    sockets = {_target(link) for link in (folder / "fd").iterdir()}
    ports = set()
    for name in ("tcp", "tcp6"):
        lines = [line.split() for line in (folder / "net" / name).read_text().splitlines()[1:]]
        ports |= {
            int(words[1].rpartition(":")[2], 16)
            for words in lines
            if words[3] == _LISTENING and f"socket:[{words[9]}]" in sockets
        }
    return ports


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:  # closed by now
        return ""
