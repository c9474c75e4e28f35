"""The lakes of the stories: an order desk, an airline, teams of frameworks, and spent money."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.commands import tracegrade
from tests.queries.test_pricing import call
from tests.queries.traces import agent, capture, land, request_of

from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.importer import import_files
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.tasks import Specification, load
from tracegrade_scoring.tasks.ground_truth import task_file

TEAMS = (
    "agent-framework_handoff", "autogen_swarm", "crewai_two-agents", "google-adk_parallel",
    "logfire_openai-agents_handoff",
)  # fmt: skip
"""Captures of frameworks with several agents in a run."""
SPENT = (
    ("1.0", "desk", "refund", "gpt-4o", 100_000),
    ("1.0", "desk", "track", "gpt-4o-mini", 900_000),
    ("1.1", "desk", "refund", "gpt-4o-mini", 40_000),
    ("1.1", "scout", "track", "gpt-4o", 7_000),
    ("1.1", "scout", "refund", "gpt-4o", 350_000),
)
"""Release, agent, task, model and input tokens of runs on days one after another."""
DAY_MS = 86_400_000


def order_desk(folder: Path) -> Lake:
    """Return two releases of an order desk, which `tracegrade sample` writes."""
    lake = folder / "lake"
    for words in (
        ("sample", folder),
        ("import", folder / "runs.jsonl", "--lake", lake),
        ("score", "--lake", lake, "--tasks", folder / "tasks.yaml"),
    ):
        ended = tracegrade(*words)
        assert ended.returncode == 0, ended.stderr
    return Lake.open(lake)


def airline(folder: Path, data: Path) -> Lake:
    """Return twelve conversations with an airline's agent. Source of the runs: [tau-bench]."""
    runs = json.loads((data / "tau-bench" / "gpt-4o-airline.json").read_text())[:12]
    file = folder / "runs.jsonl"
    file.write_text("".join(json.dumps(run) + "\n" for run in runs))
    names = {"messages": "traj", "task": "task_id", "trial": "trial", "success": "reward"}
    lake = Lake.create(folder / "lake")
    import_files(lake, [file], list[str]().append, reading=ReadOptions("messages", names))
    (folder / "tasks.yaml").write_text(task_file([file], {}, "true", list[str]().append))
    score(lake, load([folder / "tasks.yaml"]).specification)
    return lake


def teams(folder: Path) -> Lake:
    """Return runs of several agents as frameworks sent them, scored without any task."""
    lake = Lake.create(folder / "lake")
    for number, name in enumerate(TEAMS, 1):
        land(lake, capture(name), seq=number)
    score(lake, Specification())
    return lake


def spent(folder: Path) -> Lake:
    """Return runs of two agents, releases, tasks and listed models, a day after another."""
    lake = Lake.create(folder / "lake")
    for number, (release, name, task, model, tokens) in enumerate(SPENT, 1):
        used = {"input_tokens": tokens, "output_tokens": tokens // 10}
        begin = number * DAY_MS
        span = agent(1, agent_name=name, at=begin, tracegrade__task__id=task)
        spans = [span, _later(call(2, model, **used), begin)]
        named = [{**each, "traceId": f"{number:032x}"} for each in spans]
        land(lake, request_of(named, {"service.version": release}), seq=number)
    score(lake, Specification())
    return lake


def _later(span: Any, by_ms: int) -> Any:
    """Return a span that begins and ends so much later."""
    ends = ("startTimeUnixNano", "endTimeUnixNano")
    return {**span, **{end: str(int(span[end]) + by_ms * 1_000_000) for end in ends}}


def ask(lake: Lake, text: str, **values: object) -> list[tuple[Any, ...]]:
    """Return the rows of a query over a lake and its scores."""
    with connect(lake, layers=(SCORES,)) as con, closing(con.cursor()) as cursor:
        return cursor.execute(text, values or None).fetchall()
