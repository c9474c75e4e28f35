"""Texts of all runs are searched date by date, the newest first, in a process of its own."""

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.explorer.lakes import LOOPED, client, explorer
from tests.scoring.report.build import START, Tables, as_lake
from tests.slow import slow_after

from tracegrade_explorer.errors import SqlStopped
from tracegrade_explorer.pages.search import pieces
from tracegrade_explorer.sql_process import search as searching
from tracegrade_explorer.sql_process.search import SearchCursor, search
from tracegrade_lake import Lake

DATES = [START.date() - timedelta(days=back) for back in range(3)]
RUNS = 20
"""Of a date, each with five steps in which something is found."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Runs of three dates that say the same."""
    with closing(Tables()) as tables:
        for received in DATES:
            for _ in range(RUNS):
                run = tables.run(date=received)
                for step in range(5):
                    tables.insert("steps", trajectory_id=run, step_index=step, kind="tool_call",
                                  tool_name="look", date=received,
                                  result=f"An Answer, of {received}: 100%_ of it")  # fmt: skip
        return as_lake(tables, tmp_path_factory.mktemp("searched") / "lake")


@pytest.fixture(scope="module")
def many(lake: Lake) -> Iterator[TestClient]:
    """The pages over it."""
    with closing(explorer(lake)) as found, closing(found.latest):
        yield client(found)


@pytest.mark.slow
def test_each_run_is_found_once_and_the_newest_dates_first(lake: Lake) -> None:
    """From one part of the search to the next, whose places the parts say."""
    found, place, parts, dates = [], None, 0, 0
    while True:
        begin = [received for received in DATES if place is None or received <= place.date]
        part = search(str(lake.root), "an ANSWER, of", begin, place)
        found += part.hits
        dates += part.dates
        parts += 1
        place = part.following
        if place is None:
            break
        assert len(part.hits) == searching.HITS

    runs = [hit["trajectory_id"] for hit in found if hit["step_index"] == 0]
    assert len({*runs}) == len(runs) == 3 * RUNS
    assert [hit["date"] for hit in found] == sorted((hit["date"] for hit in found), reverse=True)
    assert {hit["of"] for hit in found} == {5}
    assert (dates, parts) == (3, 4)


@pytest.mark.parametrize(
    ("text", "found"),
    slow_after(
        1,
        [("1__%of", False), ("100%_ of", True), ("An.Answer", False), ("' OR 1 = 1 --", False)],
    ),
)
def test_what_is_looked_for_is_a_text_and_no_pattern(lake: Lake, text: str, found: bool) -> None:
    """Signs that patterns have stand for themselves."""
    answer = search(str(lake.root), text, DATES)

    assert bool(answer.hits) == found
    assert found or answer == ([], 3, None)


def test_a_search_out_of_time_says_where_to_go_on(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first date is searched however long others would take; one without end is stopped."""
    monkeypatch.setattr(searching, "SECS", -1.0)
    assert search(str(lake.root), "nothing like it", DATES).following in {
        SearchCursor(DATES[1]), SearchCursor(DATES[2]), None,
    }  # fmt: skip
    monkeypatch.setattr(searching, "DATE_SECS", 0.0)
    with pytest.raises(SqlStopped, match="a date took longer than 0 s"):
        search(str(lake.root), "nothing like it", DATES)


def test_page_says_how_far_it_came_and_goes_on(many: TestClient) -> None:
    """By a link, which works without any script."""
    page = many.get("/search?text=answer").text
    assert "searched 0 of 3 dates" in page
    assert "<mark>Answer</mark>" in page
    (following,) = re.findall('href="(/search[?][^"]+&amp;run=[^"]+)"', page)
    second = many.get(following.replace("&amp;", "&").replace("?", ".json?")).json()
    first = {*re.findall(r'data-open href="/runs/(\w+)#', page)}

    assert first
    assert first.isdisjoint(hit["trajectory_id"] for hit in second["hits"])
    last = many.get(f"/search?text=answer&date={DATES[2]}&run=t999").text
    assert "searched 3 of 3 dates" in last
    assert "Go on" not in last


def test_hits_lead_to_their_steps(web: TestClient) -> None:
    """And to the others of a run, on its page."""
    page = web.get("/search?text=nothing").text
    assert f'data-open href="/runs/{LOOPED}#s3"' in page
    assert f'href="/runs/{LOOPED}?find=nothing">7 more of its steps' in page
    assert "s3" in web.get(f"/runs/{LOOPED}?find=nothing").text


@pytest.mark.parametrize(
    ("query", "status"),
    [("text=x&date=soon", 400), ("text=x&day=soon", 400), ("text=x&other=1", 400), ("text=", 200)],
)
def test_address_that_says_nothing_is_told(web: TestClient, query: str, status: int) -> None:
    """With what is known; nothing to look for is a form alone."""
    assert web.get(f"/search?{query}").status_code == status


def test_an_empty_lake_has_nothing_to_search(empty_lake: Path) -> None:
    """And no process is started."""
    with closing(explorer(Lake.open(empty_lake))) as found, closing(found.latest):
        assert "This lake holds no run yet" in client(found).get("/search?text=x").text


def test_each_place_of_a_text_is_marked() -> None:
    """In any case, and with any characters."""
    found = [*pieces("a+b, A+B", "a+b")]
    assert [(piece.text, piece.found) for piece in found] == [
        ("a+b", True), (", ", False), ("A+B", True),
    ]  # fmt: skip
