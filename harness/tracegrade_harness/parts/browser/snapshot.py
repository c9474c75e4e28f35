"""A browser's state, which another one can restore: cookies, storage, and open tabs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from tracegrade_harness.parts.browser.model import Browser, BrowserCookie
from tracegrade_harness.parts.part import ServiceAddress

Items: TypeAlias = Mapping[str, str]
"""Keys and values of a storage."""
BLANK: Final = "about:blank"
_SETTABLE: Final = (
    *("name", "value", "path", "secure", "httpOnly", "sameSite"),
    *("priority", "sourceScheme", "partitionKey"),
)


class Tab(NamedTuple):
    """A page in a tab."""

    url: str
    session: Mapping[str, Items] = {}
    """Session storage of the tab, by origin."""


@dataclass(frozen=True)
class BrowserSnapshot:
    """The whole content. Origins and addresses have services by name, not by port."""

    cookies: tuple[Mapping[str, Any], ...] = ()
    """Cookies in the form of `Storage.setCookies`."""
    local: Mapping[str, Items] = field(default_factory=dict)
    """Local storage by origin."""
    tabs: tuple[Tab, ...] = (Tab(BLANK),)

    def as_json(self) -> str:
        """Return it as a text, which `of_json` reads."""
        return json.dumps([self.cookies, self.local, [[*tab] for tab in self.tabs]])

    @classmethod
    def of_json(cls, text: str) -> "BrowserSnapshot":
        """Return the snapshot in a text of `as_json`."""
        cookies, local, tabs = json.loads(text)
        return cls(tuple(cookies), local, tuple(Tab(*tab) for tab in tabs))


def declared(browser: Browser) -> BrowserSnapshot:
    """Return the snapshot that a suite declares."""
    session = {origin: each.session for origin, each in browser.storage.items() if each.session}
    return BrowserSnapshot(
        tuple(_cookie(each, browser.url) for each in browser.cookies),
        {origin: each.local for origin, each in browser.storage.items() if each.local},
        (Tab(browser.url, session),),
    )


def settable(cookie: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cookie in the form for setting it, from the browser's report."""
    fields = {key: cookie[key] for key in _SETTABLE if key in cookie}
    if not cookie["session"]:
        fields["expires"] = cookie["expires"]
    domain = cookie["domain"]
    if domain.startswith("."):  # else it belongs to this host alone, which only a URL can express
        fields["domain"] = domain
    scheme = "https" if cookie["secure"] else "http"
    return {**fields, "url": f"{scheme}://{domain.removeprefix('.')}{cookie['path']}"}


class ServiceNames:
    """The addresses of services, by their names in the browser."""

    def __init__(self, services: Mapping[str, ServiceAddress]) -> None:
        self._names = {
            f"http://{host}:{at.port}": f"http://{name}"
            for name, at in services.items()
            for host in (at.host, "localhost")
        }

    def named(self, url: str) -> str:
        """Return an address or origin with the service's name, if it has the service's port."""
        origin = origin_of(url)
        found = None if origin is None else self._names.get(origin)
        return url if found is None or origin is None else found + url[len(origin) :]


def origin_of(url: str) -> str | None:
    """Return the origin of a web address; None for other addresses."""
    try:
        split = urlsplit(url)
    except ValueError:
        return None
    if split.scheme not in ("http", "https") or not split.netloc:
        return None
    return f"{split.scheme}://{split.netloc.rpartition('@')[2]}"


def _cookie(cookie: BrowserCookie, url: str) -> dict[str, Any]:
    given = {
        "name": cookie.name,
        "value": cookie.value,
        "url": cookie.url or url,
        "path": cookie.path,
        "secure": cookie.secure,
        "httpOnly": cookie.http_only,
    }
    if cookie.same_site is not None:
        given["sameSite"] = cookie.same_site
    return given
