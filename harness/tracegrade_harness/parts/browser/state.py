"""Reads the whole state of a browser, as named objects and as a snapshot to restore.

`browser:PART` is the browser and `…/cookie:HOST/PATH/NAME` a cookie. `…/local:ORIGIN/KEY` is a
value in an origin's storage, `…/session:ORIGIN/KEY` a value in the storage of its tabs.
`…/dom:SELECTOR` is the content that the tabs show for a selector which the suite watches.
`…/page:URL` is the address of a tab. It is hidden, because opening another page changes nothing.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from xxhash import xxh3_128_hexdigest

from tracegrade_harness.parts.browser.cdp import BrowserClosed, BrowserTimeout, CdpFailed
from tracegrade_harness.parts.browser.pages import Element, Page, WrongSelector
from tracegrade_harness.parts.browser.server import BrowserServer
from tracegrade_harness.parts.browser.snapshot import (
    BLANK,
    BrowserSnapshot,
    Items,
    ServiceNames,
    Tab,
    origin_of,
    settable,
)
from tracegrade_harness.parts.globs import Globs
from tracegrade_harness.parts.names import part_text, path_text
from tracegrade_harness.parts.state_reading import StateReading

WHERE_TABS_ARE: Final = "page:*"
"""The rule that hides the addresses of tabs."""
MOST_ORIGINS: Final = 100
"""Most origins without an open tab whose storage is read."""
_TRIES: Final = 3


@dataclass
class BrowserState:
    """A browser at one moment; origins and addresses have services by name."""

    cookies: list[dict[str, Any]] = field(default_factory=list)
    """Cookies as the browser reports them."""
    local: dict[str, Items] = field(default_factory=dict)
    """Local storage by origin."""
    tabs: list[Tab] = field(default_factory=list)
    elements: dict[str, list[Element]] = field(default_factory=dict)
    """Elements of all tabs, by selector."""
    silent: list[str] = field(default_factory=list)
    """Addresses of pages that did not answer."""
    contexts: int = 0
    """Number of contexts that an agent has made outside of the profile; they are not read."""
    unknown: int = 0
    """Number of origins whose storage was not read."""

    def snapshot(self) -> BrowserSnapshot:
        """Return the state that can be restored in another browser."""
        shown = (tab for tab in self.tabs if origin_of(tab.url) is not None)
        tabs = tuple(shown) or (Tab(BLANK),)
        return BrowserSnapshot(tuple(map(settable, self.cookies)), self.local, tabs)


def observe(
    server: BrowserServer, names: ServiceNames, selectors: Sequence[str], known: set[str]
) -> BrowserState:
    """Read the state of a browser.

    Args:
        server: The browser.
        names: The addresses of its services.
        selectors: Selectors to evaluate in pages.
        known: Origins with initial storage.

    Raises:
        BrowserClosed: It has ended.
        WrongSelector: A selector is invalid.
        CdpFailed: It refuses.
    """
    for tries_left in reversed(range(_TRIES)):
        seen, is_whole = _observe_once(server, names, selectors, known)
        if is_whole or not tries_left:
            break
    return seen


def _observe_once(
    server: BrowserServer, names: ServiceNames, selectors: Sequence[str], known: set[str]
) -> tuple[BrowserState, bool]:
    """Read the state, and return whether all tabs stayed at their addresses during that time."""
    seen = BrowserState(elements={each: [] for each in selectors})
    seen.contexts = len(server.contexts())
    seen.cookies = server.ask("Storage.getCookies")["cookies"]
    origins, present, is_whole = {*server.events.visited, *known}, set[str](), True
    for target in server.targets():
        url = names.named(target["url"])
        try:
            with server.page(target) as page:
                _observe_page(page, url, names, seen, present)
                origins |= page.history()
        except (BrowserClosed, WrongSelector):
            raise
        except BrowserTimeout:
            if target["targetId"] in server.events.crashed:
                seen.tabs.append(Tab(url))
            else:
                seen.silent.append(url)
            present |= {origin_of(target["url"]) or ""}
        except CdpFailed:
            is_whole = False
    _observe_storage(server, sorted(origins - present), names, seen)
    return seen, is_whole


def read(seen: BrowserState, title: str, ignore: Globs) -> StateReading:
    """Return the objects of an observed state.

    Args:
        seen: The state of the browser.
        title: Prefix of the names of objects, such as `browser:shop`.
        ignore: Globs over names without the title.
    """
    found: dict[str, list[Any]] = defaultdict(list)
    for name, value in _objects(seen):
        found[name].append(value)
    reading = StateReading({title: "browser"})
    for name, values in found.items():
        reading.add(f"{title}/{name}", _digest(values), ignore.rule(name))
    for tab in seen.tabs:
        reading.add(f"{title}/page:{path_text(tab.url)}", "page", WHERE_TABS_ARE)
    notes = {
        "contexts outside the profile": seen.contexts,
        "origins without a tab": seen.unknown,
    }
    if counts := [f"{number} {what}" for what, number in notes.items() if number]:
        reading.notes[title] = f"not looked into: {', '.join(counts)}"
    return reading


def _objects(seen: BrowserState) -> Iterator[tuple[str, Any]]:
    """Yield names, without the part's, and values; values of one name form one object."""
    for cookie in seen.cookies:
        yield _cookie_name(cookie), _of_cookie(cookie)
    yield from _stored("local", seen.local)
    for tab in seen.tabs:
        yield from _stored("session", tab.session)
    for selector, elements in seen.elements.items():
        for element in elements:
            yield f"dom:{path_text(selector)}", element._asdict()
    for url in seen.silent:
        yield f"page:{path_text(url)}", "unreadable: its scripts do not end"


def _stored(kind: str, storage: Mapping[str, Items]) -> Iterator[tuple[str, str]]:
    for origin, items in storage.items():
        for key, value in items.items():
            yield f"{kind}:{path_text(origin)}/{part_text(key)}", value


def _observe_page(
    page: Page, url: str, names: ServiceNames, seen: BrowserState, present: set[str]
) -> None:
    """Read a tab, or a frame that has a process of its own."""
    session: dict[str, Items] = {}
    frames = page.frames()
    for key in sorted({frame.key for frame in frames}):
        origin = names.named(key).removesuffix("/")
        _add(seen.local, origin, page.items(key, local=True))
        _add(session, origin, page.items(key, local=False))
        present.add(key.removesuffix("/"))
    is_source = page.url.startswith("view-source:")  # a page of the browser itself
    found = page.elements([] if is_source else frames, [*seen.elements])
    for selector, elements in zip(seen.elements, found, strict=True):
        seen.elements[selector] += elements
    if page.is_tab:
        seen.tabs.append(Tab(url, session))


def _observe_storage(
    server: BrowserServer, origins: Sequence[str], names: ServiceNames, seen: BrowserState
) -> None:
    """Read the storage of origins without an open page."""
    if not origins:
        return
    seen.unknown = len(origins[MOST_ORIGINS:])
    with server.tab(hidden=True) as page, page.blank():
        for origin in origins[:MOST_ORIGINS]:
            try:
                items = page.items(page.go_blank(origin), local=True)
            except BrowserClosed:
                raise
            except CdpFailed:  # no page can exist there, so nothing is stored
                continue
            _add(seen.local, names.named(origin), items)


def _add(storage: dict[str, Items], origin: str, items: Items) -> None:
    if items:
        storage[origin] = {**storage.get(origin, {}), **items}


def _cookie_name(cookie: Mapping[str, Any]) -> str:
    path = cookie["path"].rstrip("/")
    return f"cookie:{path_text(cookie['domain'] + path)}/{part_text(cookie['name'])}"


def _of_cookie(cookie: Mapping[str, Any]) -> list[Any]:
    keys = ("value", "secure", "httpOnly", "sameSite", "session", "partitionKey")
    return [cookie.get(key) for key in keys]


def _digest(values: list[Any]) -> str:
    """Return a digest of values, which does not depend on their order."""
    texts = sorted(json.dumps(each, sort_keys=True) for each in values)
    return xxh3_128_hexdigest("\n".join(texts).encode())
