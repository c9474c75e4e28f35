"""Runs appear while spans come in: builds, states, news of a page, and scoring every so often."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import psutil
import pytest
from starlette.testclient import TestClient
from tests.collector.running import collecting
from tests.explorer.lakes import client, explorer, unscored
from tests.explorer.test_server import ui
from tests.queries.traces import agent, land, request_of, tool
from tests.scoring.job.lakes import run
from tests.waiting import wait_until

from tracegrade_explorer.snapshots.latest import LatestSnapshot
from tracegrade_explorer.snapshots.scoring_need import ScoringNeed
from tracegrade_explorer.upkeep.builder import BUILD_ALL, ENDED, LakeBuilder
from tracegrade_explorer.upkeep.score_timer import ScoreTimer
from tracegrade_explorer.upkeep.scoring_process import ENDED as ENDED_WITH
from tracegrade_explorer.upkeep.scoring_process import ScoringProcess
from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.build.last_build import last_build_number
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.run_states import RunState
from tracegrade_scoring.tasks import Specification

HOSTILE = "<b>pay</b>\x1b[31m"
PROGRAM = """
import sys, threading
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(sys.argv[1] + "/v1/traces")))
tracer = provider.get_tracer("agent")
of_agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "watched"}
of_tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read_csv"}
with tracer.start_as_current_span("invoke_agent watched", attributes=of_agent):
    with tracer.start_as_current_span("execute_tool read_csv", attributes=of_tool):
        pass
    print("called", flush=True)
    sys.stdin.readline()
provider.shutdown()
"""


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake with one run that no build has seen."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, "look", "pay"), seq=1)
    return lake


@contextmanager
def shown(lake: Lake) -> Iterator[TestClient]:
    """Serve the pages of a lake, without builds."""
    with closing(explorer(lake)) as pages, closing(pages.latest):
        yield client(pages)


def read(opener: urllib.request.OpenerDirector, url: str) -> str:
    """Return a page of a server."""
    page: str = opener.open(url).read().decode()
    return page


def test_a_run_is_shown_while_its_agent_works(tmp_path: Path) -> None:
    """From a stock exporter through a collector to the page, its end, and its scores."""
    root = tmp_path / "lake"
    Lake.create(root)
    program = [sys.executable, "-c", PROGRAM]
    with collecting(root) as collector, ui(root, "--no-token", "--score-every", 1) as server:
        assert server.stdout is not None
        base = server.stdout.readline().removeprefix("ui: ").strip().rstrip("/")
        opener = urllib.request.build_opener()
        working = subprocess.Popen([*program, collector.url], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)  # fmt: skip
        with working:
            assert working.stdout is not None
            assert working.stdout.readline() == "called\n"
            wait_until(lambda: "1 running" in read(opener, f"{base}/"))
            (row,) = orjson.loads(read(opener, f"{base}/runs.json?state=running"))["rows"]
            page = read(opener, f"{base}/runs/{row['trajectory_id']}")
            working.communicate("\n")
        listed = f"{base}/runs.json?agent=watched&state=scored"
        wait_until(lambda: orjson.loads(read(opener, listed))["rows"])
        same_run = read(opener, f"{base}/runs/{row['trajectory_id']}")
        server.send_signal(signal.SIGTERM)
        server.wait()

    assert (row["state"], row["tool_call_count"]) == ("running", 1)
    assert re.search(r"Running: 1 call, last read_csv, last span \d+ s ago, on ", page)
    assert "crashed" not in page
    assert "Running: " not in same_run


def test_two_servers_on_one_lake_build_once(lake: Lake) -> None:
    """Both find the new file; the second finds nothing left to build, or the first at work."""
    builds = [list[str](), list[str]()]
    builders = [LakeBuilder(lake, partial(into.append, "built")) for into in builds]
    with closing(builders[0]), closing(builders[1]):
        at_once = [threading.Thread(target=each.build_new_files) for each in builders]
        for thread in at_once:
            thread.start()
        for thread in at_once:
            thread.join()
        for builder in builders:
            builder.build_new_files()
            assert not builder.build_new_files()

    assert last_build_number(lake) == 1
    assert builds[0] or builds[1]


def test_killed_builder_is_started_again(lake: Lake, tmp_path: Path) -> None:
    """What it was about is built by the next one, to the same rows."""
    faults = []
    with closing(LakeBuilder(lake, lambda: None)) as builder:
        working = threading.Thread(target=builder.build_new_files)
        working.start()
        wait_until(lambda: builder.pid)
        os.kill(builder.pid or 0, signal.SIGKILL)
        working.join()
        faults.append(builder.fault)
        assert builder.build_new_files()
        faults.append(builder.fault)

    assert faults == [ENDED, ""]
    undisturbed = Lake.create(tmp_path / "undisturbed")
    land(undisturbed, run(1, "look", "pay"), seq=1)
    build(undisturbed)
    assert rows_of(lake, "steps") == rows_of(undisturbed, "steps")


def rows_of(lake: Lake, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table."""
    dataset = lake.dataset(table)
    assert dataset is not None
    return sorted(dataset.to_table().to_pylist(), key=repr)


def test_a_lake_that_cannot_be_written_says_so_on_its_pages(lake: Lake) -> None:
    """Once as a warning, and on each page until a build goes well."""
    with closing(LakeBuilder(lake, lambda: None)) as builder:
        (lake.root / "steps").write_text("in the way")
        assert not builder.build_new_files()
        assert "steps" in builder.fault
        (lake.root / "steps").unlink()
        assert builder.build_new_files()
        assert builder.fault == ""


def test_a_lake_of_an_earlier_version_is_left_to_a_scoring_run(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it would be built again, which a reader who opens a page does not expect."""
    with monkeypatch.context() as earlier:
        earlier.setattr("tracegrade_queries.build.build.STEPS_VERSION", 1)
        build(lake)
    steps = lake.version("steps")
    land(lake, run(2, "look"), seq=2)
    with closing(LakeBuilder(lake, lambda: None)) as builder:
        assert not builder.build_new_files()
        assert (builder.fault, lake.version("steps")) == (BUILD_ALL, steps)
        build(lake)
        assert builder.build_new_files()
        assert builder.fault == ""


def test_a_build_renews_the_pages(lake: Lake) -> None:
    """A snapshot is of a scoring run and of the build after it."""
    with closing(LatestSnapshot(lake, is_built=True)) as latest:
        assert latest.freshness.unbuilt == 0
        with closing(LakeBuilder(lake, latest.wake)) as builder:
            assert builder.build_new_files()
        assert latest.refresh()
        assert not latest.refresh()
        with latest.reading() as snapshot:
            assert (snapshot.runs, snapshot.state.build, snapshot.run) == (1, 1, 0)


def test_scoring_runs_that_follow_one_another_leave_time_for_pages(lake: Lake) -> None:
    """A single one renews the index at once, and the next ones once it has rested."""
    with closing(LatestSnapshot(lake, is_built=True)) as latest:
        begun = time.monotonic()
        score(lake, Specification())
        latest._renews_at = begun + 3_600
        latest._renews_for_scores_at = begun + 3_600
        assert not latest._is_due()
        latest._renews_for_scores_at = begun
        assert latest._is_due()
        assert latest.refresh()
        assert latest._renews_for_scores_at < latest._renews_at


def test_the_first_page_says_when_scores_were_written(lake: Lake) -> None:
    """In words and for programs; a lake without scores has no such time."""
    with shown(lake) as web:
        build(lake)
        assert "newest scored" not in web.get("/").text
        assert web.get("/now.json").json()["last_scored_ms"] is None
    score(lake, Specification())
    with shown(lake) as web:
        assert re.search(r"newest scored \d+ (s|min) ago", web.get("/").text)
        assert web.get("/now.json").json()["last_scored_ms"] > 0


def test_page_asks_what_has_come_since(tmp_path: Path) -> None:
    """New runs, new steps of a run, and scores; a page without anything new gets nothing."""
    lake = unscored(tmp_path / "lake")
    with closing(explorer(lake)) as pages, closing(pages.latest):
        web = client(pages)
        (row,) = web.get("/runs.json").json()["rows"]
        of_lake, of_run = (
            re.findall(r'data-news="([^"]+)"', web.get(path).text)[0].replace("&amp;", "&")
            for path in ("/", f"/runs/{row['trajectory_id']}")
        )
        before = [web.get(each).json()["news"] for each in (of_lake, of_run)]
        land(lake, run(2, "look"), run(3, "pay"), run(1, "look", "pay", "pay", "pay"), seq=2)
        build(lake)
        assert pages.latest.refresh()
        after = [web.get(each).json()["news"] for each in (of_lake, of_run)]

    assert before == ["", ""]
    assert after == ["2 new runs", "2 new steps"]


@pytest.mark.parametrize(
    "query", ["runs=~", "runs=-1", "runs=9999999999999999999", "runs=²", "x=1"]
)
def test_state_takes_any_address(lake: Lake, query: str) -> None:
    """Nothing is new to a page that does not say what it shows."""
    with shown(lake) as web:
        answer = web.get(f"/state.json?{query}")
        assert web.get("/state").status_code == 404
        assert web.get("/state.json?run=none").status_code == 404
    assert answer.json()["news"] == ""


def test_page_loads_itself_again_without_scripts(lake: Lake) -> None:
    """Any page, where its address says so; and the page of that address is the same."""
    with shown(lake) as web:
        live, still = web.get("/runs?live=1&sort=steps").text, web.get("/runs?sort=steps").text
    refresh = '<meta http-equiv="refresh" content="10">'
    assert refresh in live
    assert refresh not in still
    assert '<input type="hidden" name="sort" value="steps">' in still
    assert 'name="live" value="1"' in still


def test_unscored_lake_has_no_empty_page(tmp_path: Path) -> None:
    """Runs with their steps, calls and errors are there before any score."""
    lake = Lake.create(tmp_path / "lake")
    spans = [agent(1, agent_name=HOSTILE), tool(2, 1, tool_name=HOSTILE, at=1),
             tool(3, 1, tool_name="pay", at=2, error="no money")]  # fmt: skip
    land(lake, request_of(spans), seq=1)
    build(lake)
    with shown(lake) as web:
        (row,) = web.get("/runs.json").json()["rows"]
        pages = {path: web.get(path) for path in (
            "/?window=30d", "/runs", f"/runs/{row['trajectory_id']}", "/tasks", "/releases",
            "/trends", "/search", "/sql", "/conversations", "/money",
        )}  # fmt: skip

    assert (row["state"], row["step_count"], row["error_count"]) == (RunState.ENDED, 2, 1)
    assert {answer.status_code for answer in pages.values()} == {200}
    assert "1 waiting to be scored" in pages["/?window=30d"].text
    assert ">ended<" in pages["/runs"].text
    of_run = pages[f"/runs/{row['trajectory_id']}"].text
    assert "Ended, waiting to be scored" in of_run
    assert "no money" in of_run
    assert "\x1b" not in of_run
    assert "<b>pay</b>" not in of_run


def test_a_scoring_run_follows_what_is_new_alone(lake: Lake) -> None:
    """The timer starts none while nothing has come in and no run has settled."""
    with closing(LatestSnapshot(lake)) as latest:
        need = ScoringNeed(latest)
        first = [need.may_exist(), need.may_exist()]
        land(lake, run(2, "look"), seq=2)
        second = [need.may_exist(), need.may_exist()]
    assert (first, second) == ([True, False], [True, False])


def test_timer_repeats_a_scoring_run_that_failed(
    lake: Lake, caplog: pytest.LogCaptureFixture
) -> None:
    """What was new then, another job's run may not have seen; nothing newer has to come first."""
    scoring = ScoringProcess(str(lake.root))
    due = iter([True])
    with closing(ScoreTimer(scoring, 0.01, lambda: next(due, False))) as timer:
        with closing(lake.lock("score")) as other_job:
            other_job.acquire()
            timer.follow()
            wait_until(lambda: "another job is scoring" in caplog.text)
        wait_until(lambda: lake.version("trajectory_scores") is not None)
        scoring.close()


def test_a_killed_scoring_run_has_failed(lake: Lake) -> None:
    """It could not say why."""
    scoring = ScoringProcess(str(lake.root))
    with ThreadPoolExecutor() as pool, closing(lake.lock("build")) as build_lock:
        build_lock.acquire()  # so that the run waits
        result = pool.submit(scoring.run)
        wait_until(lambda: scoring.is_running)
        wait_until(lambda: psutil.Process().children())
        for child in psutil.Process().children():
            child.kill()
    assert result.result() == f"{ENDED_WITH} -9"


def test_timer_scores_until_it_is_closed(lake: Lake) -> None:
    """As `tracegrade score` does."""
    scoring = ScoringProcess(str(lake.root))
    with closing(ScoreTimer(scoring, 0.01, lambda: True)) as timer:
        timer.follow()
        wait_until(lambda: lake.version("trajectory_scores") is not None)
        scoring.close()
    assert not scoring.is_running
