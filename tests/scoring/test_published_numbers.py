"""From spans and verdicts in a lake to the numbers that were published."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.importer import import_files
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.sql import query
from tracegrade_scoring.statistics.reliability import Attempts, passes
from tracegrade_scoring.statistics.t_score import Axes, t_score
from tracegrade_scoring.statistics.tiers import classify
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.tasks.ground_truth import task_file

from ..commands import tracegrade
from ..queries.traces import agent, land, request_of, span, tool
from .build import specification

TASK = """
tools:
  list_files: {effect: read}
  list_all: {effect: read}
  free_space: {effect: read}
  read_csv: {effect: read}
  write_clean: {effect: write}
  write_report: {effect: write}
  archive: {effect: write}
tasks:
  files:
    scope: [list_files, free_space, read_csv, write_clean, write_report]
    expected:
      - tool: list_files
      - tool: read_csv
      - tool: free_space
      - tool: write_clean
      - tool: read_csv
      - tool: free_space
      - tool: write_clean
      - tool: read_csv
      - tool: read_csv
      - tool: write_clean
      - tool: write_clean
      - tool: write_report
"""
"""The article's file-processing agent: it gets 9 of 12 decision points right."""

MADE = (
    *("list_all", "read_csv", "write_report", "write_clean", "read_csv", "archive"),
    *("write_clean", "read_csv", "read_csv", "write_clean", "write_clean", "write_report"),
)

PLAN = [
    {"id": "list", "tool": "list_files", "outputs": ["files"]},
    {"id": "validate", "tool": "read_csv", "inputs": ["files"], "outputs": ["rows"]},
    {"id": "clean", "tool": "write_clean", "inputs": ["rows"], "outputs": ["clean"]},
    {"id": "archive", "tool": "archive", "inputs": ["files"]},
    {
        **{"id": "report", "tool": "write_report", "inputs": ["clean"]},
        **{"effect": "write", "rollback": "delete the report"},
    },
]

KILLS = [
    {"kill_point": "early", "value": 10, "source": "harness"},
    {"kill_point": "mid", "value": 7, "source": "harness"},
    {"kill_point": "late", "value": 5, "source": "human", "evidence": "complete but opaque"},
]

READS = (
    *("calculate", "get_reservation_details", "get_user_details", "list_all_airports"),
    *("search_direct_flight", "search_onestop_flight", "think"),
)
WRITES = (
    *("book_reservation", "cancel_reservation", "send_certificate", "transfer_to_human_agents"),
    *("update_reservation_baggages", "update_reservation_flights"),
    "update_reservation_passengers",
)
"""The tools of τ-bench's airline."""


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake.create(tmp_path / "lake")


def found(lake: Lake, sql: str) -> list[Any]:
    """Return the rows of a query over the lake's scores."""
    with connect(lake, layers=(SCORES,)) as con:
        return con.sql(sql).fetchall()


@pytest.mark.slow
def test_worked_example_of_the_triangle(lake: Lake, tmp_path: Path) -> None:
    """TSA 7.5, PQ 3.75, RA 22/3 from three verdicts: T-Score 5.60, Staging-Only."""
    planned: Mapping[str, Any] = {
        "tracegrade__step__kind": "plan",
        "tracegrade__plan": json.dumps(PLAN),
    }
    spans = [agent(1, tracegrade__task__id="files"), span(2, 1, at=1, ms=1, **planned)]
    spans += [tool(i, 1, tool_name=name, at=i) for i, name in enumerate(MADE, start=3)]
    land(lake, request_of(spans))
    kills = [{"trace_id": f"{1:032x}", "subject": "rollback", **kill} for kill in KILLS]
    file = tmp_path / "kills.jsonl"
    file.write_text("".join(json.dumps(kill) + "\n" for kill in kills))
    import_files(lake, [file], list[str]().append)
    score(lake, specification(TASK))

    ((tsa, pq, ra, late),) = found(
        lake,
        "SELECT tsa.value, pq_strict.value, ra_after_recovery.value, late_ra.value "
        "FROM trajectory_scores",
    )
    assert (tsa, pq, ra, late) == (0.75, 3.75, 22 / 3, 5)
    composite = t_score(Axes(10 * tsa, pq, ra))
    assert round(composite.value or 0, 2) == 5.60
    assert composite.label == "Staging-Only"

    shown = tmp_path / "report.json"
    words = ("--compat", "triangle", "--format", "json", "--out", shown)
    assert tracegrade("report", "--lake", lake.location, *words).returncode == 0
    (release,) = json.loads(shown.read_text())["releases"]
    (by_task,) = release["t_score"]["tasks"]
    values = (release["t_score"]["axes"]["pq"], release["t_score"]["value"], by_task["t_score"])
    assert [round(value, 2) for value in values] == [3.75, 5.60, 5.60]


@pytest.mark.slow
def test_imported_tau_bench_has_its_own_table(lake: Lake, shared_data: Path) -> None:
    """200 airline runs of gpt-4o, imported and scored, give the published pass^k and pass@k."""
    paths = {"messages": "traj", "task": "task_id", "trial": "trial", "success": "reward"}
    file = shared_data / "tau-bench" / "gpt-4o-airline.json"
    import_files(lake, [file], list[str]().append, reading=ReadOptions("messages", paths))
    score(lake, Specification())

    with connect(lake, layers=(SCORES,)) as con:
        rows = con.sql(query("attempt_successes")).to_arrow_table().to_pylist()
    tasks = [Attempts(row["valid_attempts"], row["correct"], row["invalid"]) for row in rows]
    table = passes(tasks)
    assert [round(p.pass_hat_k, 3) for p in table] == [0.420, 0.273, 0.220, 0.200]
    assert [round(p.pass_at_k, 3) for p in table] == [0.420, 0.567, 0.660, 0.720]
    assert sum(row["superseded"] for row in rows) == 0
    assert classify(tasks).tier == "Not ready"


@pytest.mark.slow
@pytest.mark.parametrize(("complete", "unexplained"), [("writes", 18), ("true", 0)])
def test_failed_runs_of_tau_bench_have_reasons(
    lake: Lake, shared_data: Path, complete: str, unexplained: int
) -> None:
    """Of 116 failed runs at most 16 % are unexplained; reasons name steps of their own runs."""
    paths = {"messages": "traj", "task": "task_id", "trial": "trial", "success": "reward"}
    file = shared_data / "tau-bench" / "gpt-4o-airline.json"
    import_files(lake, [file], list[str]().append, reading=ReadOptions("messages", paths))
    tasks = yaml.safe_load(task_file([file], {}, complete, list[str]().append))["tasks"]
    tools = {name: {"effect": "read"} for name in READS} | {
        name: {"effect": "write"} for name in WRITES
    }
    score(lake, specification(json.dumps({"tools": tools, "tasks": tasks})))

    assert found(lake, """
      SELECT count(*), count_if(kind = 'unexplained'), max(length(sentence)) <= 120
      FROM run_reasons WHERE success IS FALSE AND rank_in_run = 1
    """) == [(116, unexplained, True)]  # fmt: skip
    assert found(lake, """
      SELECT count(*) FROM run_reasons ANTI JOIN steps
      ON run_reasons.trajectory_id = steps.trajectory_id
      AND run_reasons.step_trajectory_id = steps.trajectory_id
      AND run_reasons.step_index = steps.step_index
      WHERE run_reasons.step_index IS NOT NULL
    """) == [(0,)]  # fmt: skip
    said = "called book_reservation with nonfree_baggages 1, expected 0"
    assert found(lake, f"SELECT count(*) FROM run_reasons WHERE sentence = '{said}'") > [(0,)]
