"""A page of two releases comes at once, and with the decision once that is worked out."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.explorer.lakes import client, sample
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_explorer.app import Explorer
from tracegrade_explorer.responses import Site
from tracegrade_explorer.snapshots.latest import LatestSnapshot
from tracegrade_lake import Lake

PAIR = "/releases?base=1.0&candidate=1.1"
COMPARING = r"Comparing (\d+) and (\d+) runs"


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[TestClient]:
    """Pages over two releases that wait for no comparison."""
    lake: Lake = sample(tmp_path / "lake")
    site = Site(str(lake.root), sql=True, comparison_secs=0)
    with closing(Explorer(LatestSnapshot(lake), site, PATIENCE_SECS)) as pages:
        yield client(pages)
        pages.latest.close()


def test_page_comes_before_the_comparison(impatient: TestClient) -> None:
    """It counts the runs, asks again soon, and then has what the JSON has."""
    rows = impatient.get("/releases.json").json()["releases"]
    first = impatient.get(PAIR).text
    (counts,) = re.findall(COMPARING, first)

    assert [*map(int, counts)] == [
        sum(row["runs"] for row in rows if row["release"] == release) for release in ("1.0", "1.1")
    ]
    assert '<meta http-equiv="refresh" content="2">' in first
    wait_until(lambda: not re.search(COMPARING, impatient.get(PAIR).text))
    page = impatient.get(PAIR).text
    assert "http-equiv" not in page
    assert "not enough runs" in page
    assert "not enough runs" not in first


def test_programs_get_the_comparison_with_the_first_answer(impatient: TestClient) -> None:
    """They do not ask again."""
    assert impatient.get(PAIR.replace("?", ".json?", 1)).json()["candidate"] == "1.1"


def test_pair_without_a_comparison_says_why(impatient: TestClient) -> None:
    """A reader is not sent back for ever."""
    pair = "/releases?base=1.0&candidate=9"
    wait_until(lambda: not re.search(COMPARING, impatient.get(pair).text))
    answer = impatient.get(pair)

    assert answer.status_code == 404
    assert "has scored runs of both" in answer.text


def test_page_of_slices_comes_before_their_comparison(impatient: TestClient) -> None:
    """It names both sides, and then has the decision; sides that share runs are refused."""
    sides = {"base": "release=1.0", "candidate": "release=1.1"}
    first = impatient.get("/releases", params=sides).text

    assert "Comparing the runs of release=1.0 and of release=1.1;" in first
    wait_until(lambda: "Comparing the" not in impatient.get("/releases", params=sides).text)
    assert "not enough runs" in impatient.get("/releases", params=sides).text
    alike = {"base": "release=1.0", "candidate": "release=1.0 release=1.1"}
    wait_until(lambda: impatient.get("/releases", params=alike).status_code == 400)
