"""What pages say of runs, as a reader sees it in a real browser: one lake, one server, one visit.

That each statement is right in each case is tested on rows and on HTML, which is faster.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.explorer.browser import Watched, chromium, needs_chromium, serving, watched
from tests.explorer.lakes import explorer
from tests.explorer.test_statements import fill
from tests.scoring.report.build import Tables, as_lake

from tracegrade_lake import Lake

pytestmark = [needs_chromium, pytest.mark.slow]
PICKED = (0.25, 0.75, 1.0)
"""Shares of right first picks, of the runs that have one."""


class Visit(NamedTuple):
    """A page, and the runs of the lake by their kind."""

    shown: Watched
    ids: dict[str, str]

    def text(self, path: str) -> str:
        """Return what a page shows, blanks as one."""
        self.shown.open(path)
        return " ".join(self.shown.page.inner_text("body").split())


def lake_of(tables: Tables, root: Path) -> dict[str, str]:
    """Fill a lake with runs of each kind, of two agents in one trace and with findings."""
    ids = fill(tables)
    ids["together"] = tables.run(agent="desk", step_count=2)
    tables.scored(ids["together"], None)
    for place, agent in enumerate(("planner", "buyer")):
        tables.insert("steps", trajectory_id=ids["together"], step_index=place, kind="tool_call",
                      tool_name="look", agent_name=agent, arguments="{}", result="1", status="ok",
                      flags=[])  # fmt: skip
    for share in PICKED:
        run = tables.run("picks", agent="picker", step_count=1)
        tables.scored(run, "pay")
        tables.score(run, "tsa", share, numerator=share, denominator=1.0)
        tables.insert("steps", trajectory_id=run, step_index=0, kind="tool_call",
                      tool_name="look", arguments="{}", status="ok", flags=[])  # fmt: skip
        if share < 1:
            tables.insert("decisions", trajectory_id=run, step_trajectory_id=run, step_index=0,
                          counted=True, correct=False, failed_criteria=["a"], picked_tool="look",
                          expected_tool="pay")  # fmt: skip
            ids["found"] = run
    as_lake(tables, root)
    return ids


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    """A page in a browser, at a server of these runs."""
    root = tmp_path_factory.mktemp("visited") / "lake"
    with ExitStack() as stack:
        tables = stack.enter_context(closing(Tables()))
        ids = lake_of(tables, root)
        made = stack.enter_context(closing(explorer(Lake.open(root))))
        stack.enter_context(closing(made.latest))
        base = stack.enter_context(serving(made))
        browser = stack.enter_context(chromium())
        yield Visit(stack.enter_context(watched(browser, base)), ids)


def test_statements_of_runs_are_seen(visit: Visit) -> None:
    """Who gave a verdict, why a killed run has no score, and when a silent run spoke last."""
    ids = visit.ids
    assert "failed; ann says bad: It <b>refunded</b> twice." in visit.text(
        f"/runs/{ids['judged']}"
    )
    killed = visit.text(f"/runs/{ids['killed']}")
    assert "the run was killed on purpose and is not an attempt" in killed
    assert "Not scored: run" not in killed
    under_way = visit.text(f"/runs/{ids['under way']}")
    assert re.search(r"Running: .*last span .* on .* \d\d:\d\d:\d\d UTC", under_way)
    assert "crashed" not in under_way


def test_steps_name_their_agents(visit: Visit) -> None:
    """Where a trace holds several, each step says whose it is."""
    together = visit.text(f"/runs/{visit.ids['together']}")
    assert "planner" in together
    assert "buyer" in together


def test_histogram_counts_the_runs_that_have_a_value(visit: Visit) -> None:
    """Of all runs three have right or wrong first picks."""
    visit.shown.open("/runs?agent=picker&agent=files&level=all")
    figure = visit.shown.page.locator("figure.spread", has_text="Tool")
    titles = figure.first.locator("a title").all_text_contents()
    counts = [int(found[1]) for title in titles if (found := re.search(r"(\d+) runs?", title))]
    assert sum(counts) == len(PICKED), titles


def test_findings_are_as_many_on_each_page(visit: Visit) -> None:
    """A release leads to as many runs with findings as it says; a run's page lists its own."""
    page = visit.shown.page
    visit.shown.open("/releases")
    href = page.locator('a[href*="findings="]', has_text="2").first.get_attribute("href")
    assert href is not None
    visit.shown.open(href)
    assert page.locator("input[data-mark]").count() == 2
    assert "Findings 1" in visit.text(f"/runs/{visit.ids['found']}")
    assert page.locator("[data-finding]").count() == 1


def test_error_keeps_the_filter_and_the_menu_and_no_page_complains(visit: Visit) -> None:
    """The page that was asked for, with what was asked of it; no script failed on any page."""
    shown = visit.shown
    said = [*shown.said]
    text = visit.text("/runs?release=1.0&tsa=high&outcome=failed")
    assert "high" in text
    page = shown.page
    assert page.locator('a[href="/runs"]').first.is_visible()
    assert page.locator('form[action="/runs"] input[name="release"]').input_value() == "1.0"
    assert said == []
    assert shown.foreign == []
