"""On real runs: three of ours, written as own metrics, have equal scores to the last bit."""

import json
from pathlib import Path

import pytest
import yaml
from tests.commands import tracegrade

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.tasks.ground_truth import task_file

from .test_own_metrics import AS_OURS, DIFFERENT

PATHS = "messages=traj,task=task_id,trial=trial,success=reward"


@pytest.mark.slow
def test_runs_of_tau_bench_have_the_scores_of_ours(shared_data: Path, tmp_path: Path) -> None:
    """200 runs of an airline agent, with the calls that the benchmark expects."""
    data = shared_data / "tau-bench" / "gpt-4o-airline.json"
    paths = {"task": "task_id", "expected": "info.task.actions"}
    tasks = yaml.safe_load(task_file([data], paths, "writes", print))
    (tmp_path / "tasks.yaml").write_text(json.dumps(tasks))
    lake = ("--lake", tmp_path / "lake")
    for words in (
        ("import", data, *lake, "--format", "messages", "--map", PATHS),
        ("score", *lake, "--tasks", tmp_path / "tasks.yaml", "--metrics", AS_OURS),
    ):
        ended = tracegrade(*words)
        assert ended.returncode == 0, ended.stderr
    with connect(Lake.open(tmp_path / "lake"), layers=(SCORES,)) as con:
        for name in ("tsa", "redundant_calls", "step_efficiency"):
            assert con.sql(DIFFERENT.format(name=name)).fetchall() == [(0,)]
            known = f"FROM custom_scores WHERE metric = 'own_{name}'"
            assert con.sql(f"SELECT count(*) {known}").fetchall() == [(200,)]
        scored = "SELECT count(*) FROM custom_scores WHERE metric = 'own_tsa' AND score.value >= 0"
        assert con.sql(scored).fetchall()[0][0] > 50
