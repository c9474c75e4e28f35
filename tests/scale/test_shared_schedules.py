"""The examples that share buckets out among workers run what they say.

`AIRFLOW_PYTHON` names an interpreter that has Apache Airflow; without it the DAG is not imported.
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.scoring.job.lakes import TASKS

from tracegrade_lake import Lake

from .conftest import Made
from .lakes import all_rows

EXAMPLES = Path(__file__).parents[2] / "scoring" / "examples"
COMMANDS = Path(sys.executable).parent


@pytest.fixture
def environment(lake: Lake, tmp_path: Path) -> dict[str, str]:
    """Variables under which the commands find themselves, the lake and the tasks."""
    (tmp_path / "tasks.yaml").write_text(f"version: 1{TASKS}")
    return {
        **os.environ,
        "PATH": f"{COMMANDS}{os.pathsep}{os.environ['PATH']}",
        "TRACEGRADE_LAKE": str(lake.root),
        "TRACEGRADE_TASKS": str(tmp_path),
        "TRACEGRADE_SHARES": "1",
    }


def containers() -> list[dict[str, Any]]:
    """Return the containers of both Jobs."""
    jobs = yaml.safe_load_all((EXAMPLES / "kubernetes-indexed-job.yaml").read_text())
    return [job["spec"]["template"]["spec"]["containers"][0] for job in jobs]


def test_both_jobs_share_one_lake_and_one_number_of_shares() -> None:
    """What one hands out, the pods of the other work off, each a share of its own."""
    score, share = yaml.safe_load_all((EXAMPLES / "kubernetes-indexed-job.yaml").read_text())
    handing, working = containers()
    named = {each["name"]: each for each in working["env"]}

    assert handing["env"][0] == named["TRACEGRADE_LAKE"]
    assert share["spec"]["completionMode"] == "Indexed"
    assert score["spec"].get("completions", 1) == 1
    slots = handing["args"][handing["args"].index("--slots") + 1]
    shares = working["args"][working["args"].index("--of") + 1]
    assert slots == shares == str(share["spec"]["completions"])
    assert "$(SHARE)" in working["args"]
    assert "job-completion-index" in named["SHARE"]["valueFrom"]["fieldRef"]["fieldPath"]


@pytest.mark.slow
def test_jobs_score_a_lake_together(lake: Lake, made: Made, environment: dict[str, str]) -> None:
    """They run as they stand there, but for the places, with one share instead of eight."""
    places = {"/etc/tracegrade/tasks": environment["TRACEGRADE_TASKS"], "8": "1"}
    places |= {"$(SHARE)": "0"}
    handing, working = (
        [str(COMMANDS / "tracegrade"), *(places.get(each, each) for each in container["args"])]
        for container in containers()
    )
    with subprocess.Popen(working, env=environment) as share:
        done = subprocess.run(
            handing, env=environment, capture_output=True, text=True, check=False
        )

    assert done.returncode == 0, done.stderr
    assert share.returncode == 0
    assert json.loads(done.stdout)["trajectories"] == made.told.trajectories
    assert all_rows(lake) == made.rows


def test_mapped_tasks_give_each_share_once() -> None:
    """The DAG maps its task over as many indices as the buckets are divided for."""
    source = (EXAMPLES / "airflow_mapped_dag.py").read_text()
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    mapped = [ast.unparse(call) for call in calls if ast.unparse(call.func) == "share.expand"]

    assert mapped == ["share.expand(index=list(range(SHARES)))"]
    assert '"--slots", str(SHARES)' in source
    assert '"--of", str(SHARES)' in source


AIRFLOW = """
import airflow_mapped_dag, threading
dag = airflow_mapped_dag.tracegrade_score_shared()
tasks = {task.task_id: task for task in dag.tasks}
share = threading.Thread(target=tasks["share"].python_callable, args=(0,))
share.start()
print(tasks["score"].python_callable()["trajectories"])
share.join()
"""


@pytest.mark.skipif("AIRFLOW_PYTHON" not in os.environ, reason="needs AIRFLOW_PYTHON")
def test_airflow_imports_the_dag_and_runs_its_tasks(
    made: Made, tmp_path: Path, environment: dict[str, str]
) -> None:
    """The real package loads the file; its tasks, called side by side, score the lake."""
    home = {"AIRFLOW_HOME": str(tmp_path / "airflow"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [os.environ["AIRFLOW_PYTHON"], "-c", AIRFLOW], capture_output=True, text=True,
        check=False, cwd=EXAMPLES, env={**environment, **home},
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(made.told.trajectories)
