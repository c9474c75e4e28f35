"""A killed run hears its model say what it said before, though nothing else is on tape."""

import json
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
import yaml
from starlette.responses import JSONResponse
from tests.commands import tracegrade
from tests.harness.trial.agents import HarnessRun

from tracegrade_harness.parts.servers.http_server import HttpServer

AGENT = """
import os
import urllib.request
from pathlib import Path

import tracegrade


def model(prompt):
    asked = urllib.request.Request(os.environ["MODEL_URL"] + "/chat", prompt.encode())
    with urllib.request.urlopen(asked) as answer:
        return answer.read().decode()


@tracegrade.tool(effect="read")
def look(what):
    return what


@tracegrade.tool
def write(name, text):
    Path("data", name).write_text(text)


tracegrade.init(service="ignored")
with tracegrade.agent_run("worker", task="plan", user_input="Work.") as run:
    look(model("What first?"))
    write("a", model("What next?"))
    write("b", model("What next?"))
    run.answer("Done.")
"""
UNKNOWN = "no_tokens: a model without a name does not report its tokens"


class Model:
    """A model that never says the same again."""

    def __init__(self) -> None:
        self.numbers = count(1)

    async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        """Answer with a number that goes up."""
        if scope["type"] == "http":
            await JSONResponse(f"number {next(self.numbers)}")(scope, receive, send)


def made(folder: Path, url: str) -> HarnessRun:
    """Write a suite whose agent does what its model says."""
    (folder / "fixtures").mkdir()
    (folder / "fixtures/notes").write_text("Buy milk.")
    (folder / "agent.py").write_text(AGENT)
    agent = {"command": ["{python}", "{suite}/agent.py"], "environment": {"pass": ["PYTHONPATH"]}}
    model = {"url": url, "url_env": "MODEL_URL", "protocol": "model"}
    files = {"data": {"from": "fixtures", "at": "data"}}
    suite = {
        "version": 1,
        "suite": "planning",
        "agents": {"worker": agent},
        "environments": {"desk": {"files": files, "upstreams": {"model": model}}},
        "cases": {
            "plan": {
                "environment": "desk",
                "agent": "worker",
                "kill": {"points": ["mid", "late"]},
                "verify": [{"files": "data", "path": "b"}],
            }
        },
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    return HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")


def notes(tried: HarnessRun) -> dict[str, list[str]]:
    """Return what is noted of each kill."""
    verdicts = tried.verdicts(tried.row("plan")["trajectory_id"])
    found = [each for each in verdicts if each["subject"] == "rollback"]
    return {each["kill_point"]: json.loads(each["evidence"]).get("notes", []) for each in found}


@pytest.fixture
def suite(tmp_path: Path) -> Iterator[tuple[HarnessRun, HttpServer]]:
    """The suite, and its model while it is there."""
    with closing(HttpServer(Model())) as server:
        yield made(tmp_path, f"http://127.0.0.1:{server.address.port}"), server


def points(tried: HarnessRun) -> list[int]:
    """Return after which calls it was killed."""
    return [tried.row("plan", each)["boundary"] for each in ("mid", "late")]


def test_a_killed_run_does_what_the_undisturbed_one_did(
    suite: tuple[HarnessRun, HttpServer],
) -> None:
    """Up to its point, even if the model would now answer differently."""
    live = suite[0].run()

    assert live.ended is not None
    assert live.ended.returncode == 0, live.ended.stderr
    assert points(live) == [2, 3]
    assert notes(live) == {key: [UNKNOWN] for key in ("mid", "late")}


@pytest.mark.slow
def test_an_agent_that_writes_its_own_spans_is_run_by_its_tape(
    suite: tuple[HarnessRun, HttpServer],
) -> None:
    """The model is gone by then."""
    written, server = suite
    words = (str(written.suite), "--folder", str(written.home))
    recorded = tracegrade("harness", "record", "--yes-as-root", *words)
    assert recorded.returncode == 0, recorded.stderr
    server.close()
    tried = written.run("--mode", "mocked").build()

    assert tried.ended is not None
    assert tried.ended.returncode == 0, tried.ended.stderr
    assert points(tried) == [2, 3]
    assert notes(tried) == {key: [UNKNOWN] for key in ("mid", "late")}
    (row,) = tried.query("SELECT DISTINCT run_mode FROM trajectories WHERE kill_point IS NULL")
    assert row["run_mode"] == "mocked"
