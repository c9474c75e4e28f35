"""Parallel trials ask a live service no more often than the suite says."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import yaml
from starlette.requests import Request
from starlette.responses import JSONResponse
from tests.harness.trial.agents import HarnessRun

from tracegrade_harness.parts.servers.http_server import HttpServer

AGENT = """
import os
import urllib.request

for _ in range(2):
    try:
        urllib.request.urlopen(os.environ["SEARCH_URL"], timeout=1).read()
    except OSError:
        pass  # it has waited long enough
"""


class Search:
    """A service that keeps what it is asked."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        """Answer."""
        if scope["type"] == "http":
            self.paths.append(Request(scope).url.path)
            await JSONResponse({})(scope, receive, send)


@contextmanager
def searching(folder: Path) -> Iterator[tuple[HarnessRun, Search]]:
    """Yield a suite of two trials, and its service, which may be asked once in hours."""
    search = Search()
    with closing(HttpServer(search)) as server:
        url = f"http://127.0.0.1:{server.address.port}"
        upstream = {"url": url, "url_env": "SEARCH_URL", "rate": 0.0001}
        written = {
            "version": 1,
            "suite": "asking",
            "agents": {"a": {"command": ["{python}", "{suite}/agent.py"], "channels": ["http"]}},
            "environments": {"web": {"upstreams": {"search": upstream}}},
            "cases": {"ask": {"environment": "web", "agent": "a", "trials": 2}},
        }
        (folder / "agent.py").write_text(AGENT)
        (folder / "suite.yaml").write_text(yaml.safe_dump(written))
        yield HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home"), search


@pytest.fixture(scope="module")
def paced(tmp_path_factory: pytest.TempPathFactory) -> tuple[HarnessRun, Search]:
    """Both trials, run side by side."""
    with searching(tmp_path_factory.mktemp("paced")) as (suite, search):
        return suite.run("--jobs", "2"), search


def test_a_service_is_asked_once_by_all_trials_together(paced: tuple[HarnessRun, Search]) -> None:
    """Three of four requests still wait when their agents end, and are not made then."""
    tried, search = paced

    assert search.paths == ["/"]
    notes = [note for row in tried.rows for note in json.loads(row["notes"])]
    late = "http: GET / still waited for its turn; it was not sent"
    assert notes.count(late) == 3, notes


def test_a_run_says_how_often_it_asks(paced: tuple[HarnessRun, Search]) -> None:
    """And no trial fails for having waited."""
    tried, _ = paced

    assert tried.ended is not None
    assert ", 0.0001 requests a second at most" in tried.ended.stdout
    assert [row["status"] for row in tried.rows] == ["done", "done"]
