"""What has come in since a page was opened, in a real Chromium with and without scripts."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.explorer.browser import LOW_CONTRAST, chromium, needs_chromium, serving, watched
from tests.explorer.lakes import explorer, unscored
from tests.queries.traces import land
from tests.scoring.job.lakes import run

from tracegrade_explorer.app import Explorer
from tracegrade_queries.build.build import build

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with chromium() as found:
        yield found


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[Explorer]:
    """The pages over a lake with one run."""
    with closing(explorer(unscored(tmp_path / "lake"))) as found, closing(found.latest):
        yield found


def add_runs(pages: Explorer) -> None:
    """Let two runs come in."""
    land(pages.latest.lake, run(2, "look"), run(3, "pay"), seq=2)
    build(pages.latest.lake)
    assert pages.latest.refresh()


@pytest.mark.parametrize("width", [1440, 390])
def test_reader_is_offered_new_runs_and_nothing_moves(
    browser: Browser, pages: Explorer, width: int
) -> None:
    """The list stays as it is until the reader takes the offer."""
    screen = {"viewport": {"width": width, "height": 800}}
    with serving(pages) as base, watched(browser, base, **screen) as seen:
        seen.page.clock.install()
        seen.open("/runs")
        before = seen.page.inner_text("main")
        add_runs(pages)
        seen.page.clock.fast_forward(10_000)
        offer = seen.page.get_by_text("2 new runs \u2013 show")
        offer.wait_for()
        after = seen.page.inner_text("main")
        low_contrast = seen.page.evaluate(LOW_CONTRAST)
        is_wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        scrolls = seen.page.evaluate(is_wide)
        with seen.page.expect_navigation():
            offer.click()
        seen.page.get_by_text("3 of 3").wait_for()
        assert seen.said == []

    assert before == after
    assert low_contrast == []
    assert not scrolls


def test_page_loads_again_where_no_script_runs(browser: Browser, pages: Explorer) -> None:
    """A button in its head has it do so."""
    with serving(pages) as base, watched(browser, base, java_script_enabled=False) as seen:
        seen.open("/runs?sort=steps")
        seen.page.locator(".more > summary").click()
        with seen.page.expect_navigation():
            seen.page.get_by_text("load again every 10 s").click()
        address = seen.page.url
        add_runs(pages)
        seen.page.get_by_text("3 of 3").wait_for()

    assert address.endswith("/runs?sort=steps&live=1")
