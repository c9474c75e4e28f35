"""A program that forwards connections into and out of a browser's own network.

It enters the network that bubblewrap made, opens the services' ports there and hands them to the
harness, which carries their connections. Connections to a port of this machine are carried to the
browser. The program ends with the harness.
"""

import ctypes
import fcntl
import json
import os
import socket
import sys
from typing import Any, Final

from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.servers.forwarding import Forwarding

_GET_OWNER: Final = 0xB701
"""Numbers of the kernel from `linux/nsfs.h` and `linux/sched.h`."""
_NEW_USER: Final = 0x10000000
_NEW_NET: Final = 0x40000000


def main() -> None:
    """Read the setup from the socket at file descriptor 0, and forward until the socket closes."""
    with socket.socket(fileno=0) as control:
        setup = json.loads(control.recv(65_536))
        outer = socket.socket(fileno=setup["outer"])
        _become(setup["user"])
        _enter(setup["process"])
        services = [ServiceAddress(*each) for each in setup["services"]]
        listeners = [socket.create_server(address) for address in services]
        socket.send_fds(control, [b"open"], [each.fileno() for each in listeners])
        browser = ServiceAddress(*setup["browser"])
        forwarding = Forwarding([outer], [browser])
        control.recv(1)
        forwarding.close()


def _become(user: Any) -> None:
    """Become the user who owns the namespaces, and so may enter them."""
    if user is not None:
        number, group = user
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(number, number, number)


def _enter(process: int) -> None:
    """Enter the network of a process, through its user namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    network = os.open(f"/proc/{process}/ns/net", os.O_RDONLY)
    owner = fcntl.ioctl(network, _GET_OWNER)
    for number, kind in ((owner, _NEW_USER), (network, _NEW_NET)):
        if libc.setns(number, kind) != 0:
            reason = os.strerror(ctypes.get_errno())
            sys.exit(f"namespaces of process {process} cannot be entered: {reason}")


if __name__ == "__main__":
    main()
