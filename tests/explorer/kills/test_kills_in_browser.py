"""Pages of kills in a real browser: any screen, both color schemes, keys."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser
from tests.explorer.browser import LOW_CONTRAST, chromium, needs_chromium, serving, watched
from tests.explorer.kills.test_kill_pages import lake_of_kills
from tests.explorer.lakes import explorer

pytestmark = needs_chromium
PAGES = ("kills", "runs/t4/kill", "runs/t2/kill", "runs/t1", "releases")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of pages over a lake with kills."""
    lake = lake_of_kills(tmp_path_factory.mktemp("kills") / "lake")
    with closing(explorer(lake)) as pages, closing(pages.latest), serving(pages) as address:
        yield address


def test_kills_fit_any_screen_and_can_be_read(browser: Browser, base: str) -> None:
    """Only tables scroll sideways; texts stand out in light and dark; the console is silent."""
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    with watched(browser, base) as seen:
        for path in PAGES:
            seen.open(f"/{path}")
            for width in (320, 390, 1_440):
                seen.page.set_viewport_size({"width": width, "height": 900})
                assert seen.page.evaluate(wide) == 0, (path, width)
            for scheme in ("light", "dark"):
                seen.page.emulate_media(color_scheme=scheme)
                assert seen.page.evaluate(LOW_CONTRAST) == [], (path, scheme)
            assert (seen.said, seen.foreign) == ([], []), path


def test_run_leads_to_its_kill_in_one_click(browser: Browser, base: str) -> None:
    """The line below the headline opens the page of the kill."""
    with watched(browser, base) as seen:
        seen.open("/runs/t4")
        with seen.page.expect_navigation():
            seen.page.get_by_role("link", name="Killed after call 12").click()

        assert "3 objects stay changed" in seen.page.locator("h1").inner_text()


def test_keys_lead_from_kill_to_kill_and_to_its_run(browser: Browser, base: str) -> None:
    """`[` and `]` between the kills of a run, `t` to the run that was not killed and back."""
    with watched(browser, base) as seen:
        seen.open("/runs/t4/kill")
        for key, path in (("[", "/runs/t3/kill"), ("]", "/runs/t4/kill"), ("t", "/runs/t1"),
                          ("t", "/runs/t2/kill")):  # fmt: skip
            with seen.page.expect_navigation():
                seen.page.keyboard.press(key)
            assert seen.page.url.endswith(path)
        assert seen.said == []


def test_diff_of_an_object_opens_by_key(browser: Browser, base: str) -> None:
    """`o` on its row shows what changed in it."""
    with watched(browser, base) as seen:
        seen.open("/runs/t4/kill")
        rows = seen.page.locator("[data-row]")
        diff = rows.nth(2).locator("pre.diff").first
        assert not diff.is_visible()
        for key in ("j", "j", "j", "o"):
            seen.page.keyboard.press(key)
        diff.wait_for()
        assert "1,<b>21</b>" in diff.inner_text()
