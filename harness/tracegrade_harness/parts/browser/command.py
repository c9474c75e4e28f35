"""Builds the command that starts Chromium, in bubblewrap or else in Chromium's own sandbox.

In bubblewrap, the browser sees the programs, fonts and certificates of this machine, and no other
files. It writes to memory, up to a limit. It has a network of its own, unless the suite opens the
machine's network to it.
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.browser.programs import program
from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.servers.managed_server import HOST, ServerFolder, ServerUser

INNER_PORT: Final = 9222
"""Port on which the browser listens in a network of its own."""
MEMORY_BYTES: Final = 1024**3
"""Limit of its home, and of its temporary files."""

_HOME: Final = "/home/agent"
_SYSTEM: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/snap"),
    *("/etc/alternatives", "/etc/chromium", "/etc/chromium.d", "/etc/fonts", "/etc/ld.so.cache"),
    *("/etc/localtime", "/etc/nsswitch.conf", "/etc/ssl", "/etc/pki", "/etc/ca-certificates"),
)
_RESOLVER: Final = ("/etc/resolv.conf", "/etc/hosts")
_FLAGS: Final = (
    *("--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--mute-audio"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-breakpad", "--disable-default-apps", "--disable-extensions"),
    *("--password-store=basic", "--lang=en-US", "--window-size=1280,720"),
    # Pages that are not visible run as if they were: in headless mode no page is visible.
    *("--disable-background-timer-throttling", "--disable-renderer-backgrounding"),
    "--disable-backgrounding-occluded-windows",
)
_PROBE: Final = ("unshare", "--user", "true")


class Confinement(NamedTuple):
    """The sandboxes that confine a browser."""

    bubblewrap: str | None
    """The program; None if there is none, or if it does not work for this user."""
    own_sandbox: bool
    """Whether Chromium's own sandbox works, which keeps pages from the browser."""


def confinement(folder: ServerFolder) -> Confinement:
    """Return the sandboxes of a browser that runs as the user of a folder."""
    return _confinement(folder.user, _Probe(folder))


def command(
    confined: Confinement,
    folder: Path,
    port: int,
    hosts: Mapping[str, ServiceAddress],
    *,
    opened: bool,
) -> list[str]:
    """Return the command that starts Chromium with a blank page.

    Args:
        confined: The sandboxes that confine it.
        folder: Its own folder, if it sees the machine's files.
        port: Port for CDP; in a network of its own, `INNER_PORT` replaces it.
        hosts: Names of hosts and their addresses on this machine.
        opened: It can reach every host that this machine can reach.
    """
    home = str(folder) if confined.bubblewrap is None else _HOME
    is_inner = has_own_network(confined, opened=opened)
    return [
        *_before(confined.bubblewrap, home, opened=opened),
        program(),
        *_FLAGS,
        *([] if confined.own_sandbox else ["--no-sandbox"]),
        f"--remote-debugging-port={INNER_PORT if is_inner else port}",
        f"--user-data-dir={home}/profile",
        f"--host-resolver-rules={_rules(hosts, opened=opened)}",
        f"--unsafely-treat-insecure-origin-as-secure={','.join(f'http://{h}' for h in hosts)}",
        "about:blank",
    ]


def has_own_network(confined: Confinement, *, opened: bool) -> bool:
    """Return whether it has connections only through the harness."""
    return confined.bubblewrap is not None and not opened


def _before(bubblewrap: str | None, home: str, *, opened: bool) -> list[str]:
    if bubblewrap is None:
        return ["env", f"HOME={home}"]
    shown = (*_SYSTEM, *(_RESOLVER if opened else ()))
    return [
        *_namespaces(bubblewrap),
        *(["--share-net"] if opened else []),
        *(word for path in shown for word in ("--ro-bind-try", path, path)),
        *_program_binds(),
        *("--size", str(MEMORY_BYTES), "--tmpfs", "/tmp"),  # noqa: S108 - its own
        *("--size", str(MEMORY_BYTES), "--tmpfs", home),
        *("--setenv", "HOME", home, "--chdir", home),
        # bwrap reports the first process on stdout, which is the server's log.
        *("--info-fd", "1", "--"),
    ]


def _namespaces(bubblewrap: str) -> list[str]:
    options = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
    return [bubblewrap, *options, "--proc", "/proc", "--dev", "/dev"]


def _program_binds() -> list[str]:
    """Return the words that show the browser, if it is outside of the system's folders."""
    found = Path(program()).resolve()
    if any(Path(each) in found.parents for each in _SYSTEM):
        return []
    return ["--ro-bind", str(found.parent), str(found.parent)]


def _rules(hosts: Mapping[str, ServiceAddress], *, opened: bool) -> str:
    """Return the rules for host names: services by their names, other hosts nowhere."""
    mapped = [f"MAP {name} {at.host}:{at.port}" for name, at in hosts.items()]
    others = [] if opened else ["MAP * ~NOTFOUND", f"EXCLUDE {HOST}", "EXCLUDE localhost"]
    return ", ".join([*mapped, *others])


class _Probe:
    """Tries commands as the user of a folder; the results of a user are reused."""

    def __init__(self, folder: ServerFolder) -> None:
        self._folder = folder

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Probe)

    def __hash__(self) -> int:
        return 0

    def works(self, command: Sequence[str]) -> bool:
        try:
            self._folder.run(command)
        except (EnvironmentFailed, OSError):
            return False
        return True


@cache
def _confinement(user: ServerUser | None, probe: _Probe) -> Confinement:
    found = shutil.which("bwrap")
    if found is not None:
        inside = [*_namespaces(found), *("--ro-bind", "/", "/", "--")]
        if probe.works([*inside, "true"]):
            return Confinement(found, probe.works([*inside, *_PROBE]))
    return Confinement(None, sys.platform != "linux" or probe.works(_PROBE))
