"""What the first screen of a run's page holds, measured in a browser of 1,440 by 900 pixels."""

from contextlib import closing
from typing import Any, Final, NamedTuple

from playwright.sync_api import Browser
from tests.explorer.browser import watched

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect

SCREEN: Final = {"width": 1440, "height": 900}
VERDICT_PX: Final = 142
PLAN_PX: Final = 462
STEPS_PX: Final = 500
LEAST_SHARE: Final = 0.9
STEP_PX: Final = 50
LEAST_PAGE_PX: Final = 1_700
"""Height of a page of 34 steps; a longer run may have `STEP_PX` for each step."""
MEASURE: Final = """() => {
  const below = (name) => {
    const found = [...document.querySelectorAll(name)].find((each) => each.checkVisibility());
    return found ? found.getBoundingClientRect().bottom + scrollY : 0;
  };
  return {
    verdict: below("h1.run-verdict"), plan: below(".plan-card"), steps: below("#steps-title"),
    finding: below(".side-card.findings li"),
    has_finding: !!document.querySelector("[data-finding]"),
    height: document.documentElement.scrollHeight,
    lines: document.querySelectorAll("ol.lines li.step").length,
  };
}"""
RUNS: Final = """
SELECT trajectory_id FROM trajectories WHERE parent_trajectory_id IS NULL ORDER BY 1 LIMIT 40
"""


class FirstScreens(NamedTuple):
    """What was measured of some runs."""

    runs: list[dict[str, Any]]

    @property
    def share_in_place(self) -> float:
        """The share of pages on which verdict, plan and the title of the steps are in place."""
        most = {"verdict": VERDICT_PX, "plan": PLAN_PX, "steps": STEPS_PX}
        good = [all(run[name] <= px for name, px in most.items()) for run in self.runs]
        return sum(good) / len(good)

    @property
    def share_with_finding(self) -> float:
        """The share of pages with findings on which the first one is on the first screen."""
        found = [
            bool(0 < run["finding"] <= SCREEN["height"]) for run in self.runs if run["has_finding"]
        ]
        return sum(found) / len(found)

    @property
    def too_high(self) -> list[tuple[str, int]]:
        """Runs whose page is too high for its steps, with its height."""
        return [
            (run["run"], run["height"])
            for run in self.runs
            if run["height"] > max(LEAST_PAGE_PX, STEP_PX * run["lines"])
        ]


def first_screens(browser: Browser, lake: Lake, base: str) -> FirstScreens:
    """Open runs of a lake one after another, and measure their pages."""
    with connect(lake) as con, closing(con.cursor()) as cursor:
        ids = [run for (run,) in cursor.execute(RUNS).fetchall()]
    found = []
    with watched(browser, base, viewport=SCREEN) as seen:
        for run in ids:
            seen.open(f"/runs/{run}")
            found.append({"run": run, **seen.page.evaluate(MEASURE)})
        assert (seen.said, seen.foreign) == ([], [])
    return FirstScreens(found)
