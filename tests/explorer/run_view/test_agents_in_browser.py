"""The agents of a run on its page: lanes, the table that filters its steps, the key, JSON."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, expect
from tests.explorer.browser import LOW_CONTRAST, chromium, needs_chromium, serving, watched
from tests.explorer.lakes import client, explorer
from tests.queries.traces import Row, agent, apart, land, message, model, request, request_of, tool

from tracegrade_explorer.app import Explorer
from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification

TEAM = f"/runs/{1:032x}-{1:016x}"
HELPER = f"/runs/{1:032x}-{40:016x}"
ALONE = f"/runs/{2:032x}-{1:016x}"
HOSTILE = "<script>alert(1)</script>\u202e"
PAST_THE_EDGE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
USED: Row = {"gen_ai__usage__input_tokens": 10, "gen_ai__usage__output_tokens": 5}


def worker(number: int, name: str, at: int, calls: int) -> list[Row]:
    """Return an agent with model calls and tool calls in turn, the second call failed."""
    spans = [agent(number, 1, at=at, ms=calls * 20 + 20, agent_name=name)]
    for call in range(calls):
        asked = message("assistant", request("look", f"c{number}.{call}"))
        begin = at + 1 + 20 * call
        spans += [
            model(number + 2 * call + 1, number, at=begin, ms=9, said=[asked], **USED),
            tool(
                number + 2 * call + 2, number, at=begin + 10, ms=8, tool_name="look",
                gen_ai__tool__call__id=f"c{number}.{call}",
                error="no such place" if call == 1 else None,
            ),
        ]  # fmt: skip
    return spans


def team() -> list[Row]:
    """Return a lead with two agents at once, one of them hostile, and a sub-agent after a wait."""
    asked = message("assistant", request("helper", "h1"))
    return [
        agent(1, ms=2_000, agent_name="lead"),
        *worker(10, "left", 5, 3),
        *worker(20, HOSTILE, 5, 2),
        model(38, 1, at=1_800, ms=9, said=[asked], **USED),
        tool(39, 1, at=1_810, ms=90, tool_name="helper", gen_ai__tool__call__id="h1"),
        agent(40, 39, at=1_811, ms=80, agent_name="helper"),
        model(41, 40, at=1_812, ms=9, said=[message("assistant", "Mine.")], **USED),
        model(50, 1, at=1_950, ms=9, said=[message("assistant", "Done.")], **USED),
    ]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    """A run of a team, and one of an agent alone."""
    lake = Lake.create(tmp_path_factory.mktemp("agents") / "lake")
    alone = [agent(1), model(2, 1, at=1, said=[message("assistant", "Done.")])]
    land(lake, request_of(apart([team(), alone])))
    score(lake, Specification())
    with closing(explorer(lake)) as found, closing(found.latest):
        yield found


@pytest.fixture(scope="module")
def base(pages: Explorer) -> Iterator[str]:
    """Where these pages are served."""
    with serving(pages) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with chromium() as found:
        yield found


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lanes_fit_a_phone_and_can_be_read(browser: Browser, base: str, scheme: str) -> None:
    """In both colors; lanes and table scroll in frames of their own, and no name acts."""
    options = {"viewport": {"width": 390, "height": 800}, "color_scheme": scheme}
    with watched(browser, base, **options) as seen:
        seen.open(TEAM)
        assert seen.page.evaluate(PAST_THE_EDGE) == 0
        assert seen.page.evaluate(LOW_CONTRAST) == []
        seen.page.set_viewport_size({"width": 1440, "height": 900})
        assert seen.page.evaluate(PAST_THE_EDGE) == 0
        lanes = seen.page.locator("svg.lanes")
        assert lanes.locator(".lane-name").count() == 4
        assert lanes.locator(".lane-call").count() == 4
        assert lanes.locator(".lane-failed").count() == 2
        assert lanes.locator(".lane-cut").count() == 1
        assert lanes.locator(".lane-start").count() == 3
        assert (seen.said, seen.foreign) == ([], [])


@needs_chromium
def test_an_agent_filters_the_steps(browser: Browser, base: str) -> None:
    """A click leaves its own steps, the key leads to the next agent, and round to all."""
    with watched(browser, base, java_script_enabled=False) as seen:
        seen.open(TEAM)
        every = seen.page.locator("li.step").count()
        seen.page.get_by_role("link", name="left", exact=True).click()
        expect(seen.page.locator("li.step")).to_have_count(3)
        assert seen.page.locator("li.step .faint", has_text="left").count() == 3
        seen.page.get_by_role("link", name="all agents").click()
        expect(seen.page.locator("li.step")).to_have_count(every)
    with watched(browser, base) as seen:
        seen.open(TEAM)
        visited = []
        for _ in range(3):
            seen.keys("a")
            seen.page.wait_for_load_state()
            visited.append(seen.page.locator("[data-agent][aria-current]").inner_text())
        assert visited[:2] == ["lead", "left"]


@needs_chromium
def test_a_box_leads_to_its_step(browser: Browser, base: str) -> None:
    """Also from the lane of a sub-agent, whose steps are a run of their own."""
    with watched(browser, base, viewport={"width": 1440, "height": 900}) as seen:
        seen.open(TEAM)
        seen.page.locator("svg.lanes a:has(.lane-failed)").first.click()
        step = seen.page.url.rpartition("#")[2]
        assert "failed" in (seen.page.locator(f"#{step}").get_attribute("class") or "")
        seen.page.get_by_role("link", name="helper", exact=True).first.click()
        assert seen.page.url.startswith(base + HELPER)
        assert seen.page.locator("svg.lanes .lane-name").count() == 4


def test_a_run_of_one_agent_has_no_lanes(pages: Explorer) -> None:
    """Its page and its JSON say nothing of agents."""
    web = client(pages)

    assert "agents-title" not in web.get(ALONE).text
    assert web.get(f"{ALONE}.json").json()["agents"] == []


def test_json_has_the_agents_and_their_steps(pages: Explorer) -> None:
    """Each step of a run is of one agent; numbers are those of the page."""
    web = client(pages)
    told = web.get(f"{TEAM}.json").json()
    own = [each for each in told["agents"] if TEAM.endswith(each["trajectory_id"])]

    assert [each["agent_name"] for each in told["agents"]] == ["lead", "left", HOSTILE, "helper"]
    steps = sorted(index for each in own for index in each["step_indexes"])
    assert steps == [step["step_index"] for step in told["steps"]]
    assert [each["error_count"] for each in told["agents"]] == [0, 1, 1, 0]
    assert told["agents"][-1]["tool_call_id"] == "h1"
    page = web.get(TEAM).text
    assert HOSTILE not in page


def test_an_unknown_agent_is_refused(pages: Explorer) -> None:
    """An address that names no agent of the run gets an answer that says so."""
    answer = client(pages).get(f"{TEAM}?who=ffffffffffffffff")

    assert answer.status_code == 400
    assert "ffffffffffffffff" in answer.text
