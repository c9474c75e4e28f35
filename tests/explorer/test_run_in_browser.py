"""The page of a run in a real Chromium: from a box to a step, from a decision to its prompt."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser
from tests.explorer.browser import LOW_CONTRAST, chromium, needs_chromium, serving, watched
from tests.explorer.lakes import explorer
from tests.explorer.test_decision_card import HOSTILE, fill
from tests.explorer.test_plan_graph import needs_graphviz
from tests.scoring.report.build import Tables, as_lake

pytestmark = [needs_chromium, needs_graphviz]
PLANS = (
    f'[{{"id": "look"}}, {{"id": "settle"}}, {{"id": "{HOSTILE}", "effect": "destructive"}}]',
    '[{"id": "look"}, {"id": "again"}, {"id": "settle"}]',
)
PAST_THE_EDGE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
IN_VIEW = "document.activeElement.getBoundingClientRect().top >= 0 && "
IN_VIEW += "document.activeElement.getBoundingClientRect().top < innerHeight"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a run with a plan, sub-goals and wrong decisions is served as `/runs/t1`."""
    with closing(Tables()) as tables:
        run = fill(tables)
        for index, plan in zip((6, 8), PLANS, strict=True):
            tables.insert("steps", trajectory_id=run, step_index=index, kind="plan", plan=plan)
        tables.insert("steps", trajectory_id=run, step_index=7, kind="tool_call", tool_name="pay",
                      status="error", arguments="{}", sub_goal="settle")  # fmt: skip
        for index in range(9, 60):
            tables.insert("steps", trajectory_id=run, step_index=index, kind="tool_call",
                          tool_name=f"t{index}", status="ok", sub_goal="look")  # fmt: skip
        for goal, deps in (("look", []), ("settle", ["look"]), (HOSTILE, ["settle"])):
            tables.insert("sub_goals", trajectory_id=run, sub_goal=goal, critical=True, weight=1.0,
                          attempted=goal != HOSTILE, completed=goal == "look", deps=deps,
                          task_id="bill")  # fmt: skip
        lake_root = tmp_path_factory.mktemp("run") / "lake"
        lake = as_lake(tables, lake_root)
    with closing(explorer(lake)) as pages, closing(pages.latest), serving(pages) as found:
        yield found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone_and_can_be_read(browser: Browser, base: str, scheme: str) -> None:
    """In both colors; the graph scrolls in its own frame, and nothing of a trace acts."""
    options = {"viewport": {"width": 390, "height": 800}, "color_scheme": scheme}
    with watched(browser, base, **options) as seen:
        seen.open("/runs/t1")
        assert seen.page.evaluate(PAST_THE_EDGE) == 0
        assert seen.page.evaluate(LOW_CONTRAST) == []
        assert seen.page.locator("svg.plan-graph").count() == 2
        seen.page.set_viewport_size({"width": 1440, "height": 900})
        assert seen.page.evaluate(PAST_THE_EDGE) == 0
        assert (seen.said, seen.foreign) == ([], [])


def test_a_square_leads_to_its_step(browser: Browser, base: str) -> None:
    """A click on a number in a box; the step comes into view, and a key opens it."""
    with watched(browser, base, viewport={"width": 1440, "height": 900}) as seen:
        seen.open("/runs/t1")
        seen.page.locator("svg.plan-graph a[href='#s20']").click()
        assert seen.page.url.endswith("#s20")
        box = seen.page.locator("#s20").bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 900
        seen.page.locator("#s20").focus()
        seen.keys("o")
        assert seen.page.locator("#s20 > details[open]").count() == 1


def test_a_link_from_elsewhere_opens_its_step(browser: Browser, base: str) -> None:
    """And the next finding is a key away, the call that was never made among them."""
    with watched(browser, base) as seen:
        seen.open("/runs/t1#s2")
        seen.page.locator("#s2:focus").wait_for()
        assert seen.page.locator("#s2 .decision-card").is_visible()
        places = []
        for _ in range(3):
            seen.keys("e")
            places.append(seen.page.evaluate("document.activeElement.id"))
            assert seen.page.evaluate(IN_VIEW)
        assert places == ["s4", "missed-1", "s1"]
        assert seen.said == []


def test_a_prompt_comes_on_a_click(browser: Browser, base: str) -> None:
    """In its place, each message by its role; where it was not recorded, the card says so."""
    with watched(browser, base) as seen:
        seen.open("/runs/t1#s2")
        card = seen.page.locator("#s2 .decision-card")
        link = card.get_by_role("link", name="what the model was given")
        link.click()
        link.wait_for(state="detached")
        (message,) = card.locator(".bubble").all()
        assert message.inner_text().endswith(f"Pay 40 {HOSTILE}")
        assert "not recorded" in seen.page.locator("#s1 .decision-card").inner_text()
        assert (seen.said, seen.foreign) == ([], [])
