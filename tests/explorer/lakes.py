"""Lakes of the explorer's tests: two scored releases, and what has no scores yet."""

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from httpx2 import Response
from starlette.testclient import TestClient
from tests.queries.traces import land
from tests.scoring.job.lakes import TASKS, child, run
from tests.scoring.report.build import START, Tables, as_lake, fill_sample
from tests.waiting import PATIENCE_SECS

from tracegrade_explorer.app import Explorer, Labeling
from tracegrade_explorer.labels.people import everybody_is
from tracegrade_explorer.labels.writer import LabelWriter
from tracegrade_explorer.responses import Site
from tracegrade_explorer.snapshots.latest import LatestSnapshot
from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks.specification import usable_specification

LONG = "word " * 1_000
LOOPED = "t1"
"""A failed run of the sample with a loop, texts of every kind, two plans and a sub-agent."""
NEVER_REACHED = "archive"
"""A sub-goal of its task that no run attempts."""


def sample(root: Path) -> Lake:
    """Return two releases of a file agent and one of an agent without tasks."""
    with closing(Tables()) as tables:
        fill_sample(tables)
        _fill_run(tables)
        return as_lake(tables, root)


def _fill_run(tables: Tables) -> None:
    facts: list[Mapping[str, Any]] = [
        {"kind": "message", "role": "user", "content": "Process the uploads"},
        {"kind": "plan", "content": None, "plan": '[{"id": "a", "text": "look"}, {"id": "b"}]'},
        {"kind": "thought", "content": LONG},
        *_calls(3, 5),
        {"kind": "tool_call", "tool_name": "delegate", "arguments": "{}", "status": "ok"},
        {"kind": "plan", "plan": '[{"id": "a", "text": "look", "status": "done"}, {"id": "c"}]'},
        {"kind": "tool_call", "tool_name": "write", "arguments": '{"to": 1}', "status": "error",
         "error_message": "disk full", "flags": ["redacted"]},
        {"kind": "answer", "content": "Sorry"},
    ]  # fmt: skip
    for index, fact in enumerate(facts):
        row = {"trajectory_id": LOOPED, "step_index": index, "start_time": START, **fact}
        tables.insert("steps", **row)
    tables.insert(
        "trajectories", trajectory_id="t1-child", parent_trajectory_id=LOOPED, parent_step=13,
        trace_id="trace1", root_span_id="c", agent_name="helper", step_count=2, error_count=0,
        complete=True,
    )  # fmt: skip
    tables.insert(
        "failures", trajectory_id=LOOPED, mode="loop_trap", step_index=3, detail="round and round"
    )
    tables.insert(
        "sub_goals", trajectory_id=LOOPED, sub_goal=NEVER_REACHED, critical=False, weight=1.0,
        attempted=False, completed=False, task_id="process-uploads", release="1.0",
    )  # fmt: skip
    tables.con.execute(
        "UPDATE trajectories SET step_count = $steps, trace_id = 'trace1', conversation_id = 'k', "
        "user_input = 'Process the uploads', final_answer = 'Sorry' "
        "WHERE trajectory_id = $id",
        {"id": LOOPED, "steps": len(facts)},
    )
    tables.con.execute("UPDATE raw_spans SET trace_id = 'trace1' WHERE span_id = 't1'")


def _calls(first: int, count: int) -> list[Mapping[str, Any]]:
    """Return equal calls, each with what was observed of it."""
    found: list[Mapping[str, Any]] = []
    for place in range(count):
        call = {"tool_name": "scan", "arguments": '{"all": true}', "result": "nothing"}
        seen = {"kind": "observation", "tool_name": "scan", "content": "nothing"}
        found += [
            {"kind": "tool_call", "status": "ok", **call},
            {**seen, "call_step": first + 2 * place},
        ]
    return found


def scored(root: Path) -> Lake:
    """Return a lake whose runs came in as spans, and were scored once."""
    lake = Lake.create(root)
    for seq, tools in enumerate((("look", "pay"), ("pay",), ("look",) * 5), start=1):
        land(lake, run(seq, *tools), seq=seq)
    land(lake, child(4), seq=4)
    (root / "tasks.yaml").write_text(f"version: 1\n{TASKS}")
    score(lake, usable_specification(root / "tasks.yaml")[0])
    return lake


def unscored(root: Path) -> Lake:
    """Return a lake whose runs were built, and never scored."""
    lake = Lake.create(root)
    land(lake, run(1, "look", "pay"), seq=1)
    build(lake)
    return lake


def explorer(lake: Lake, *, sql: bool = True) -> Explorer:
    """Return the pages over a lake."""
    return Explorer(LatestSnapshot(lake), Site(str(lake.root), sql, PATIENCE_SECS), PATIENCE_SECS)


@contextmanager
def labeled_by_ann(lake: Lake) -> Iterator[Explorer]:
    """Serve the pages over a lake, on which ann may label, mark and acknowledge."""
    with closing(explorer(lake)) as pages, closing(pages.latest):
        pages.labeling = Labeling(everybody_is("ann"), LabelWriter(str(lake.root)))
        yield pages


def run_query(web: TestClient, text: str, form: str = "", **values: str) -> Response:
    """Return what a reader gets who opens the editor, writes a query and runs it."""
    page = web.get("/sql").text
    (token, *_) = re.findall(r'name="page_token" value="(\w+)"', page)
    fields = {f"p.{name}": value for name, value in values.items()}
    return web.post(f"/sql{form}", data={"page_token": token, "q": text, **fields})


def run_saved(web: TestClient, name: str, form: str = "", **values: str) -> Response:
    """Return what a reader gets who opens a saved query and runs it."""
    (token, *_) = re.findall(r'name="page_token" value="(\w+)"', web.get(f"/sql/{name}").text)
    fields = {f"p.{each}": value for each, value in values.items()}
    return web.post(f"/sql/{name}{form}", data={"page_token": token, **fields})


def client(pages: Explorer) -> TestClient:
    """Return what asks for pages, without a guard before them."""
    return TestClient(pages.app(), follow_redirects=False)
