"""Dimensions of a mapping file in the explorer: filters, facets, completions and comparisons."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer
from tests.queries.traces import agent, land, request_of, tool

from tracegrade_explorer.pages import trends
from tracegrade_lake import Lake
from tracegrade_scoring.dimensions.options import given_mapping
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification

ARMS = {"a": [1, 2, 3, 4, 5], "b & c": [6, 7, 8], None: [9, 10]}
"""Traces of each arm; those of the last name none."""


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Pages over runs of one release in two arms, one of them with a name that needs quotes."""
    folder = tmp_path_factory.mktemp("slices")
    lake = Lake.create(folder / "lake")
    for arm, traces in ARMS.items():
        attributes: dict[str, Any] = {"app__arm": arm} if arm else {}
        for trace in traces:
            task = f"t{trace % 3}"
            error = "boom" if trace % 2 else None
            spans = [
                agent(1, trace=trace, tracegrade__task__id=task, **attributes),
                tool(2, 1, trace=trace, tool_name="look", at=1, error=error),
            ]
            land(lake, request_of(spans, {"service.version": "1"}), seq=trace)
    score(lake, Specification(), mapping=given_mapping(_mapping(folder), forget=False))
    with closing(explorer(lake)) as found, closing(found.latest):
        yield client(found)


def _mapping(folder: Path) -> Path:
    file = folder / "dims.yaml"
    file.write_text("version: 1\ndimensions: {arm: [app.arm]}\n", encoding="utf-8")
    return file


def listed(web: TestClient, query: str) -> int:
    """Return how many runs a filter has; its rows are as many."""
    found = web.get(f"/runs.json?{query}").json()
    assert found["runs"] == len(found["rows"])
    return int(found["runs"])


def test_a_filter_by_a_dimension_lists_its_runs(web: TestClient) -> None:
    """Names repeat for "or", and `~` is the runs without one."""
    assert listed(web, "arm=a") == 5
    assert listed(web, "arm=b+%26+c") == 3
    assert listed(web, "arm=a&arm=~") == 7
    assert listed(web, "arm=~") == 2
    assert listed(web, "arm=none") == 0
    assert listed(web, "arm=a&task=t0") == 1


def test_a_dimension_is_a_facet_whose_names_lead_to_their_runs(web: TestClient) -> None:
    """The counts are those of the lists behind them."""
    page = web.get("/runs").text

    for query, runs in (("arm=a", 5), ("arm=b+%26+c", 3), ("arm=~", 2)):
        assert f'href="/runs?{query}"' in page
        assert listed(web, query) == runs


def test_names_of_a_dimension_are_completed(web: TestClient) -> None:
    """Those with most runs first, quoted where they need it."""
    found = web.get("/completions.json", params={"typed": "arm="}).json()
    texts = [each["text"] for each in found["choices"]]

    assert texts == ["arm=a ", 'arm="b & c" ', "arm=~ "]


def test_trend_has_a_line_for_each_value_of_a_dimension(web: TestClient) -> None:
    """Each row leads to its runs; a name that is no dimension is refused."""
    found = web.get("/trends.json?metric=errors&split=arm").json()
    page = web.get("/trends?metric=errors&split=arm").text

    assert {row["arm"]: row["runs"] for row in found["rows"]} == {"a": 5, "b & c": 3, None: 2}
    for query in ("arm=a", "arm=b+%26+c", "arm=~"):
        assert f'href="/runs?{query}&amp;received=' in page
    assert web.get("/trends?split=moon").status_code == 400


def test_trend_pools_the_names_beyond_those_with_most_runs(
    web: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All runs are in a row; those of other names are in one."""
    monkeypatch.setattr(trends, "MOST_NAMES", 1)
    rows = web.get("/trends.json?metric=calls&split=arm").json()["rows"]

    assert [(row["arm"], row["runs"]) for row in rows] == [("a", 5), ("(other)", 5)]


def test_two_values_of_a_dimension_are_compared_as_releases_are(web: TestClient) -> None:
    """Each side's runs are those of its filter."""
    address = {"by": "arm", "base": "a", "candidate": "b & c"}
    (cohort,) = web.get("/releases.json", params=address).json()["comparisons"]

    assert (cohort["base_runs"], cohort["candidate_runs"], cohort["tasks"]) == (5, 3, 3)
    assert "arm=a" in web.get("/releases", params=address).text


def test_sides_that_share_runs_are_refused_with_their_number(web: TestClient) -> None:
    """The second time, too, when it is known already."""
    address = {"base": "arm=a", "candidate": "release=1"}
    for _ in range(2):
        page = web.get("/releases", params=address)

        assert page.status_code == 400
        assert "5 runs are on both sides" in page.text


def test_a_side_without_runs_is_named(web: TestClient) -> None:
    """With the values that there are."""
    page = web.get("/releases", params={"by": "arm", "base": "a", "candidate": "z"})

    assert page.status_code == 404
    assert "known values of arm" in page.text
