"""Pages of a browser over CDP: reads their content and storage, and opens addresses."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Final, NamedTuple

from tracegrade_harness.parts.browser.cdp import BrowserTimeout, Cdp, CdpFailed
from tracegrade_harness.parts.browser.snapshot import Items, origin_of

PAGE_SECS: Final = 5.0
"""Seconds that a page may take to report its content."""
AFTER_CRASH_SECS: Final = 1.0
"""Seconds for a page that has crashed before."""
LOAD_SECS: Final = 30.0
QUIET_SECS: Final = 5.0
"""Seconds to wait, after a page has loaded, until its scripts send no more requests."""
KINDS: Final = ("page", "iframe")
_ELEMENTS: Final = Path(__file__).with_name("elements.js").read_text(encoding="utf-8")
_WORLD: Final = "tracegrade"
_BLANK: Final = "/.tracegrade"
_ALL_REQUESTS: Final = ({"urlPattern": "*"},)


class Element(NamedTuple):
    """An element that a selector finds."""

    text: str
    """The visible text; each run of white space is one space."""
    value: str | None
    """Value of a form's field; None for other elements, and for a box that is not checked."""
    attributes: Mapping[str, str]
    visible: bool
    html: str
    values: Sequence[str | None]
    """Values of the fields in it."""


class WrongSelector(CdpFailed):
    """A selector is invalid."""


class Frame(NamedTuple):
    """A document of a page."""

    id: str
    key: str
    """Key of its storage: the origin, a slash, and more if the frame is inside another origin."""


class Page:
    """An attached target: a tab, or a frame with a process of its own."""

    def __init__(
        self, cdp: Cdp, target: Mapping[str, Any], session: str, events: "Events"
    ) -> None:
        self._cdp = cdp
        self._session = session
        self._events = events
        self.id: str = target["targetId"]
        self.url: str = target["url"]
        self.is_tab = target["type"] == "page"

    def frames(self) -> list[Frame]:
        """Return its documents that come from the web."""
        tree = self._ask("Page.getFrameTree")["frameTree"]
        ids = [
            frame["id"] for frame in _frames(tree) if origin_of(frame.get("securityOrigin", ""))
        ]
        return [Frame(each, self._storage_key(each)) for each in ids]

    def _storage_key(self, frame: str) -> str:
        key: str = self._ask("Storage.getStorageKey", frameId=frame)["storageKey"]
        return key

    def items(self, key: str, *, local: bool) -> Items:
        """Return the items that are stored under the key of one of its frames."""
        storage = {"storageKey": key, "isLocalStorage": local}
        found = self._ask("DOMStorage.getDOMStorageItems", storageId=storage)["entries"]
        return dict(found)

    def store(self, key: str, items: Items, *, local: bool) -> None:
        """Store items."""
        storage = {"storageKey": key, "isLocalStorage": local}
        for name, value in items.items():
            self._ask("DOMStorage.setDOMStorageItem", storageId=storage, key=name, value=value)

    def elements(self, frames: Sequence[Frame], selectors: Sequence[str]) -> list[list[Element]]:
        """Return the elements that each selector matches in documents.

        Raises:
            WrongSelector: A selector is invalid.
        """
        found: list[list[Element]] = [[] for _ in selectors]
        for frame in frames if selectors else ():
            values = self._elements_in(frame.id, selectors)
            for of_selector, selector, elements in zip(found, selectors, values, strict=True):
                if elements is None:
                    msg = f"'{selector}' is not a CSS selector"
                    raise WrongSelector(msg)
                of_selector.extend(Element(**each) for each in elements)
        return found

    def history(self) -> set[str]:
        """Return the origins in the tab's history."""
        entries = self._ask("Page.getNavigationHistory")["entries"] if self.is_tab else []
        origins = {origin_of(entry["url"]) for entry in entries}
        return {each for each in origins if each is not None}

    def go(self, url: str) -> None:
        """Open an address, and wait until it is loaded and its scripts send no more requests.

        Raises:
            CdpFailed: No server answers there.
        """
        self._ask("Page.enable")
        self._ask("Page.setLifecycleEventsEnabled", enabled=True)
        try:
            reached = self._ask("Page.navigate", wait_secs=LOAD_SECS, url=url)
            if "errorText" in reached:
                raise CdpFailed(reached["errorText"])
            loader = reached.get("loaderId")
            if loader is not None and not self._comes("load", loader, LOAD_SECS):
                msg = f"the page does not load in {LOAD_SECS:g} s"
                raise BrowserTimeout(msg)
            if loader is not None:
                self._comes("networkIdle", loader, QUIET_SECS)
        finally:
            with suppress(CdpFailed):
                self._ask("Page.disable")

    @contextmanager
    def blank(self) -> Iterator["Page"]:
        """Answer all requests of the page with nothing, while the block lasts."""
        self._ask("Network.enable")
        self._ask("Network.setBypassServiceWorker", bypass=True)
        self._ask("Fetch.enable", patterns=_ALL_REQUESTS)
        try:
            yield self
        finally:
            with suppress(CdpFailed):
                self._ask("Fetch.disable")
                self._ask("Network.disable")

    def go_blank(self, origin: str) -> str:
        """Open an origin, in a `blank` block; return the key of its storage."""
        self._ask("Page.navigate", wait_secs=LOAD_SECS, url=f"{origin}{_BLANK}")
        return f"{origin}/"

    def forget_history(self) -> None:
        """Clear its history."""
        self._ask("Page.resetNavigationHistory")

    def _elements_in(self, frame: str, selectors: Sequence[str]) -> list[Any]:
        made = self._ask("Page.createIsolatedWorld", frameId=frame, worldName=_WORLD)
        values = self._ask(
            "Runtime.evaluate",
            contextId=made["executionContextId"],
            expression=f"({_ELEMENTS})({json.dumps(selectors)})",
            returnByValue=True,
            timeout=PAGE_SECS * 1000,
        )
        if "exceptionDetails" in values:
            raise CdpFailed(values["exceptionDetails"].get("text", "its page cannot be read"))
        found: list[Any] = values["result"]["value"]
        return found

    def _comes(self, name: str, loader: str, wait_secs: float) -> bool:
        """Wait for a moment in the life of a document; return whether it came."""
        ends = time.monotonic() + wait_secs
        events = self._events.of(self._session)
        while (left := ends - time.monotonic()) > 0:
            try:
                event = events.get(timeout=left)
            except Empty:
                return False
            given = event["params"]
            of_it = event["method"] == "Page.lifecycleEvent" and given["loaderId"] == loader
            if of_it and given["name"] == name:
                return True
        return False

    def _ask(self, method: str, /, wait_secs: float | None = None, **given: Any) -> dict[str, Any]:
        patience = AFTER_CRASH_SECS if self.id in self._events.crashed else PAGE_SECS
        secs = patience if wait_secs is None else wait_secs
        return self._cdp.ask(method, self._session, wait_secs=secs, **given)


class Events:
    """Events of a connection: the origins of tabs, and the events that pages wait for."""

    def __init__(self) -> None:
        self.visited: set[str] = set()
        """Origins."""
        self.crashed: set[str] = set()
        """Targets that show and answer nothing until they are loaded again."""
        self._queues: dict[str, Queue[dict[str, Any]]] = {}
        self.answer: Any = None
        """Sends a method without waiting for its answer, as soon as there is a connection."""

    def of(self, session: str) -> "Queue[dict[str, Any]]":
        """Return the queue of a session's events."""
        return self._queues.setdefault(session, Queue())

    def forget(self, session: str) -> None:
        """Drop the events of a session."""
        self._queues.pop(session, None)

    def take(self, event: dict[str, Any]) -> None:
        """Receive an event."""
        given, session = event.get("params", {}), event.get("sessionId")
        if event["method"] in ("Target.targetCreated", "Target.targetInfoChanged"):
            origin = origin_of(given["targetInfo"]["url"])
            self.visited |= set() if origin is None else {origin}
        elif event["method"] == "Target.targetCrashed":
            self.crashed.add(given["targetId"])
        elif event["method"] == "Fetch.requestPaused":
            html = [{"name": "content-type", "value": "text/html"}]
            answer = {"requestId": given["requestId"], "responseCode": 200, "body": ""}
            self.answer("Fetch.fulfillRequest", session, **answer, responseHeaders=html)
        elif session in self._queues:
            self._queues[session].put(event)


@contextmanager
def attached(cdp: Cdp, target: Mapping[str, Any], events: Events) -> Iterator[Page]:
    """Attach to a target while the block lasts; other clients that are attached do not notice."""
    session = cdp.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)[
        "sessionId"
    ]
    events.of(session)
    try:
        yield Page(cdp, target, session, events)
    finally:
        events.forget(session)
        with suppress(CdpFailed):
            cdp.ask("Target.detachFromTarget", sessionId=session)


def _frames(tree: Mapping[str, Any]) -> Iterator[Any]:
    yield tree["frame"]
    for child in tree.get("childFrames", ()):
        yield from _frames(child)
