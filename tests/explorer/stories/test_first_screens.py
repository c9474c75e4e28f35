"""What a stranger sees first of a run of an order desk, of τ-bench, and of teams of agents."""

from collections.abc import Callable
from typing import Final

import pytest
from playwright.sync_api import Browser
from tests.explorer.browser import needs_chromium, watched
from tests.explorer.run_view.first_screen import LEAST_SHARE, SCREEN, first_screens
from tests.explorer.stories.conftest import ServedLake
from tests.explorer.stories.lakes import ask

pytestmark = [needs_chromium, pytest.mark.slow]
Served = Callable[[str], ServedLake]
LAKES: Final = ("order desk", "airline", "teams")
FAILED: Final = """
SELECT trajectory_id, step_index FROM run_reasons
JOIN trajectory_scores USING (trajectory_id)
WHERE rank_in_run = 1 AND trajectory_scores.success.value = 0
    AND step_trajectory_id = trajectory_id
ORDER BY ALL
"""
"""Failed runs whose first reason has a step."""
NEVER_CALLED: Final = """
SELECT trajectory_id FROM run_reasons
JOIN trajectory_scores USING (trajectory_id)
WHERE rank_in_run = 1 AND trajectory_scores.success.value = 0 AND kind = 'never_called'
    AND step_index IS NULL
ORDER BY ALL
"""
"""Failed runs whose first reason is a call that was not made."""


@pytest.mark.parametrize("name", LAKES)
def test_verdict_plan_and_steps_are_on_the_first_screen(
    browser: Browser, served: Served, name: str
) -> None:
    """Of nine runs in ten, and their first finding, too; no page is higher than its steps need."""
    found = first_screens(browser, *served(name))

    assert found.share_in_place >= LEAST_SHARE, found.runs
    assert found.share_with_finding >= LEAST_SHARE, found.runs
    assert found.too_high == []


@pytest.mark.parametrize("name", ["order desk", "airline"])
def test_the_wrong_step_of_a_failed_run_is_named_first(
    browser: Browser, served: Served, name: str
) -> None:
    """The heading has its number, and leads to it; a card that it has is open."""
    lake, base = served(name)
    with watched(browser, base, viewport=SCREEN) as seen:
        for run, step in ask(lake, FAILED)[:6]:
            seen.open(f"/runs/{run}")
            link = seen.page.locator("h1.run-verdict a").first
            assert link.inner_text().endswith(f" s{step}")
            link.click()
            place = seen.page.locator(f"#s{step}:target")
            place.wait_for()
            card = place.locator(".decision-card")
            assert card.count() == 0 or card.first.is_visible()
        assert seen.said == []


def test_a_call_that_was_not_made_has_its_card_open(browser: Browser, served: Served) -> None:
    """The heading leads to it, at the end of the steps."""
    lake, base = served("airline")
    ((run,), *_) = ask(lake, NEVER_CALLED)
    with watched(browser, base, viewport=SCREEN) as seen:
        seen.open(f"/runs/{run}")
        seen.page.locator("h1.run-verdict a[href^='#missed-']").first.click()
        assert seen.page.locator("li.missed-call:target .decision-card").is_visible()
        assert seen.said == []
