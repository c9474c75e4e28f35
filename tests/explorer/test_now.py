"""The first page: what agents did lately, why runs failed, what the newest release changed."""

import html
import re
from contextlib import closing
from datetime import UTC, datetime, timedelta
from math import comb
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer
from tests.scoring.report.build import Tables, as_lake
from tests.waiting import wait_until

from tracegrade_explorer.now.changes import Shares, changes, poisson_p, share_p, share_words
from tracegrade_explorer.now.windows import BY_NAME, ends_with, usual_window, window_of
from tracegrade_lake import Lake
from tracegrade_scoring.compare.beyond_chance import fisher_p

NOW = datetime(2026, 11, 29, 16, 5)  # noqa: DTZ001 - as tables hold times
HOSTILE = "<script>pay</script>\x1b[31m"
TASK = "pay"


def lake_of(folder: Path) -> TestClient:
    """Return the pages over two agents, one of them without tasks, over three days."""
    now = datetime.now(UTC).replace(tzinfo=None)
    with closing(Tables()) as tables:
        for place in range(12):
            run = tables.run("1.0", task_id=TASK, run_mode="live", agent_name=HOSTILE,
                             start_time=now - timedelta(hours=5 * place, minutes=1),
                             duration_ms=2_000, tool_call_count=4, error_count=1)  # fmt: skip
            tables.scored(run, TASK)
            tables.score(run, "success", float(place % 3 > 0))
            if not place % 3:
                tables.insert("run_reasons", trajectory_id=run, rank_in_run=1, kind="loop",
                              object=HOSTILE, key="l", sentence="so", release="1.0",
                              success=False)  # fmt: skip
        for _ in range(3):
            tables.run("1.0", agent_name="chat", start_time=now - timedelta(hours=2),
                       tool_call_count=2, error_count=2, complete=False)  # fmt: skip
        lake = as_lake(tables, folder)
    return client(explorer(lake))


@pytest.fixture(scope="module")
def lately(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """Pages over runs of the last days."""
    return lake_of(tmp_path_factory.mktemp("now") / "lake")


def linked(web: TestClient, href: str) -> int:
    """Return how many runs the list behind a link has."""
    found: int = web.get(html.unescape(href).replace("?", ".json?", 1)).json()["runs"]
    return found


@pytest.mark.parametrize("window", ["1h", "24h", "7d", "30d"])
def test_bars_add_up_to_the_list_of_the_window(lately: TestClient, window: str) -> None:
    """Each bar opens as many runs as it stands for, and together they are all of the window."""
    told = lately.get(f"/now.json?window={window}").json()
    page = lately.get(f"/?window={window}").text
    bars = re.findall(
        r'<a href="([^"]+)" aria-label="[^"]*: ([\d,]+) runs?, ([\d,]+) failed"', page
    )

    runs = lately.get(f"/runs.json?since={told['since']}&until={told['until']}").json()["runs"]
    assert sum(bar["runs"] for bar in told["bars"]) == runs
    assert sum(row["runs"] for row in told["agents"]) == runs
    assert [linked(lately, href) for href, _, _ in bars] == [int(count) for _, count, _ in bars]


def test_each_number_opens_as_many_runs(lately: TestClient) -> None:
    """Reasons, signs and failed runs."""
    page = lately.get("/?window=7d").text
    rows = re.findall(
        r'class="times">([\d,]+) \u00d7</span><a class="why" data-open href="([^"]+)"', page
    )
    failed = re.findall(r'href="([^"]+)">(\d+) failed</a>', page)

    assert [linked(lately, href) for _, href in rows] == [int(count) for count, _ in rows] == [
        4, 3, 3,
    ]  # fmt: skip
    assert [linked(lately, href) for href, _ in failed] == [int(count) for _, count in failed]
    assert "no end has come: still running, or cut off" in page
    assert "not known:<br>no task, no label" in page


def test_change_since_the_window_before_adds_up(lately: TestClient) -> None:
    """The window before a day is the day before it; a change of a few runs may be chance."""
    told = lately.get("/now.json?window=24h").json()
    since, until = (datetime.fromisoformat(told[end]) for end in ("since", "until"))
    ends = {"since": str(since - (until - since)), "until": str(since)}
    before = lately.get("/runs.json", params={**ends, "agent": HOSTILE}).json()["rows"]
    (row,) = (row for row in told["agents"] if row["agent_name"] == HOSTILE)

    solved = sum(run["outcome"] == "succeeded" for run in before)
    assert (row["known_before"], row["solved_before"]) == (len(before), solved)
    assert row["calls_before"] == 4 * len(before) == 4 * row["failed_calls_before"]
    assert (row["median_ms_before"], row["solved_change"]) == (2_000.0, "may be chance")
    points = f"{100 * (row['solved_share'] - solved / len(before)):+.1f} points, may be chance"
    page = lately.get("/?window=24h").text
    assert points in page
    assert "+0.0 points</span>" in page  # a quarter of the calls failed on both days
    assert "p95 2.0 s \u00b7 +0%" in page


def test_lines_have_a_point_for_each_part_with_runs(lately: TestClient) -> None:
    """Success, failed calls and time; the agent without tasks ran in one part alone."""
    told = lately.get("/now.json?window=7d").json()
    page = lately.get("/?window=7d").text
    parts = sum(bar["agent_name"] == HOSTILE for bar in told["bars"])
    drawn = re.findall(r'<svg class="spark"[^>]*aria-label="([^"]+)"><polyline points="([^"]+)"',
                       page)  # fmt: skip

    assert [label for label, _ in drawn] == [
        "Success over the window", "Failed calls over the window", "Median time over the window",
    ]  # fmt: skip
    assert [len(path.split()) for _, path in drawn] == [parts] * 3
    assert sum(bar["agent_name"] == "chat" for bar in told["bars"]) == 1


def test_agent_that_solved_nothing_has_solved_none(tmp_path: Path) -> None:
    """Its share is 0, which differs from not known; and so is that of each part."""
    now = datetime.now(UTC).replace(tzinfo=None)
    with closing(Tables()) as tables:
        for hours in (1, 3, 30):
            run = tables.run("1.0", task_id=TASK, start_time=now - timedelta(hours=hours))
            tables.scored(run, TASK)
            tables.score(run, "success", 0.0)
        lake = as_lake(tables, tmp_path / "lake")
    with closing(explorer(lake)) as shown, closing(shown.latest):
        web = client(shown)
        told = web.get("/now.json?window=24h").json()
        page = web.get("/?window=24h").text

    (row,) = told["agents"]
    assert (row["solved_share"], row["solved_share_before"], row["solved_change"]) == (
        0.0, 0.0, "may be chance",
    )  # fmt: skip
    assert {bar["solved_share"] for bar in told["bars"]} == {0.0}
    assert '<span class="big">0.0%</span>' in page


def test_window_of_all_runs_has_no_change(lately: TestClient) -> None:
    """Nothing came before it, and it has no parts."""
    page = lately.get("/?window=all").text
    assert "points" not in page
    assert 'class="spark"' not in page


def test_names_of_traces_do_nothing(lately: TestClient) -> None:
    """Neither as markup nor on a terminal."""
    page = lately.get("/").text
    assert "&lt;script&gt;pay" in page
    assert "<script>pay" not in page
    assert "\x1b" not in page


def test_newest_run_of_a_reason_is_one_click_away(lately: TestClient) -> None:
    """And stands within the list of those that failed alike."""
    page = lately.get("/?window=7d").text
    (href, *_) = re.findall(r'class="sub" href="([^"]+)"', page)
    assert "1 of 4" in lately.get(html.unescape(href)).text


def test_lake_without_tasks_shows_what_needs_none(tmp_path: Path) -> None:
    """Runs without an end, loops and failed calls instead of what was solved."""
    with closing(Tables()) as tables:
        tables.run("1.0", start_time=datetime.now(UTC).replace(tzinfo=None), tool_call_count=2,
                   error_count=1, complete=True)  # fmt: skip
        lake = as_lake(tables, tmp_path / "lake")
    with closing(explorer(lake)) as shown, closing(shown.latest):
        page = client(shown).get("/").text

    assert re.findall('scope="col">([^<]+)<', page) == [
        "Agent", "Runs, failed ones red", "Without an end", "Looped", "Failed calls",
        "Median time", "Cost",
    ]  # fmt: skip
    assert "<td>\u2013</td>" not in page
    assert "50.0%" in page
    assert "a tool call failed" in page


def test_newest_release_is_decided_ahead(web: TestClient) -> None:
    """The page does not wait for the comparison, and shows it once it is worked out."""
    assert "Changed since the last release" in web.get("/").text
    wait_until(lambda: ">not enough runs</span>. " in web.get("/").text)
    (pair,) = web.get("/now.json").json()["releases"]
    assert (pair["base"], pair["candidate"], pair["compared"]) == ("1.0", "1.1", True)


def test_empty_lake_says_how_the_first_run_comes(empty_lake: Path) -> None:
    """Where to send it, and one line that does."""
    with closing(explorer(Lake.open(empty_lake))) as shown, closing(shown.latest):
        page = client(shown).get("/").text
    assert "http://127.0.0.1:4318" in page
    assert "curl http://127.0.0.1:4318/v1/traces" in page
    assert "appears here within 5 s" in page


def test_former_address_leads_on(web: TestClient) -> None:
    """Links and programs of before find what they had."""
    places = {
        each: web.get(f"/overview{each}").headers["location"] for each in ("", ".json", ".csv")
    }
    assert places == {"": "/", ".json": "/releases.json", ".csv": "/releases.csv"}


def test_beginning_of_an_id_leads_to_the_run(tmp_path: Path) -> None:
    """Six hex digits alone; words are looked for, and conditions go into the filter."""
    with closing(Tables()) as tables:
        tables.run("1.0", trajectory_id="c6ff63cc01")
        lake = as_lake(tables, tmp_path / "lake")
    with closing(explorer(lake)) as shown, closing(shown.latest):
        web = client(shown)
        found = [
            web.get("/runs", params={"typed": each}).headers["location"]
            for each in ("C6FF63", "c6ff6", "abcdef12", "outcome=failed refund")
        ]
    assert found == [
        "/runs/c6ff63cc01",
        "/runs?request=c6ff6",
        "/runs?request=abcdef12",
        "/runs?outcome=failed&request=refund",
    ]


def test_windows_end_now_or_with_the_newest_run() -> None:
    """The usual one is 24 hours, or the shortest longer one that holds the newest run."""

    def usual(days: float) -> tuple[str, bool]:
        newest = NOW - timedelta(days=days)
        end = ends_with(newest, NOW, UTC)
        window = usual_window(newest, end, UTC)
        assert window.since is None or window.since <= newest
        return window.name, end == NOW

    assert [usual(days) for days in (0.01, 0.9, 3, 20, 29.99, 80)] == [
        ("24h", True), ("24h", True), ("7d", True), ("30d", True), ("24h", False), ("24h", False),
    ]  # fmt: skip
    assert usual_window(None, NOW, UTC).name == "all"


@pytest.mark.parametrize("name", BY_NAME)
def test_window_is_as_long_as_its_bars(name: str) -> None:
    """Its last bar holds the present."""
    window = window_of(BY_NAME[name], NOW, UTC)
    assert window.since
    assert window.until
    assert window.until - window.since == BY_NAME[name].lasts == window.bars * window.bucket
    assert window.bar(window.bars - 1)[0] <= NOW < window.until


def test_p_value_of_two_counts_is_that_of_coin_flips() -> None:
    """With equal exposures, as worked out by hand."""
    by_hand = 2 * sum(comb(12, k) for k in range(3)) / 2**12
    assert poisson_p(2, 10, 0.5) == pytest.approx(by_hand)
    assert poisson_p(10, 2, 0.5) == pytest.approx(by_hand)
    assert poisson_p(5, 5, 0.5) == 1.0
    assert poisson_p(40_000, 40_100, 0.5) > 0.5


COUNT = st.integers(0, 60)


@given(COUNT, COUNT, COUNT, COUNT)
def test_p_value_of_two_shares_is_exact(
    solved: int, others: int, solved_before: int, others_before: int
) -> None:
    """As by whole numbers."""
    shares = Shares(solved, solved + others, solved_before, solved_before + others_before)
    assert share_p(shares) == pytest.approx(fisher_p(*shares))


def test_share_of_many_thousand_runs_is_compared_at_once() -> None:
    """Half a point of 50,000 runs may be chance, two points are not; unknown has no word."""
    found = share_words(
        [
            Shares(29_500, 50_000, 29_300, 50_000),
            Shares(29_500, 50_000, 28_500, 50_000),
            Shares(28_500, 50_000, 29_500, 50_000),
            Shares(0, 0, 3, 3),
            Shares(3, 3, 0, 0),
        ]
    )
    assert found == ["may be chance", "better", "worse", "", ""]
    assert share_words([]) == []


def test_more_runs_alone_make_no_reason_more_frequent() -> None:
    """Ten groups at once: what happens twice as often among twice the runs is chance."""
    found = changes([(200, 100), (300, 60), (10, 60), (3, 1)], 2_000, 1_000)
    assert [each.word for each in found] == ["may be chance", "more", "less", "may be chance"]
    assert changes([(3, 0)], 10, 0)[0].word == ""
