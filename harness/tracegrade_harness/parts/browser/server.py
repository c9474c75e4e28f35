"""A trial's Chromium, with a new profile and an address of its own on this machine."""

import json
import re
import signal
import socket
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final

from websockets.exceptions import WebSocketException

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.browser.cdp import BrowserClosed, Cdp, CdpFailed
from tracegrade_harness.parts.browser.command import (
    command,
    confinement,
    has_own_network,
)
from tracegrade_harness.parts.browser.network import InnerNetwork
from tracegrade_harness.parts.browser.pages import KINDS, Events, Page, attached
from tracegrade_harness.parts.browser.snapshot import BLANK
from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.servers.managed_server import (
    HOST,
    LOG,
    START_SECS,
    ManagedServer,
    ServerFolder,
    free_port,
)

ACCOUNTS: Final = ("nobody",)
_TRIES: Final = 3
_ENDING_SECS: Final = 5.0
_FIRST_PROCESS: Final = re.compile(r'"child-pid": (\d+)')


def confinement_text(*, opened: bool) -> str:
    """Return in words how this machine confines browsers.

    Args:
        opened: Suites let them reach every host that this machine can reach.

    Raises:
        EnvironmentFailed: No account exists that can run one.
    """
    folder = ServerFolder(*ACCOUNTS)
    try:
        confined = confinement(folder)
    finally:
        folder.remove()
    files = "in bubblewrap" if confined.bubblewrap else "without bubblewrap, sees its user's files"
    is_alone = has_own_network(confined, opened=opened)
    reached = "its services alone" if is_alone else "what this machine reaches"
    own = "" if confined.own_sandbox else ", pages not apart from the browser (--no-sandbox)"
    return f"{files}, reaches {reached}{own}"


class BrowserServer:
    """A browser that runs until it is closed, or until the harness ends."""

    def __init__(self, hosts: Mapping[str, ServiceAddress], *, opened: bool) -> None:
        """Start a browser with a blank page.

        Args:
            hosts: Names with which pages find services of this machine.
            opened: It can reach every host that this machine can reach.

        Raises:
            EnvironmentFailed: It cannot be started.
        """
        self._hosts = hosts
        self._managed: ManagedServer | None = None
        self._way: InnerNetwork | None = None
        self._cdp: Cdp | None = None
        self.events = Events()
        for tries_left in reversed(range(_TRIES)):  # another process may have taken the port
            words = self._start(opened=opened)
            if words is None:
                return
            self.close()
            if not tries_left:
                msg = f"Chromium cannot be started: {words}; see that memory is not full"
                raise EnvironmentFailed(msg)

    def ask(self, method: str, **given: Any) -> dict[str, Any]:
        """Return the answer of the browser itself; see `Cdp.ask`."""
        return self._connected().ask(method, **given)

    def ends_soon(self) -> bool:
        """Wait a moment; return whether it has ended or closed the connection by then."""
        return self._cdp is None or self._cdp.ends_within(_ENDING_SECS)

    def targets(self) -> list[dict[str, Any]]:
        """Return the tabs, and the frames that have processes of their own.

        Targets in contexts that an agent has made outside of the profile are left out.
        """
        others = self.contexts()
        found: list[dict[str, Any]] = self.ask("Target.getTargets")["targetInfos"]
        return [
            each
            for each in found
            if each["type"] in KINDS and each.get("browserContextId") not in others
        ]

    def contexts(self) -> list[str]:
        """Return the contexts that an agent has made outside of the profile."""
        found: list[str] = self.ask("Target.getBrowserContexts")["browserContextIds"]
        return found

    @contextmanager
    def page(self, target: Mapping[str, Any]) -> Iterator[Page]:
        """Attach to a page while the block lasts."""
        with attached(self._connected(), target, self.events) as page:
            yield page

    def new_tab(self, *, hidden: bool = False) -> dict[str, Any]:
        """Open a tab with a blank page; a hidden tab is for the harness itself."""
        made = self.ask("Target.createTarget", url=BLANK, hidden=hidden)
        return {**made, "url": BLANK, "type": "page"}

    @contextmanager
    def tab(self, *, hidden: bool = False) -> Iterator[Page]:
        """Open a tab while the block lasts; see `new_tab`."""
        made = self.new_tab(hidden=hidden)
        try:
            with self.page(made) as page:
                yield page
        finally:
            with suppress(CdpFailed):
                self.ask("Target.closeTarget", targetId=made["targetId"])

    def close(self) -> None:
        """End it. Idempotent."""
        cdp, self._cdp = self._cdp, None
        if cdp is not None:
            cdp.close()
        if self._managed is not None:
            self._managed.close()
        way, self._way = self._way, None
        if way is not None:
            way.close()

    def _start(self, *, opened: bool) -> str | None:
        """Start it, and return why it does not answer; None if it does."""
        folder = ServerFolder(*ACCOUNTS)
        confined = confinement(folder)
        with ExitStack() as stack:
            listener = None
            if has_own_network(confined, opened=opened):
                listener = stack.enter_context(socket.create_server((HOST, 0)))
            port = free_port() if listener is None else listener.getsockname()[1]
            self.address = ServiceAddress(HOST, port)
            words = command(confined, folder.path, port, self._hosts, opened=opened)
            self._managed = ManagedServer(folder, words, signal.SIGTERM)
            if listener is not None and (process := self._first_process(self._managed)):
                services = [*self._hosts.values()]
                self._way = InnerNetwork(process, folder.user, listener, services)
            return None if self._answers(self._managed) else self._managed.last_words()

    @staticmethod
    def _first_process(managed: ManagedServer) -> int | None:
        """Return the process that bubblewrap has started, as soon as bubblewrap reports it."""
        ends = time.monotonic() + START_SECS
        while time.monotonic() < ends and not managed.has_ended():
            log = (managed.folder / LOG).read_text(errors="replace")
            if found := _FIRST_PROCESS.search(log):
                return int(found[1])
            time.sleep(0.01)
        return None

    def _answers(self, managed: ManagedServer) -> bool:
        """Connect as soon as it answers; return whether it did in time."""
        ends = time.monotonic() + START_SECS
        while time.monotonic() < ends and not managed.has_ended():
            with suppress(OSError, ValueError, WebSocketException):
                self._connect()
                return True
            time.sleep(0.02)
        return False

    def _connected(self) -> Cdp:
        """Return a connection: an agent may have made the browser close the last one."""
        if self._cdp is not None and not self._cdp.has_ended:
            return self._cdp
        try:
            return self._connect()
        except (OSError, ValueError, WebSocketException, CdpFailed) as error:
            msg = "the browser has ended"
            raise BrowserClosed(msg) from error

    def _connect(self) -> Cdp:
        url = f"http://{self.address.host}:{self.address.port}/json/version"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=START_SECS) as answer:
            endpoints = json.load(answer)
        found = self._cdp = Cdp(endpoints["webSocketDebuggerUrl"], self.events.take)
        self.events.answer = found.tell
        found.ask("Target.setDiscoverTargets", discover=True)
        return found
