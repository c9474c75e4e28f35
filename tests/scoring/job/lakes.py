"""Lakes with a few runs of one task, and what was scored of them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.queries.traces import agent, request_of, tool

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.schema import SCORE_TABLES

TASKS = """
tools: {look: {effect: read, cost: 1}, pay: {effect: destructive}}
tasks:
  refund:
    category: money
    expected: [{decision: find, tool: look}, {decision: pay, tool: pay}]
    sub_goals: {find: {serves: [look]}, pay: {serves: [pay], deps: [find]}}
"""


def run(trace: int, *tools: str, task: str | None = "refund", **fields: Any) -> bytes:
    """Return the request of one run that calls the tools in order."""
    named: dict[str, Any] = {"tracegrade__task__id": task} if task else {}
    spans = [agent(1, trace=trace, **named, **fields)]
    spans += [
        tool(i, 1, tool_name=name, trace=trace, at=i) for i, name in enumerate(tools, start=2)
    ]
    return request_of(spans)


def child(trace: int) -> bytes:
    """Return a run that calls a tool, and an agent as a tool, which calls one itself."""
    spans = [
        agent(1, trace=trace, tracegrade__task__id="refund"),
        tool(2, 1, tool_name="look", trace=trace, at=1),
        tool(3, 1, tool_name="delegate", trace=trace, at=3, ms=50),
        agent(4, 3, trace=trace, agent_name="sub", at=4, ms=20),
        tool(5, 4, tool_name="pay", trace=trace, at=5),
    ]
    return request_of(spans)


def tables(lake: Lake) -> dict[str, list[Any]]:
    """Return every row of every score table, as text so that doubles are compared bit for bit."""
    with connect(lake, layers=(SCORES,)) as con:
        return {
            table.name: [
                repr(row) for row in con.sql(f"FROM {table.name} ORDER BY ALL").fetchall()
            ]
            for table in SCORE_TABLES
        }


def versions(lake: Lake) -> list[int | None]:
    """Return the version of every score table."""
    return [lake.version(table.name) for table in SCORE_TABLES]


def values(lake: Lake, sql: str) -> list[Any]:
    """Return the rows of a query over the lake's scores."""
    with connect(lake, layers=(SCORES,)) as con:
        return con.sql(sql).fetchall()


def copied(lake: Lake, folder: Path) -> Lake:
    """Return a copy of the lake."""
    return Lake.open(shutil.copytree(lake.root, folder / "copy"))


def tracegrade_score(
    lake: Lake, *options: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `tracegrade score` as a process of its own."""
    command = [
        str(Path(sys.executable).with_name("tracegrade")),
        "score",
        "--lake",
        str(lake.root),
    ]
    return subprocess.run(
        [*command, *options],
        capture_output=True, text=True, check=False, env={**os.environ, **variables},
    )  # fmt: skip
