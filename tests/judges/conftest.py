"""A lake of scored runs with sub-goals that only a judge can settle, and a judge file."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from tests.commands import Ended, tracegrade
from tests.queries.traces import agent, land, request_of, tool
from tests.scoring.build import specification

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score

from .model_server import ModelServer, honest, model_server

TASKS = """
tasks:
  refund:
    documents: [policy]
    sub_goals:
      find: {success: {judge: 'Was look called?'}}
      pay: {deps: [find], success: {judge: 'Was pay called?'}}
"""
RUNS = 6
"""Number of runs; half of them call `pay`."""
KEY = "key-of-nobody-4f1d8a"


def one_run(trace: int, *tools: str) -> bytes:
    """Return a run of the task that calls these tools, each with arguments and a result."""
    spans = [agent(1, trace=trace, tracegrade__task__id="refund")]
    spans += [
        tool(
            number,
            1,
            tool_name=name,
            trace=trace,
            at=number,
            gen_ai__tool__call__arguments=f'{{"order": "o-{trace}"}}',
            gen_ai__tool__call__result=f"{name} of o-{trace} is done",
        )
        for number, name in enumerate(tools, start=2)
    ]
    return request_of(spans, {"service.version": "1" if trace <= RUNS // 2 else "2"})


@pytest.fixture(scope="session")
def scored_lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with a few runs, scored; tests take a copy of it."""
    lake = Lake.create(tmp_path_factory.mktemp("judged") / "lake")
    tools = [("look", "pay") if trace % 2 else ("look",) for trace in range(1, RUNS + 1)]
    land(lake, *(one_run(trace, *each) for trace, each in enumerate(tools, start=1)))
    score(lake, specification(TASKS))
    return lake


@pytest.fixture
def lake(scored_lake: Lake, tmp_path: Path) -> Lake:
    """A copy of that lake."""
    return Lake.open(shutil.copytree(scored_lake.root, tmp_path / "lake"))


@contextmanager
def honest_model() -> Iterator[ModelServer]:
    """Run an honest model during the block, known to judge files by the environment."""
    with model_server(honest) as found, pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_BASE_URL", found.url)
        patch.setenv("JUDGE_KEY", KEY)
        yield found


class YesCounts(NamedTuple):
    """A lake whose runs were judged once, how that ended, and the requests that it took."""

    lake: Lake
    ended: Ended
    requests: int


@pytest.fixture(scope="session")
def judged_once(scored_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> YesCounts:
    """A copy of that lake, judged by an honest model; only read."""
    folder = tmp_path_factory.mktemp("first")
    lake = Lake.open(shutil.copytree(scored_lake.root, folder / "lake"))
    with honest_model() as server:
        command = ("judge", "run", judge_file(folder), "--lake", lake.root)
        ended = tracegrade(*command, "--max-tokens", 1_000_000)
        assert set(server.keys) == {f"Bearer {KEY}"}
        return YesCounts(lake, ended, len(server.bodies))


@pytest.fixture
def judged(judged_once: YesCounts, tmp_path: Path) -> Lake:
    """A copy of that lake, with 9 verdicts that are yes and 3 that are no."""
    return Lake.open(shutil.copytree(judged_once.lake.root, tmp_path / "judged"))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """An honest model of this test's own."""
    with honest_model() as found:
        yield found


def judge_file(folder: Path, **judge: Any) -> Path:
    """Write a judge file with one judge, `nodes`, and return it."""
    model = {"base_url": "$JUDGE_BASE_URL", "name": "rules-1", "api_key": "$JUDGE_KEY"}
    given = {"subject": "sub_goal", **judge}
    given["model"] = model | given.get("model", {})
    (folder / "policy.md").write_text("Refunds up to 50 need no approval.")
    path = folder / "judges.yaml"
    file = {"version": 1, "judges": {"nodes": given}, "documents": {"policy": "policy.md"}}
    path.write_text(yaml.safe_dump(file))
    return path


@pytest.fixture
def judges(tmp_path: Path) -> Path:
    """The judge file."""
    return judge_file(tmp_path)
