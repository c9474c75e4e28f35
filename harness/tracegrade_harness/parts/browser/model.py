"""Browsers and verifiers of their pages, as suites declare them."""

from typing import Annotated, Literal

from pydantic import Field

from tracegrade_harness.suite.defaults import Network
from tracegrade_harness.suite.strict import Glob, Name, Seconds, Strict
from tracegrade_scoring.tasks.model import Wanted


class BrowserCookie(Strict):
    """A cookie that a browser has at first."""

    name: Name
    value: str
    url: Annotated[str, Field(pattern="^https?://")] | None = None
    """URL to which the cookie belongs; without it, the address at which the browser starts."""
    path: Annotated[str, Field(pattern="^/")] = "/"
    secure: bool = False
    http_only: bool = False
    same_site: Literal["Strict", "Lax", "None"] | None = None


class BrowserStorage(Strict):
    """The initial storage of an origin."""

    local: dict[Name, str] = Field(default_factory=dict)
    session: dict[Name, str] = Field(default_factory=dict)
    """Session storage of the tab in which the browser starts."""


class Browser(Strict):
    """A Chromium with a new profile, whose pages find HTTP services as `http://mail/inbox`."""

    url: Annotated[str, Field(pattern="^(https?://|about:blank$)")]
    """Address at which the browser starts."""
    url_env: Name | None = None
    """Environment variable that gets the URL of the browser's DevTools protocol."""
    network: Network = "none"
    """`none`: the browser reaches the environment's HTTP services, and in bubblewrap nothing else.
    `open`: it reaches every host that this machine can reach."""
    cookies: list[BrowserCookie] = Field(default_factory=list)
    storage: dict[Annotated[str, Field(pattern="^https?://[^/]+$")], BrowserStorage] = Field(
        default_factory=dict
    )
    """Storage by origin, such as `http://mail`."""
    watch: list[Name] = Field(default_factory=list)
    """CSS selectors; the elements that the tabs show for each are an object."""
    ignore: list[Glob] = Field(default_factory=list)
    """Objects, such as `cookie:mail/csrf`, whose changes do not matter."""


class DomVerifier(Strict):
    """Elements of pages fit; keys that are not given allow any value."""

    dom: Name
    """The browser."""
    url: Annotated[str, Field(pattern="^https?://")] | None = None
    """A page to open in a copy of the browser, with its cookies and storage. Without it, the pages
    that the agent left open count."""
    selector: Name
    """A CSS selector."""
    text: Wanted = None
    """Value or rule for an element's visible text; each run of white space is one space."""
    value: Wanted = None
    """Value or rule for the value of a form's field."""
    attributes: dict[Name, Wanted] | None = None
    """Name → value or rule."""
    visible: bool | None = None
    """Whether a matching element must be visible."""
    count: Wanted = None
    """Value or rule for the number of elements that fit; without it, at least one must fit."""
    timeout_secs: Seconds = 10
    """With `url`: seconds that scripts may take until the elements fit."""
