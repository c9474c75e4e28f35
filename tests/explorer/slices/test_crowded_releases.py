"""An agent whose every request names another release."""

from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer
from tests.queries.traces import agent, land, request_of

from tracegrade_explorer.pages.newest_releases import release_groups
from tracegrade_lake import Lake
from tracegrade_scoring.dimensions.summary import MOST_RELEASES
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification

RELEASES = [sha256(str(number).encode()).hexdigest() for number in range(MOST_RELEASES + 10)]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Pages over one run of each release."""
    lake = Lake.create(tmp_path_factory.mktemp("crowded") / "lake")
    for trace, release in enumerate(RELEASES, 1):
        land(lake, request_of([agent(1, trace=trace)], {"service.version": release}), seq=trace)
    score(lake, Specification())
    with closing(explorer(lake)) as found, closing(found.latest):
        yield client(found)


def test_the_page_warns_and_groups_releases_by_prefix(web: TestClient) -> None:
    """Each first character is a group, and the lists to choose from stay short."""
    page = web.get("/releases").text
    assert "210 releases; if each request has its own, name another attribute" in page
    for first in {release[0] for release in RELEASES}:
        of_group = sum(release[0] == first for release in RELEASES)
        assert f'{first}… <span class="faint">{of_group} releases</span>' in page
    assert page.count("<option") < MOST_RELEASES
    assert page.count(" → ") < MOST_RELEASES
    assert len(web.get("/releases.json").json()["releases"]) == len(RELEASES)


def rows(*names: str | None) -> list[dict[str, Any]]:
    """Return rows of `release_overview` with one run of each release."""
    counts = {"runs": 1, "failed": 1, "findings": 0, "last_start": None}
    return [{"release": name, **counts} for name in names]


def test_a_prefix_that_all_share_is_told_with_what_follows() -> None:
    """A version before the id of a request is kept, and a name that ends there is not cut."""
    many = [f"1.4-{number:03}" for number in range(300)]
    found = release_groups(rows(*many, None))
    assert [(each["name"], each["releases"]) for each in found] == [
        *((f"1.4-{tens:02}…", 10) for tens in range(30)),
        ("(no release)", 1),
    ]
