"""A reader in a real Chromium, whose clicks and keys the browser itself counts."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from playwright.sync_api import Browser, Locator, Page
from tests.explorer.browser import Watched, watched

COUNTER: Final = """
for (const kind of ["click", "keydown"]) {
  addEventListener(kind, (event) => {
    if (!event.isTrusted || ["Alt", "Control", "Meta", "Shift"].includes(event.key)) return;
    const writes = kind === "keydown" && !event.ctrlKey && event.target.matches("input, textarea");
    if (event.detail > 0 || kind === "keydown") window.noteAction(writes ? "written" : kind);
  }, true);
}
"""
"""Notes each click and key of a person, and not what a page clicks by itself."""


@dataclass
class StoryReader:
    """A page, how often its reader clicked and pressed a key, and since when."""

    seen: Watched
    actions: list[str] = field(default_factory=list)
    begun: float = 0.0
    ended: float = 0.0
    """When the reader last saw what was looked for."""

    def note(self, action: str) -> None:
        """Note an action that the browser reports."""
        self.actions.append(action)

    @property
    def page(self) -> Page:
        """The page in the browser."""
        return self.seen.page

    @property
    def secs(self) -> float:
        """Seconds from the beginning to what was last seen."""
        return self.ended - self.begun

    @property
    def counted(self) -> int:
        """Clicks and keys so far, without those that write into a field."""
        return len([each for each in self.actions if each != "written"])

    def begin(self, path: str) -> None:
        """Open the page on which the story begins."""
        self.seen.open(path)
        self.page.wait_for_load_state()
        self.actions.clear()
        self.begun = time.monotonic()

    def follow(self, link: Locator) -> None:
        """Click what leads to another page."""
        with self.page.expect_navigation():
            link.click()

    def press(self, key: str, *, leads_away: bool = False) -> None:
        """Press a key, and wait for the page to which it leads."""
        if not leads_away:
            self.page.keyboard.press(key)
            return
        with self.page.expect_navigation():
            self.page.keyboard.press(key)

    def sees(self, found: Locator) -> str:
        """Wait until something is visible; return its text, blanks as one."""
        found.wait_for()
        self.ended = time.monotonic()
        return " ".join(found.inner_text().split())


@contextmanager
def reader_at(browser: Browser, base: str) -> Iterator[StoryReader]:
    """Yield a reader of the pages at an address, who may copy; nothing may complain."""
    options: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
    if base.startswith("http"):
        options["permissions"] = ["clipboard-read", "clipboard-write"]
    with watched(browser, base, **options) as seen:
        found = StoryReader(seen)
        seen.page.expose_function("noteAction", found.note)
        seen.page.add_init_script(COUNTER)
        yield found
        assert (seen.said, seen.foreign) == ([], [])
