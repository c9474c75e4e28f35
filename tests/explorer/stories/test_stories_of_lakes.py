"""What readers want to know of many runs, or do with them, in a real Chromium and held to SQL."""

import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from tests.collector.running import collecting
from tests.commands import tracegrade
from tests.explorer.browser import needs_chromium, serving
from tests.explorer.lakes import explorer
from tests.explorer.live.test_live import PROGRAM
from tests.explorer.stories.conftest import BeginStory, ServedLake
from tests.explorer.stories.lakes import ask
from tests.explorer.test_server import ui

from tracegrade_explorer.app import Labeling
from tracegrade_explorer.labels import writer
from tracegrade_explorer.labels.people import everybody_is
from tracegrade_explorer.labels.writer import LabelWriter
from tracegrade_lake import Lake
from tracegrade_scoring.rendering.words import usd

pytestmark = [needs_chromium, pytest.mark.slow]
Served = Callable[[str], ServedLake]
SOLVED = """
SELECT release, count(*) FILTER (success.value = 1) AS solved, count(*) AS runs
FROM trajectory_scores GROUP BY release ORDER BY release
"""
COST_OF_RUNS = """
SELECT agent_name AS agent, release, model_usage[1].model AS model, task_id AS task,
    date_trunc('day', start_time) AS day, cost_usd
FROM trajectories
"""


def test_ship_or_not(story: BeginStory, served: Served) -> None:
    """The decision stands first, and counts the solved runs of both releases."""
    lake, base = served("order desk")
    with story("ship or not", base) as reader:
        reader.begin("/")
        reader.follow(reader.page.get_by_role("link", name="Release decision"))
        decision = reader.sees(reader.page.locator(".decision").first)

    ((_, solved, runs), (candidate, now_solved, now_runs)) = ask(lake, SOLVED)
    before, after = solved / runs, now_solved / now_runs
    assert after < before - 0.05
    assert decision.startswith(f"{candidate}: hold. order-desk, {runs} and {now_runs} runs")
    assert f"success at most 5 points worse: {before:.1%} to {after:.1%} (broken)" in decision


def test_sql(story: BeginStory, served: Served) -> None:
    """A wrong name is pointed at with the nearest one; the corrected query has its rows."""
    lake, base = served("order desk")
    query = "SELECT kind, count(*) AS n FROM steps GROUP BY kind ORDER BY kind"
    with story("SQL", base) as reader:
        reader.begin("/sql")
        reader.page.fill("#q", query.replace("SELECT kind", "SELECT kinds"))
        reader.press("Control+Enter", leads_away=True)
        mistake = reader.sees(reader.page.locator(".mistake"))
        assert all("status of 400" in said for said in reader.seen.said)
        reader.seen.said.clear()
        reader.page.fill("#q", reader.page.input_value("#q").replace("kinds", "kind"))
        reader.press("Control+Enter", leads_away=True)
        reader.sees(reader.page.locator("section.result"))
        cells = reader.page.locator("section.result tbody tr").evaluate_all(
            "rows => rows.map(row => [...row.cells].slice(0, 2).map(cell => cell.innerText))"
        )

    assert "Nearest name: kind" in mistake
    assert cells == [[kind, str(n)] for kind, n in ask(lake, query)]


@pytest.fixture
def labeled(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ServedLake]:
    """A copy of the order desk's lake, which ann may label; it is not scored again."""
    monkeypatch.setattr(writer, "SCORE_AFTER_SECS", 3600.0)
    lake = Lake.open(shutil.copytree(served("order desk").lake.root, tmp_path / "lake"))
    with closing(explorer(lake)) as pages, closing(pages.latest):
        pages.labeling = Labeling(everybody_is("ann"), LabelWriter(str(lake.root)))
        with serving(pages) as base:
            yield ServedLake(lake, base)


def test_label(story: BeginStory, labeled: ServedLake) -> None:
    """The verdict is in the lake, and another run that has none of a person is open."""
    lake, base = labeled
    field = "form[data-label] input[name=run]"
    with story("label", base) as reader:
        reader.begin("/queue?order=newest")
        first = reader.page.locator(field).input_value()
        reader.press("0")
        reader.press("n", leads_away=True)
        reader.sees(reader.page.locator("h1.run-verdict"))
        second = reader.page.locator(field).input_value()

    label = "SELECT trajectory_id, label FROM verdicts WHERE subject = 'success'"
    label += " AND source = 'human:ann'"
    assert ask(lake, label) == [(first, "bad")]
    newest = "SELECT trajectory_id FROM trajectories ORDER BY start_time DESC LIMIT 2"
    assert [(first,), (second,)] == ask(lake, newest)


def test_ten_labels(story: BeginStory, labeled: ServedLake) -> None:
    """Two keys a run; each of ten runs has its verdict, and none has two."""
    lake, base = labeled
    with story("ten labels", base) as reader:
        reader.begin("/queue?order=newest")
        for verdict in "0101010101":
            reader.press(verdict)
            reader.press("n", leads_away=True)
        reader.sees(reader.page.locator(".queue-bar", has_text="10 done"))

    labels = "SELECT label, count(*), count(DISTINCT trajectory_id) FROM verdicts "
    labels += "WHERE subject = 'success' AND source = 'human:ann' GROUP BY label ORDER BY label"
    assert ask(lake, labels) == [("bad", 5, 5), ("good", 5, 5)]


def costs_shown(page: Page) -> list[str]:
    """Return what the table says that each group cost, sorted."""
    return sorted(page.locator("table.money").first.locator("td strong").all_inner_texts())


@pytest.mark.parametrize("group", ["agent", "release", "model", "task", "day"])
def test_cost(story: BeginStory, served: Served, group: str) -> None:
    """One click groups the cost, and groups add up to what SQL sums."""
    lake, base = served("spent")
    with story("cost", base) as reader:
        reader.begin("/money?window=all&by=" + ("day" if group == "agent" else "agent"))
        tabs = reader.page.get_by_role("navigation", name="Grouped by")
        reader.follow(tabs.get_by_role("link", name=group, exact=True))
        reader.sees(reader.page.get_by_role("columnheader", name=group.capitalize(), exact=True))
        shown = costs_shown(reader.page)

    sums = ask(lake, f"SELECT sum(cost_usd) FROM ({COST_OF_RUNS}) GROUP BY {group}")
    assert shown == sorted(usd(cost) for (cost,) in sums)


def test_live(story: BeginStory, tmp_path: Path) -> None:
    """From a stock exporter through a collector and a build to the page of a run under way."""
    root = tmp_path / "lake"
    Lake.create(root)
    program = [sys.executable, "-c", PROGRAM]
    with collecting(root) as collector, ui(root, "--no-token") as server:
        assert server.stdout is not None
        base = server.stdout.readline().removeprefix("ui: ").strip().rstrip("/")
        with story("live", base) as reader:
            reader.begin("/")
            working = subprocess.Popen([*program, collector.url], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)  # fmt: skip
            with working:
                assert working.stdout is not None
                assert working.stdout.readline() == "called\n"
                reader.begun = time.monotonic()
                offer = reader.page.get_by_text("1 new run \u2013 show")
                reader.sees(offer)
                reader.follow(offer)
                states = reader.sees(reader.page.locator(".now-bar > p"))
                calls = ask(Lake.open(root), "SELECT tool_name FROM steps JOIN trajectories "
                            "USING (trajectory_id) WHERE kind = 'tool_call'")  # fmt: skip
                working.communicate("\n")
        server.send_signal(signal.SIGTERM)
        server.wait()

    assert calls == [("read_csv",)]
    assert states.endswith("1 running")


def test_share(story: BeginStory, served: Served, browser: Browser) -> None:
    """The copied link opens the same run for another reader."""
    lake, base = served("order desk")
    ((run,),) = ask(lake, "SELECT trajectory_id FROM trajectories ORDER BY start_time LIMIT 1")
    with story("share", base) as reader:
        reader.begin(f"/runs/{run}")
        reader.press("y")
        reader.sees(reader.page.get_by_text("link copied"))
        link = reader.page.evaluate("navigator.clipboard.readText()")
        with closing(browser.new_context()) as context:
            other = context.new_page()
            other.goto(link)
            assert other.locator(f"[title='{run}']").is_visible()


def test_share_as_files(story: BeginStory, served: Served, tmp_path: Path) -> None:
    """A folder of a report needs no server: its first page leads to the runs that it names."""
    lake, _ = served("order desk")
    out = tmp_path / "shared"
    ended = tracegrade("report", "--lake", lake.root, "--format", "html", "--out", out)
    assert ended.returncode == 0, ended.stderr
    with story("share", f"file://{out}") as reader:
        reader.begin("/index.html")
        reader.page.locator("summary", has_text="Why runs failed").click()
        link = reader.page.locator("details[open] a[href*='runs/']").first
        (named,) = re.findall(r"[0-9a-f]{12}", link.inner_text())
        reader.follow(link)
        shown = reader.sees(reader.page.locator("body"))

    named_run = (
        "SELECT trajectory_id, task_id FROM trajectories WHERE starts_with(trajectory_id, $n)"
    )
    ((run, task),) = ask(lake, named_run, n=named)
    assert run in shown
    assert task in shown
