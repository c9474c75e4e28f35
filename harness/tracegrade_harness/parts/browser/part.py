"""A browser as a part of an environment; `state.py` defines its objects.

Each trial has a browser of its own, with a new profile. Pages find the HTTP services of the
environment by name, such as `http://mail/`, on every port.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from xxhash import xxh3_128_hexdigest

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.browser.cdp import BrowserClosed, BrowserError, CdpFailed
from tracegrade_harness.parts.browser.hosts import host_name
from tracegrade_harness.parts.browser.model import Browser
from tracegrade_harness.parts.browser.pages import Element, Page, WrongSelector
from tracegrade_harness.parts.browser.programs import program
from tracegrade_harness.parts.browser.server import BrowserServer
from tracegrade_harness.parts.browser.snapshot import (
    BLANK,
    BrowserSnapshot,
    Items,
    ServiceNames,
    Tab,
    declared,
)
from tracegrade_harness.parts.browser.state import BrowserState, observe, read
from tracegrade_harness.parts.globs import Globs
from tracegrade_harness.parts.names import part_text
from tracegrade_harness.parts.part import Opened, ServiceAddress
from tracegrade_harness.parts.state_reading import ReadableState, StateReading

_SEED: Final = "seed.json"
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class BrowserLocation:
    """The variable, services and rules of a browser in a suite."""

    name: str
    """Name of the part."""
    variable: str | None = None
    """Environment variable that gets the address of the DevTools protocol."""
    services: tuple[str, ...] = ()
    """Names of the HTTP services that its pages reach."""
    opened: bool = False
    """It can reach every host that this machine can reach."""
    watch: tuple[str, ...] = ()
    """CSS selectors."""
    ignore: tuple[str, ...] = ()
    """Globs over names of objects, without the part's name."""

    @property
    def title(self) -> str:
        """Prefix of the names of its objects."""
        return f"browser:{part_text(self.name)}"


class BrowserPart:
    """A browser; each trial gets one of its own."""

    def __init__(self, location: BrowserLocation, source: Browser) -> None:
        self._location = location
        self._seed = declared(source)

    def source_digest(self) -> str:
        """Return a digest of all that the template is made from.

        Raises:
            EnvironmentFailed: Chromium is missing.
        """
        return xxh3_128_hexdigest(f"{program()}\n{self._seed.as_json()}".encode())

    def freeze(self, folder: Path) -> None:
        """Build the template in a new, empty folder; see `part.py`."""
        (folder / _SEED).write_text(self._seed.as_json(), encoding="utf-8")

    def use(self, folder: Path) -> None:
        """Use an existing template of `freeze`."""
        self._seed = BrowserSnapshot.of_json((folder / _SEED).read_text(encoding="utf-8"))

    def frozen(self) -> StateReading:
        """Return nothing, because the content comes from services, which have not started yet."""
        return StateReading()

    def open(self, root: Path) -> "OpenedBrowser":
        """Return a browser that must be started; the folder is not used."""
        return OpenedBrowser(self._location, self._seed)

    def close(self) -> None:
        """Do nothing: each trial has a browser of its own."""


class OpenedBrowser(ReadableState):
    """A browser of one trial."""

    def __init__(
        self, location: BrowserLocation, seed: BrowserSnapshot, *, is_copy: bool = False
    ) -> None:
        """Take the content for the browser.

        Args:
            location: The settings from the suite.
            seed: The content.
            is_copy: It copies an agent's browser, so its pages need not load.
        """
        self._location = location
        self._seed = seed
        self._is_copy = is_copy
        self._ignore = Globs(location.ignore)
        self._services: dict[str, Opened] = {}
        self._names = ServiceNames({})
        self._server: BrowserServer | None = None
        self._visits = ExitStack()
        self._visitor: OpenedBrowser | None = None

    def start(self, others: Mapping[str, Opened]) -> None:
        """Start it with the other parts of the environment, and open its address.

        Raises:
            EnvironmentFailed: It cannot be started, or no service answers at its address.
        """
        self._services = {name: others[f"http:{name}"] for name in self._location.services}
        found = ((host_name(name), part) for name, part in self._services.items())
        hosts = {host: part.addresses[0] for host, part in found if host is not None}
        self._names = ServiceNames(hosts)
        self._server = BrowserServer(hosts, opened=self._location.opened)
        try:
            _fill(self._server, self._seed, must_load=not self._is_copy)
        except CdpFailed as error:
            self.close()
            msg = (
                f"{self._location.title} cannot be restored: {error}; see what its suite gives it"
            )
            raise EnvironmentFailed(msg) from error

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables with which an agent finds the browser."""
        host, port = self._running().address
        return (
            {self._location.variable: f"http://{host}:{port}"} if self._location.variable else {}
        )

    @property
    def addresses(self) -> Sequence[ServiceAddress]:
        """The addresses at which an agent must reach it."""
        return [self._running().address]

    def read(self) -> StateReading:
        """Return all objects as they are now.

        If the agent has ended the browser, the only object is the browser, marked as closed.

        Raises:
            EnvironmentFailed: It refuses to be read.
        """
        try:
            seen = self._ask(lambda: self._read_state(self._location.watch))
        except _Ended:
            return StateReading({self._location.title: "closed"})
        return read(seen, self._location.title, self._ignore)

    def held(self) -> list[str]:
        """Return `browser:PART/page:URL (script)` for each page whose scripts do not end."""
        try:
            seen = self._ask(lambda: self._read_state(()))
        except _Ended:
            return []
        return sorted(f"{self._location.title}/page:{url} (script)" for url in seen.silent)

    def elements(self, selector: str) -> list[Element]:
        """Return the elements that a selector matches in its tabs.

        Raises:
            EnvironmentFailed: It has ended, a page does not answer, or the selector is invalid.
        """
        seen = self._ask(lambda: self._read_state((selector,)))
        if seen.silent:
            msg = (
                f"{self._location.title}: the scripts of {seen.silent[0]} do not end; see the page"
            )
            raise EnvironmentFailed(msg)
        return seen.elements[selector]

    @contextmanager
    def visit(self, url: str) -> Iterator["OpenedBrowser"]:
        """Open an address in a copy of the browser, among copies of its services.

        The first visit makes the copies, which later visits use as well.

        Raises:
            EnvironmentFailed: It has ended, or no service answers there.
        """
        if self._visitor is None:
            self._visitor = self._copied()
        visitor, title = self._visitor, self._location.title
        try:
            with visitor._running().tab() as page:
                page.go(url)
                yield visitor
        except CdpFailed as error:
            msg = f"{title} cannot go to {url}: {error}; see that a service answers there"
            raise EnvironmentFailed(msg) from error

    def clone(self, root: Path) -> "OpenedBrowser":
        """Return a copy of the present state, which must be started.

        The copy does not have scripts' changes of a page, or text typed into it.

        Raises:
            EnvironmentFailed: It refuses to be read.
        """
        try:
            seen = self._ask(lambda: self._read_state(()))
        except _Ended:
            return OpenedBrowser(self._location, self._seed)
        return OpenedBrowser(self._location, seen.snapshot(), is_copy=True)

    def close(self) -> None:
        """End it. Idempotent."""
        self._visits.close()
        self._visitor = None
        if self._server is not None:
            self._server.close()

    def _copied(self) -> "OpenedBrowser":
        seen = self._ask(lambda: self._read_state(()))
        with ExitStack() as stack:
            copies: dict[str, Opened] = {}
            for name, part in self._services.items():
                copies[f"http:{name}"] = part.clone(Path())
                stack.callback(copies[f"http:{name}"].close)
            seed = BrowserSnapshot(seen.snapshot().cookies, seen.local, (Tab(BLANK),))
            visitor = OpenedBrowser(self._location, seed, is_copy=True)
            stack.callback(visitor.close)
            visitor.start(copies)
            self._visits.push(stack.pop_all())
        return visitor

    def _read_state(self, selectors: Sequence[str]) -> BrowserState:
        return observe(self._running(), self._names, selectors, {*self._seed.local})

    def _running(self) -> BrowserServer:
        assert self._server is not None, "it has to be started"  # noqa: S101 - callers start it first
        return self._server

    def _ask(self, ask: Callable[[], Answer]) -> Answer:
        title = self._location.title
        try:
            return self._patiently(ask)
        except BrowserClosed as error:
            msg = f"{title} has ended; let the agent leave it open"
            raise _Ended(msg) from error
        except WrongSelector as error:
            msg = f"{title}: {error}; correct it"
            raise EnvironmentFailed(msg) from error
        except CdpFailed as error:
            msg = f"{title} does not answer: {error}; see that memory is not full"
            raise EnvironmentFailed(msg) from error

    def _patiently(self, ask: Callable[[], Answer]) -> Answer:
        try:
            return ask()
        except BrowserError:
            # A browser that is about to end refuses every request.
            if not self._running().ends_soon():
                raise
            return ask()


class _Ended(EnvironmentFailed):
    """Its agent has ended the browser."""


def _fill(server: BrowserServer, seed: BrowserSnapshot, *, must_load: bool) -> None:
    """Fill a new browser with a snapshot, which replaces its blank page."""
    if seed.cookies:
        server.ask("Storage.setCookies", cookies=[*seed.cookies])
    if seed.local:
        with server.tab(hidden=True) as page:
            _store(page, seed.local, local=True)
    blank, *_ = server.targets()
    for index, tab in enumerate(seed.tabs):
        with server.page(server.new_tab() if index else blank) as page:
            if tab.session:
                _store(page, tab.session, local=False)
            with nullcontext() if must_load else suppress(CdpFailed):
                if tab.url != BLANK:
                    page.go(tab.url)
            page.forget_history()


def _store(page: Page, storage: Mapping[str, Items], *, local: bool) -> None:
    with page.blank():
        for origin, items in storage.items():
            page.store(page.go_blank(origin), items, local=local)
