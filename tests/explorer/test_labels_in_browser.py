"""Labels in a real Chromium: by keys alone, and where no script runs."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.explorer.browser import LOW_CONTRAST, chromium, needs_chromium, serving, watched
from tests.explorer.lakes import explorer
from tests.explorer.test_labels import rows, run_ids

from tracegrade_explorer.app import Labeling
from tracegrade_explorer.labels import writer
from tracegrade_explorer.labels.people import everybody_is
from tracegrade_explorer.labels.writer import LabelWriter
from tracegrade_lake import Lake

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with chromium() as found:
        yield found


@pytest.fixture
def lake(scored_lake: Lake, tmp_path: Path) -> Lake:
    """Scored runs, which the test may change."""
    return Lake.open(shutil.copytree(scored_lake.root, tmp_path / "lake"))


@pytest.fixture
def base(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where its pages are served to ann; nothing is scored meanwhile."""
    monkeypatch.setattr(writer, "SCORE_AFTER_SECS", 3600.0)
    with closing(explorer(lake)) as pages, closing(pages.latest):
        pages.labeling = Labeling(everybody_is("ann"), LabelWriter(str(lake.root)))
        with serving(pages) as found:
            yield found


def test_runs_are_labeled_by_keys_alone(browser: Browser, base: str, lake: Lake) -> None:
    """Verdict, step, note and the next run, till the queue is empty; the last is taken back."""
    count = len(run_ids(lake))
    with watched(browser, base) as seen:
        seen.open("/queue?order=newest")
        seen.keys("0", "j", "j", "f", "m")
        seen.page.keyboard.type("read it thrice")
        with seen.page.expect_navigation():
            seen.keys("Escape", "n")
        for _ in range(count - 2):
            seen.keys("1")
            with seen.page.expect_navigation():
                seen.keys("n")
        seen.page.wait_for_selector("[data-undo]")
        assert "Take back" in seen.page.inner_text("#label")
        with seen.page.expect_navigation():
            seen.keys("z")
        assert seen.said == []
    counted = rows(lake, "counted_verdicts")
    assert [row[2] for row in counted].count("good") == count - 3
    assert counted[0][:5:4] == ("success", "read it thrice")
    assert [row[0] for row in counted[:2]] == ["success", "step"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_the_card_fits_and_is_legible(
    browser: Browser, base: str, width: int, scheme: str
) -> None:
    """On a wide and a narrow screen, in both schemes; a phone has the bar at the foot."""
    with watched(browser, base) as seen:
        seen.page.set_viewport_size({"width": width, "height": 900})
        seen.open(f"/queue?order=newest&scheme={scheme}")
        assert seen.page.evaluate(LOW_CONTRAST) == []
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert seen.page.evaluate(overflow) == 0
        assert seen.page.locator(".label-bar").is_visible() == (width < 600)
        assert seen.said == []


def test_a_run_is_labeled_without_script(browser: Browser, base: str, lake: Lake) -> None:
    """Three clicks: the run, the verdict, save."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{base}/runs/{run_ids(lake)[0]}")
    page.check("input[value=bad]", force=True)
    page.click("button.save")
    context.close()
    assert [row[2] for row in rows(lake) if row[0] == "success"] == ["bad"]
