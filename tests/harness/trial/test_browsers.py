"""An agent that works in a browser is verified by its pages, killed and judged by what it left."""

import json
from pathlib import Path

import pytest
import yaml
from tests.harness.parts.browser.pages import BROWSER, SHOP, needs_chromium, write_shop
from tests.harness.trial.agents import HarnessRun

pytestmark = [needs_chromium, pytest.mark.slow]
pytest.importorskip("playwright", reason="no playwright")

AGENT = """
import os

import tracegrade
from playwright.sync_api import sync_playwright


@tracegrade.tool(effect="read")
def look():
    return page.inner_text("#orders")


@tracegrade.tool
def order(item):
    page.goto("http://shop/")
    page.fill("#item", item)
    page.click("#order")
    page.wait_for_selector(f"li[data-item={item}]")


tracegrade.init(service="ignored")
with sync_playwright() as playwright:
    context = playwright.chromium.connect_over_cdp(os.environ["CDP_URL"]).contexts[0]
    page = context.pages[0]
    with tracegrade.agent_run("worker", task="buy", user_input="Buy milk.") as run:
        look()
        order("milk")
        look()
        run.answer("Done.")
"""

LEFT = [
    "browser:desk/cookie:shop/last",
    "browser:desk/dom:#orders",
    "http:shop/$.orders[1]",
]


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """The suite, run once."""
    folder: Path = tmp_path_factory.mktemp("browsing")
    write_shop(folder)
    (folder / "agent.py").write_text(AGENT)
    agent = {
        "command": ["{python}", "{suite}/agent.py"],
        "environment": {"pass": ["PYTHONPATH"]},
    }
    listed = {"dom": "desk", "selector": "#orders li", "count": 2}
    case = {
        "environment": "town",
        "agent": "worker",
        "kill": {"points": ["early", "late"]},
        "verify": [listed, {**listed, "url": "http://shop/"}],
    }
    suite = {
        "version": 1,
        "suite": "browsing",
        "agents": {"worker": agent},
        "environments": {"town": {"http": {"shop": SHOP}, "browser": {"desk": BROWSER}}},
        "cases": {"buy": case},
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    made = HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")
    return made.run("--trust")


def test_what_an_agent_did_in_its_browser_is_verified(tried: HarnessRun) -> None:
    """By the page that it left, and by one that is visited."""
    assert tried.ended is not None
    assert tried.ended.returncode == 0, tried.ended.stderr + tried.ended.stdout
    assert tried.row("buy")["success"] is True


@pytest.mark.parametrize(
    ("point", "boundary", "score", "left"), [("early", 1, 10, []), ("late", 2, 0, LEFT)]
)
def test_what_a_killed_agent_leaves_in_its_browser_is_named(
    tried: HarnessRun, point: str, boundary: int, score: int, left: list[str]
) -> None:
    """To look at pages leaves nothing."""
    row = tried.row("buy", point)
    found = [each["object"] for each in json.loads(row["leftovers"] or "[]")]

    assert (row["boundary"], row["immediate"], found) == (boundary, score, left)
