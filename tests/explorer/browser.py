"""A real Chromium at the explorer's pages; skips tests where there is none."""

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright
from tests.waiting import wait_until

from tracegrade_collector.edge.address import Address
from tracegrade_explorer.app import Explorer
from tracegrade_explorer.guard import Guard, Rules, allowed_hosts

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
REQUIRED = os.environ.get("TRACEGRADE_BROWSER") == "required"
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None and not REQUIRED, reason="Debian's package chromium is not here"
)
VIOLATIONS = (
    "document.addEventListener('securitypolicyviolation', (event) => "
    "console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI));"
)


LOW_CONTRAST = """() => {
  const channel = (value) => value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const parts = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) =>
    0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b) + 0.05;
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const found = parts(getComputedStyle(each).backgroundColor);
      if (found.length === 3 || found[3] === 1) return light(found);
    }
    return 1.05;
  };
  const isText = (node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim();
  const low = (element) => {
    const [one, other] = [light(parts(getComputedStyle(element).color)), ground(element)];
    return Math.max(one, other) / Math.min(one, other) < 4.5;
  };
  return [...document.querySelectorAll("body *:not(svg *)")]
    .filter((each) => [...each.childNodes].some(isText) && each.checkVisibility() && low(each))
    .map((each) => `${each.tagName} ${each.className}: ${each.textContent.trim().slice(0, 40)}`);
}"""
"""Texts with a contrast of less than 4.5 : 1 to their background (WCAG 2.2, 1.4.3)."""


@dataclass
class Watched:
    """A page in a browser, with its messages and its requests to other hosts."""

    page: Page
    base: str
    said: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    loads: int = 0
    pressed: int = 0
    """Keys."""

    def open(self, path: str) -> None:
        """Open an address of ours."""
        self.page.goto(self.base + path)

    def note(self, request: Request) -> None:
        """Note a request."""
        self.loads += request.is_navigation_request()
        if not request.url.startswith((self.base, "data:")):
            self.foreign.append(request.url)

    def keys(self, *keys: str) -> None:
        """Press keys one after another."""
        for key in keys:
            self.page.keyboard.press(key)
            self.pressed += 1


@contextmanager
def serving(pages: Explorer) -> Iterator[str]:
    """Serve pages on loopback, and yield where."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    rules = Rules(allowed_hosts(Address("127.0.0.1", port), ()), None, "cookie", tls=False)
    app = Guard(pages.app(), rules)
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    wait_until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser that reaches this machine and nothing else."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM,
            args=[
                "--no-sandbox",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            ],
        )
        yield browser
        browser.close()


@contextmanager
def watched(browser: Browser, base: str, **options: object) -> Iterator[Watched]:
    """Open an empty page that records everything."""
    context: BrowserContext = browser.new_context(**options)  # type: ignore[arg-type]
    context.set_default_timeout(120_000)
    context.add_init_script(VIOLATIONS)
    page = context.new_page()
    found = Watched(page, base)
    page.on("console", lambda message: found.said.append(message.text))
    page.on("pageerror", lambda error: found.said.append(str(error)))
    page.on("request", found.note)
    yield found
    context.close()
