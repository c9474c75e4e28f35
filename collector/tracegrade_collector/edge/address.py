"""The address that a server listens on, and whether only this machine reaches it."""

import ipaddress
from typing import NamedTuple

from tracegrade_collector.errors import BadConfig

OFF = "off"


class Address(NamedTuple):
    """Address on which a server listens; port 0 means a free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address | None:
    """Return the address that `host:port` means, None for `off`.

    Raises:
        BadConfig: It is neither.
    """
    if text == OFF:
        return None
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        msg = f"address must be HOST:PORT or '{OFF}', got {text!r}"
        raise BadConfig(msg)
    return Address(host.strip("[]"), int(port))


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
