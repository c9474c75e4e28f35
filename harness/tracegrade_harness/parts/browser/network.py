"""Forwards connections into and out of a confined browser's own network."""

import json
import socket
import subprocess
import sys
from collections.abc import Sequence

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.browser import inner_network
from tracegrade_harness.parts.browser.command import INNER_PORT
from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.servers.forwarding import Forwarding
from tracegrade_harness.parts.servers.managed_server import HOST, START_SECS, ServerUser

MOST_SERVICES = 200
"""Most services: the kernel passes at most 253 file descriptors with one message."""


class InnerNetwork:
    """Carries connections to a browser, and from it to services, until it is closed."""

    def __init__(
        self,
        process: int,
        user: ServerUser | None,
        listener: socket.socket,
        services: Sequence[ServiceAddress],
    ) -> None:
        """Start forwarding.

        Args:
            process: A process in the network.
            user: The network's owner, if it is not the harness.
            listener: The socket on which agents reach the browser.
            services: The services that the browser reaches, at the same ports.

        Raises:
            EnvironmentFailed: The network cannot be entered.
        """
        self._control, given = socket.socketpair()
        self._control.settimeout(START_SECS)
        with given:
            self._helper = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-m", inner_network.__name__],
                stdin=given.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[listener.fileno()],
                start_new_session=True,  # Ctrl-C is for the harness, which then decides
            )
        self._forwarding: Forwarding | None = None
        setup = {
            "outer": listener.fileno(),
            "user": user,
            "process": process,
            "services": services,
            "browser": [HOST, INNER_PORT],
        }
        try:
            self._control.send(json.dumps(setup).encode())
            message, numbers, _, _ = socket.recv_fds(self._control, 16, MOST_SERVICES)
        except OSError:
            message, numbers = b"", []
        listeners = [socket.socket(fileno=number) for number in numbers]
        if not message:
            self._control.close()
            _, words = self._helper.communicate()
            last = " ".join(words.decode(errors="replace").split())[-300:]
            msg = f"no way into the browser's network: {last or 'no answer'}; see `man 2 setns`"
            raise EnvironmentFailed(msg)
        self._forwarding = Forwarding(listeners, services)

    def close(self) -> None:
        """End all connections. Idempotent."""
        self._control.close()
        if self._forwarding is not None:
            self._forwarding.close()
        self._helper.communicate()
