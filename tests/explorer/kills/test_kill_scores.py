"""A person's score of a kill: what is written, who may, and that the run's score follows."""

import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from httpx2 import Response
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer, labeled_by_ann
from tests.explorer.test_labels import run_ids
from tests.harness.results import kill, result
from tests.waiting import wait_until

from tracegrade_explorer.app import Explorer
from tracegrade_harness.lake import write
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect


@pytest.fixture
def lake(scored_lake: Lake, tmp_path: Path) -> Lake:
    """Scored runs, the first of which was killed late and left an object."""
    lake = Lake.open(shutil.copytree(scored_lake.root, tmp_path / "lake"))
    first, second = run_ids(lake)[:2]
    left = [{"object": "files:data/a", "change": "added", "named_by": None, "disproved": None}]
    write(lake, "r1", "s", [
        result(trajectory_id=first),
        kill("late", trajectory_id=second, baseline_trajectory_id=first, boundary=4,
             immediate=0, after_recovery=0, leftovers=left),
    ])  # fmt: skip
    return lake


@pytest.fixture
def pages(lake: Lake) -> Iterator[Explorer]:
    """The pages over it, which ann may label."""
    with labeled_by_ann(lake) as found:
        yield found


@pytest.fixture
def web(pages: Explorer) -> TestClient:
    """What asks for pages."""
    return client(pages)


def post(web: TestClient, lake: Lake, **fields: str) -> Response:
    """Return the answer to a form as the kill's page has it."""
    run = run_ids(lake)[0]
    text = web.get(f"/runs/{run}/kill").text
    (token, *_) = re.findall(r'name="page_token" value="(\w+)"', text)
    data = {"page_token": token, "run": run, "point": "late", **fields}
    return web.post("/kill-score", data=data)


def scores(lake: Lake) -> list[tuple[object, ...]]:
    """Return what people said of kills, without the times."""
    with connect(lake) as con:
        return con.sql(
            "SELECT trajectory_id, kill_point, value, evidence, source, withdrawn FROM verdicts "
            "WHERE subject = 'rollback' AND starts_with(source, 'human:') ORDER BY made_at"
        ).fetchall()


def test_score_is_in_the_lake_and_the_runs_score_follows(
    web: TestClient, pages: Explorer, lake: Lake
) -> None:
    """It keeps the facts of the harness; a person's word comes before that of the rules."""
    first, second = run_ids(lake)[:2]
    answer = post(web, lake, score="5", note="a draft <b>\x1b[2J stays")

    assert (answer.status_code, answer.headers["location"]) == (303, f"/runs/{second}/kill")
    ((run, point, value, evidence, source, withdrawn),) = scores(lake)
    assert (run, point, value, source, withdrawn) == (first, "late", 5.0, "human:ann", None)
    assert '"boundary": 4' in str(evidence)
    page = web.get(f"/runs/{second}/kill").text
    assert re.search(r'value="5" required checked', page)
    assert "a draft &lt;b&gt;\\x1b[2J stays" in page
    assert "harness says 0 of 10" in page

    assert pages.labeling is not None
    labels = pages.labeling.writer
    wait_until(lambda: not labels.awaits_scores(first))
    with connect(lake) as con:
        found = con.sql(
            "SELECT late_ra.value, late_ra.source FROM trajectory_scores "
            f"WHERE trajectory_id = '{first}'"
        ).fetchall()
    assert found == [(5.0, "human:ann")]


def test_score_can_be_taken_back(web: TestClient, lake: Lake) -> None:
    """The rules' score counts again, and the form is empty."""
    assert post(web, lake, score="7").status_code == 303
    assert post(web, lake, act="undo").status_code == 303

    assert [row[-1] for row in scores(lake)] == [None, True]
    assert "required checked" not in web.get(f"/runs/{run_ids(lake)[0]}/kill?point=late").text


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"score": "6"}, "a kill scores 10, 7, 5, 3, 0"),
        ({"score": "5", "note": "  "}, "a score of 5 needs a note"),
        ({}, "choose one"),
        ({"score": "7", "page_token": "x"}, "not of this start"),
    ],
)
def test_forms_that_say_nothing_write_nothing(
    web: TestClient, lake: Lake, fields: dict[str, str], why: str
) -> None:
    """Neither a score that the rules do not have, nor a form of another page."""
    answer = post(web, lake, **fields)

    assert answer.status_code == 403
    assert why in answer.text
    assert scores(lake) == []


def test_kill_that_is_gone_is_not_scored(web: TestClient, lake: Lake) -> None:
    """The answer says so."""
    assert post(web, lake, score="7", point="early").status_code == 409
    assert post(web, lake, score="7", run="0" * 32).status_code == 409
    assert scores(lake) == []


def test_nobody_scores_who_may_not(lake: Lake) -> None:
    """Without a name the page has no form, and a form is refused."""
    with closing(explorer(lake)) as pages, closing(pages.latest):
        web = client(pages)
        text = web.get(f"/runs/{run_ids(lake)[0]}/kill").text
        token = pages.tokens
        assert 'action="/kill-score"' not in text
        assert "harness says 0 of 10" in text
        assert token is not None
        assert web.post("/kill-score", data={"score": "7"}).status_code == 403
