"""A newer scoring run takes the place of the old one while pages are read."""

import shutil
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer
from tests.lake.lake_rows import age_log
from tests.queries.traces import agent, land, model, request_of
from tests.scoring.job.lakes import run

from tracegrade_explorer.snapshots.latest import LatestSnapshot
from tracegrade_lake import Lake
from tracegrade_lake.maintenance.compaction import CompactOptions, compact
from tracegrade_lake.maintenance.replaced_files import NOTE_NAME, remove_replaced_files
from tracegrade_queries.costs.model_price import ModelPrice
from tracegrade_scoring.job.replaced import MADE_AGAIN
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks.specification import usable_specification


def priced(trace: int) -> bytes:
    """Return a run with a model call of 100 tokens in and 10 out."""
    used: dict[str, Any] = {"gen_ai__usage__input_tokens": 100, "gen_ai__usage__output_tokens": 10}
    asked = model(2, 1, trace=trace, at=1, gen_ai__request__model="gpt-5", **used)
    return request_of([agent(1, trace=trace), asked])


def costs_of(web: TestClient) -> list[float | None]:
    """Return what each run of the list cost."""
    return [row["cost_usd"] for row in web.get("/runs.json").json()["rows"]]


def score_again(lake: Lake) -> None:
    """Score what has come in."""
    score(lake, usable_specification(lake.root / "tasks.yaml")[0])


@pytest.fixture
def lake(scored_lake: Lake, tmp_path: Path) -> Lake:
    """A copy of a lake that was scored once."""
    return Lake.open(shutil.copytree(scored_lake.root, tmp_path / "lake"))


def test_a_reader_keeps_the_scoring_run_that_it_began_with(lake: Lake) -> None:
    """Until it ends; then the old one is closed, and others read the new one all along."""
    with closing(LatestSnapshot(lake)) as latest:
        with latest.reading() as old:
            land(lake, run(9, "look"), seq=9)
            assert not latest.refresh()
            assert latest.freshness.unbuilt == 2
            score_again(lake)
            assert latest.refresh()
            with latest.reading() as new:
                assert new.runs == old.runs + 1
                assert new.run > old.run
            assert old.con.sql("SELECT count(*) FROM run_index").fetchall() == [(old.runs,)]
        with pytest.raises(duckdb.ConnectionException):
            old.con.execute("SELECT 1")
        assert latest.freshness.unbuilt == 0


def test_pages_follow_files_that_were_merged(lake: Lake) -> None:
    """No scoring run comes after the merge, and the files of before leave the disk."""
    land(lake, run(9, "look"), seq=9)
    score_again(lake)
    with closing(explorer(lake)) as pages, closing(pages.latest):
        merged = CompactOptions(tuple(MADE_AGAIN.intersection(lake.tables())), min_age_secs=0)
        assert compact(lake, merged, lambda _: None).files_after
        assert not pages.latest.refresh()
        pages.latest._checks_files_at = 0.0
        assert pages.latest.refresh()
        age_log(lake, days=1.1, table="*")
        (lake.root / NOTE_NAME).write_text('{"looked_at": 0}')
        assert remove_replaced_files(lake, MADE_AGAIN, 1).files
        pages.latest._checks_files_at = 0.0
        assert not pages.latest.refresh()
        web = client(pages)
        rows = web.get("/runs.json").json()["rows"]
        answers = [web.get(f"/runs/{row['trajectory_id']}") for row in rows]
    assert [answer.status_code for answer in answers] == [200] * len(rows)


@pytest.mark.slow
def test_prices_that_are_given_later_reach_the_pages(lake: Lake) -> None:
    """A score that finds no new run, and other prices, is read like any other."""
    with closing(explorer(lake)) as pages, closing(pages.latest):
        before = costs_of(client(pages))
        land(lake, priced(20), seq=20)
        score_again(lake)
        assert pages.latest.refresh()
        listed = costs_of(client(pages))
        prices = {"gpt-5": ModelPrice(input=1.0, output=10.0).by_token()}
        specification = usable_specification(lake.root / "tasks.yaml")[0]
        score(lake, specification, prices=prices)
        assert pages.latest.refresh()
        assert not pages.latest.refresh()
        priced_then = costs_of(client(pages))

    assert {*before} == {None}
    assert {*listed} == {None, 0.000225}
    assert {*priced_then} == {None, 0.0002}


def test_pages_are_whole_while_a_newer_scoring_run_takes_its_place(lake: Lake) -> None:
    """Readers that walk the pages meet no error, and no page that mixes two scoring runs."""
    with closing(explorer(lake)) as pages, closing(pages.latest):
        web = client(pages)
        wrong: list[object] = []
        stop = threading.Event()

        def walk() -> None:
            while not stop.is_set():
                listed = web.get("/runs.json").json()
                if listed["runs"] != listed["of"] or len(listed["rows"]) != listed["runs"]:
                    wrong.append(listed)
                answer = web.get(f"/runs/{listed['rows'][-1]['trajectory_id']}")
                if answer.status_code != 200:
                    wrong.append(answer.text)

        walkers = [threading.Thread(target=walk) for _ in range(3)]
        for walker in walkers:
            walker.start()
        land(lake, run(10, "look", "pay"), seq=10)
        score_again(lake)
        assert pages.latest.refresh()
        stop.set()
        for walker in walkers:
            walker.join()
        assert wrong == []
        assert web.get("/runs.json").json()["runs"] == 5
