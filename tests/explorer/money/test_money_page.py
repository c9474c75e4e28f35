"""The page of money and time: sums that add up, what is not known, links to as many runs."""

import html
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer
from tests.explorer.test_now import linked
from tests.queries.test_pricing import call, run
from tests.queries.traces import land
from tests.scoring.report.build import Tables, as_lake

from tracegrade.terminal.visible import visible
from tracegrade_lake import Lake
from tracegrade_queries.costs.price_list import price_list
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.rendering.words import usd
from tracegrade_scoring.tasks import Specification

GROUPS = ("agent", "release", "model", "task", "day")
HOSTILE = "<script>pay</script>\x1b[31m"
DAY = timedelta(days=1)


def listed(model: str, input_tokens: int, output_tokens: int) -> Any:
    """Return a call of a model that used so many tokens."""
    return call(2, model, input_tokens=input_tokens, output_tokens=output_tokens)


@pytest.fixture(scope="module")
def spent(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """Pages over runs of two listed models, of one without a price, and of both kinds."""
    lake = Lake.create(tmp_path_factory.mktemp("money") / "lake")
    land(
        lake,
        run(1, listed("gpt-4o", 1_000_000, 100_000)),
        run(2, listed("gpt-4o-mini", 1_000, 10)),
        run(3, listed(HOSTILE, 500, 5)),
        run(4, listed("gpt-4o", 2_000, 20), call(3, "x", input_tokens=7, output_tokens=1)),
        run(5),
    )
    score(lake, Specification())
    return client(explorer(lake))


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Pages over runs without tokens, over three days; some took a power of two."""
    now = datetime.now(UTC).replace(tzinfo=None)
    with closing(Tables()) as tables:
        for place in range(30):
            one = tables.run(f"1.{place % 2}", "a" if place % 3 else HOSTILE,
                             start_time=now - place * DAY / 10 - timedelta(minutes=1),
                             duration_ms=float(2 ** (place % 9)))  # fmt: skip
            tables.scored(one, f"task-{place % 4}")
            tables.insert("steps", trajectory_id=one, step_index=0, kind="tool_call",
                          tool_name="look" if place % 2 else HOSTILE, duration_ms=float(place),
                          status="error" if place % 5 == 0 else "ok")  # fmt: skip
        lake = as_lake(tables, tmp_path_factory.mktemp("timed") / "lake")
    with closing(explorer(lake)) as pages, closing(pages.latest):
        yield client(pages)


def of(web: TestClient, **query: str) -> Any:
    """Return the page of all times as JSON."""
    return web.get("/money.json", params={"window": "all", **query}).json()


def test_gpt_4o_has_its_cost_without_a_price_file(spent: TestClient) -> None:
    """A million tokens in and a tenth of it out cost $3.50 by the list."""
    page = spent.get("/money?window=all").text
    day = datetime.strptime(price_list().date, "%Y-%m-%d")  # noqa: DTZ007 - a day

    assert "$3.50" in page
    assert f"Priced by list prices of {day.day} {day:%b %Y}" in page
    assert of(spent)["total"]["cost_usd"] == pytest.approx(3.5 + 0.000156)


@pytest.mark.parametrize("group", GROUPS)
def test_rows_add_up_to_what_was_spent(spent: TestClient, group: str) -> None:
    """However runs are grouped, to the cent and beyond."""
    found = of(spent, by=group)
    costs = [row["cost_usd"] for row in found["rows"] if row["cost_usd"] is not None]

    assert sum(costs) == pytest.approx(found["total"]["cost_usd"], abs=1e-12)


def test_model_without_a_price_has_tokens_and_no_zero(spent: TestClient) -> None:
    """Its row says that no price covers it; a run that called it has no cost."""
    rows = {row["name"]: row for row in of(spent, by="model")["rows"]}
    page = spent.get("/money?window=all&by=model").text

    assert (rows["x"]["cost_usd"], rows["x"]["input_tokens"], rows["x"]["no_price"]) == (
        None,
        7,
        1,
    )
    assert (rows["gpt-4o"]["runs"], rows["gpt-4o"]["priced"]) == (2, 1)
    assert page.count("<strong>no price</strong>") == 2
    assert "2 runs without a cost" in page
    assert "<script>pay" not in page
    assert "\x1b" not in page


def test_dearest_run_comes_first(spent: TestClient) -> None:
    """Runs are listed by cost, those of unknown cost left out."""
    costs = [row["cost_usd"] for row in of(spent)["dearest"]]

    assert costs == sorted(costs, reverse=True)
    assert len(costs) == 2


@pytest.mark.parametrize("group", ["agent", "release", "task", "day"])
@pytest.mark.parametrize("window", ["24h", "7d", "all"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata"])
def test_each_row_opens_as_many_runs(
    timed: TestClient, group: str, window: str, zone: str
) -> None:
    """Rows of every group lead to their runs, wherever the days of the reader begin."""
    timed.cookies.set("tz", zone)
    page = timed.get(f"/money?window={window}&by={group}").text
    rows = re.findall(r'<a data-open href="(/runs[^"]*)">(\d+)</a>', page)

    assert rows
    assert [linked(timed, href) for href, _ in rows] == [int(runs) for _, runs in rows]


def test_each_model_opens_the_runs_that_called_it(spent: TestClient) -> None:
    """A model with a name of markup too."""
    rows = {row["name"]: row["runs"] for row in of(spent, by="model")["rows"]}
    page = spent.get("/money?window=all&by=model").text
    found = [*of_table(page, "By model")]

    assert len(found) == len(rows) == 4
    assert [linked(spent, href) for href, _ in found] == [runs for _, runs in found]
    assert sorted(runs for _, runs in found) == sorted(rows.values())


def test_each_tool_opens_the_runs_that_called_it(timed: TestClient) -> None:
    """Runs, and in the list their time, tokens and cost."""
    page = timed.get("/money?window=all").text
    links = dict(re.findall(r'<a class="code" data-open href="([^"]+)">([^<]+)</a>', page))
    runs = {html.unescape(name): linked(timed, href)
            for href, name in links.items()}  # fmt: skip

    assert runs == {"look": 15, visible(HOSTILE): 15}
    (href, *_) = links
    listed_page = timed.get(html.unescape(href)).text
    assert all(f">{text}</a>" in listed_page for text in ("Duration", "Tokens", "Cost"))


def test_calls_of_a_sub_agent_belong_to_the_run_that_started_it(tmp_path: Path) -> None:
    """The run is found by the tools and models of both, the sub-agent by its own alone."""
    with closing(Tables()) as tables:
        one = tables.run("1.0", "a", model_usage=[{"model": "large"}])
        below = tables.run("1.0", "b", parent_trajectory_id=one, model_usage=[{"model": "small"}])
        called = ((one, "delegate"), (below, "look"), (below, "look"))
        for place, (run_id, tool) in enumerate(called):
            tables.insert("steps", trajectory_id=run_id, step_index=place, kind="tool_call",
                          tool_name=tool, status="ok")  # fmt: skip
        lake = as_lake(tables, tmp_path / "lake")
    with closing(explorer(lake)) as pages, closing(pages.latest):
        web = client(pages)
        found = {
            query: [row["agent_name"] for row in web.get(f"/runs.json?{query}").json()["rows"]]
            for query in (
                "tool=look", "tool=delegate", "model=small", "tool=look&level=sub_agent",
                "tool=delegate&level=sub_agent", "model=large&level=sub_agent", "tool=none",
                "tool=none&tool=look", "tool=~",
            )
        }  # fmt: skip

    assert found == {
        "tool=look": ["a"], "tool=delegate": ["a"], "model=small": ["a"],
        "tool=look&level=sub_agent": ["b"], "tool=delegate&level=sub_agent": [],
        "model=large&level=sub_agent": [], "tool=none": [], "tool=none&tool=look": ["a"],
        "tool=~": [],
    }  # fmt: skip


def test_list_has_the_numbers_that_are_asked_for(spent: TestClient) -> None:
    """In their order, before those of every list, each once; the CSV and JSON have them too."""
    query = "cols=cost_usd,duration_ms,tokens&sort=-tokens"
    page = spent.get(f"/runs?{query}").text
    rows = spent.get(f"/runs.json?{query}").json()["rows"]
    tokens = [row["tokens"] for row in rows if row["tokens"] is not None]

    assert re.findall(r'class="num"[^>]*><a [^>]*>([^<]+)</a>', page) == [
        "Cost", "Duration", "Tokens \u25be", "Steps", "Failed",
    ]  # fmt: skip
    assert ">$3.50</td>" in page.replace("\n", "")
    assert ">1.1 M</td>" in page.replace("\n", "")
    assert tokens == sorted(tokens, reverse=True)
    heads = spent.get(f"/runs.csv?{query}").text.splitlines()[0].split(",")
    assert [heads.count(name) for name in ("cost_usd", "duration_ms", "tokens")] == [1, 1, 1]


def of_table(page: str, label: str) -> Iterator[tuple[str, int]]:
    """Yield the link and the number of runs of each row of the table with this label."""
    table = page.partition(f'aria-label="{label}"')[2].partition("</table>")[0]
    for href, runs in re.findall(r'<a data-open href="(/runs[^"]*)">([\d,]+)</a>', table):
        yield href, int(runs.replace(",", ""))


def test_each_bar_of_time_opens_as_many_runs(timed: TestClient) -> None:
    """A run that took exactly a power of two is in one bar."""
    page = timed.get("/money?window=all").text
    bars = re.findall(r'<a href="([^"]+)" aria-label="(\d+) runs? of', page)

    assert sum(int(runs) for _, runs in bars) == 30
    assert [linked(timed, href) for href, _ in bars] == [int(runs) for _, runs in bars]


def test_lake_without_tokens_shows_time_alone(timed: TestClient) -> None:
    """No column of money, no cost of nothing."""
    page = timed.get("/money?window=all").text

    assert "No model call in this window recorded tokens" in page
    assert "$" not in page
    assert "Time of a run" in page
    assert "Time in tools" in page


def test_tools_have_the_time_of_their_calls(timed: TestClient) -> None:
    """Sum, calls, and those that failed; a name of markup is text."""
    tools = {row["tool_name"]: row for row in of(timed)["tools"]}
    page = timed.get("/money?window=all").text

    assert (tools["look"]["sum_ms"], tools["look"]["calls"]) == (sum(range(1, 30, 2)), 15)
    assert (tools["look"]["failed"], tools[HOSTILE]["failed"]) == (3, 3)
    assert "<script>pay" not in page


def test_sampled_runs_count_for_those_they_stand_for(tmp_path: Path) -> None:
    """One of two runs has nine more behind it: sums are weighted, and the page says so."""
    with closing(Tables()) as tables:
        for weight in (1.0, 10.0):
            one = tables.run(
                "1.0", "a", cost_usd=0.5, input_tokens=100, output_tokens=10, step_count=1
            )
            tables.scored(one, None)
            tables.scores[one]["sample_weight"] = weight
        lake = as_lake(tables, tmp_path / "lake")
    with closing(explorer(lake)) as pages, closing(pages.latest):
        web = client(pages)
        total = of(web)["total"]
        page = web.get("/money?window=all").text

    assert (total["runs"], total["cost_usd"], total["usd_per_run"]) == (2, 5.5, 0.5)
    assert total["input_tokens"] == 1_100
    assert "estimates for about 11 runs, made from 2 runs" in html.unescape(page)


def test_a_run_costs_the_same_on_every_page(tmp_path: Path) -> None:
    """Its sub-agents' calls and its sample weight count on Now as in the sums of money."""
    with closing(Tables()) as tables:
        of_run: dict[str, Any] = {
            "input_tokens": 100, "output_tokens": 10, "llm_call_count": 1, "step_count": 1,
        }  # fmt: skip
        one = tables.run("1.0", "a", cost_usd=0.5, **of_run)
        tables.run("1.0", "b", cost_usd=0.25, parent_trajectory_id=one, **of_run)
        tables.scored(one, None)
        tables.scores[one]["sample_weight"] = 2.0
        other = tables.run("1.0", "c", cost_usd=0.5, **of_run)
        tables.run("1.0", "b", parent_trajectory_id=other, **of_run)
        lake = as_lake(tables, tmp_path / "lake")
    with closing(explorer(lake)) as pages, closing(pages.latest):
        web = client(pages)
        of_money = {row["name"]: row for row in of(web)["rows"]}
        of_now = {
            row["agent_name"]: row for row in web.get("/now.json?window=all").json()["agents"]
        }
        listed_runs = {row["agent_name"]: row for row in web.get("/runs.json").json()["rows"]}
        page = web.get(f"/runs/{one}").text

    assert [of_money["a"]["cost_usd"], of_now["a"]["cost_usd"]] == [1.5, 1.5]
    assert [of_money["a"]["input_tokens"], of_now["a"]["tokens"]] == [400, 440]
    assert [of_money["c"]["cost_usd"], of_now["c"]["cost_usd"]] == [None, None]
    assert {name: row["cost_usd"] for name, row in listed_runs.items()} == {"a": 0.75, "c": None}
    assert "<dt>cost with sub-agents</dt><dd>0.7500 USD</dd>" in page


def test_csv_has_the_rows_of_the_group(spent: TestClient) -> None:
    """The table for programs has every row, unrounded."""
    lines = spent.get("/money.csv?window=all&by=model").text.splitlines()

    assert lines[0].startswith("name,runs,priced")
    assert len(lines) == 1 + len(of(spent, by="model")["rows"])


@pytest.mark.parametrize("query", ["by=color", "window=1y", "agent=a"])
def test_unknown_parameters_are_refused(spent: TestClient, query: str) -> None:
    """The error names what the page takes."""
    assert spent.get(f"/money?{query}").status_code == 400


def test_empty_lake_has_a_page(empty_lake: Path) -> None:
    """Nothing is added up where no run is."""
    with closing(explorer(Lake.open(empty_lake))) as pages, closing(pages.latest):
        page = client(pages).get("/money")

    assert page.status_code == 200
    assert "No run began in this window" in page.text


@given(st.floats(min_value=1e-12, max_value=1e9))
def test_amounts_of_money_have_three_digits(amount: float) -> None:
    """Something is never written as nothing, and what is written is near what it was."""
    text = usd(amount)
    written = float(text.removeprefix("$").replace(",", ""))

    assert written > 0
    assert abs(written - amount) <= max(0.0051 * amount, 0.0051 if amount >= 1 else 0)
    assert re.fullmatch(r"\$[\d,]+\.\d{2,}", text)
