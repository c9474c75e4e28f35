"""The schedules of `scoring/examples/` run what they say.

`AIRFLOW_PYTHON` and `DAGSTER_PYTHON` name interpreters that have those packages; without them
their examples are not imported here.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.commands import tracegrade
from tests.slow import slow_after

from tracegrade_lake import Lake

from ..queries.traces import agent, land, request_of, tool

EXAMPLES = Path(__file__).parents[2] / "scoring" / "examples"
CONTAINERFILE = EXAMPLES.parents[1] / "collector" / "examples" / "Containerfile"
COMMANDS = Path(sys.executable).parent
ANALYZE = shutil.which("systemd-analyze") or ""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a lake of one run, and a folder of task files."""
    place = tmp_path_factory.mktemp("schedules")
    land(Lake.create(place / "lake"), request_of([agent(1), tool(2, 1, tool_name="look")]))
    (place / "tasks").mkdir()
    (place / "tasks" / "tasks.yaml").write_text("{version: 1, tools: {look: {effect: read}}}")
    return place


def environment(place: Path) -> dict[str, str]:
    """Return variables that locate the commands, the lake and the tasks."""
    found = f"{COMMANDS}{os.pathsep}{os.environ['PATH']}"
    places = {"TRACEGRADE_LAKE": str(place / "lake"), "TRACEGRADE_TASKS": str(place / "tasks")}
    return {**os.environ, **places, "PATH": found}


def entry_point() -> list[str]:
    """Return what the image runs before its arguments."""
    (found,) = re.findall(r"^ENTRYPOINT (.+)$", CONTAINERFILE.read_text(), re.MULTILINE)
    program: list[str] = json.loads(found)
    return program


def test_job_fits_the_image() -> None:
    """It runs as the image's user, on its lake, and the image has the extra that the job needs."""
    image = CONTAINERFILE.read_text()
    job = yaml.safe_load((EXAMPLES / "kubernetes-cronjob.yaml").read_text())
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]

    assert f"--uid {pod['securityContext']['runAsUser']} " in image
    assert f"VOLUME {container['env'][0]['value']}\n" in image
    assert re.findall(r"'/src\[(\w+)\]'", image) == ["all"]


def scheduled_commands() -> list[str]:
    """Return what the crontab, the service and the CronJob run."""
    crontab = (EXAMPLES / "crontab").read_text()
    service = (EXAMPLES / "tracegrade-score.service").read_text()
    job = yaml.safe_load((EXAMPLES / "kubernetes-cronjob.yaml").read_text())
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return [
        *re.findall(r"^[-*/\d ]+(tracegrade .+)$", crontab, re.MULTILINE),
        *re.findall(r"^ExecStart=(.+)$", service, re.MULTILINE),
        shlex.join([*entry_point(), *pod["containers"][0]["args"]]),
    ]


@pytest.mark.parametrize("command", slow_after(1, scheduled_commands()))
def test_scheduled_commands_score_the_lake(
    place: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """They are run as written, but for the places of task files and summary."""
    monkeypatch.setenv("TRACEGRADE_LAKE", str(place / "lake"))
    here = command.replace("/etc/tracegrade", str(place)).replace(
        "/var/lib/tracegrade", str(place)
    )
    program, *arguments = shlex.split(here.removeprefix("/usr/bin/env "))
    done = tracegrade(*arguments)

    assert program == "tracegrade"
    assert done.returncode == 0, done.stderr
    assert "scored" in done.stderr
    if "--summary" in command:
        summary = done.stdout or (place / "score.json").read_text()
        assert json.loads(summary)["busy"] is False


def test_the_follower_of_the_unit_scores_the_lake(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its command is run as written, but for the places, and for a second alone."""
    unit = (EXAMPLES / "tracegrade-follow.service").read_text()
    (command,) = re.findall(r"^ExecStart=/usr/bin/env tracegrade (.+)$", unit, re.MULTILINE)
    monkeypatch.setenv("TRACEGRADE_LAKE", str(shutil.copytree(place / "lake", tmp_path / "lake")))
    here = command.replace("/etc/tracegrade", str(place)).replace(
        "/var/lib/tracegrade", str(tmp_path)
    )
    done = tracegrade(*shlex.split(here), "--stop-after", "1s")
    assert done.returncode == 0, done.stderr
    assert "following the lake" in done.stderr


@pytest.mark.skipif(not ANALYZE, reason="needs systemd-analyze")
@pytest.mark.parametrize(
    "name", ["tracegrade-score.service", "tracegrade-score.timer", "tracegrade-follow.service"]
)
def test_systemd_takes_the_units(name: str, tmp_path: Path) -> None:
    """`systemd-analyze verify` finds no fault with them."""
    for unit in EXAMPLES.glob("tracegrade-*.*"):
        shutil.copy(unit, tmp_path)
    done = subprocess.run(
        [ANALYZE, "verify", "--man=no", str(tmp_path / name)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.stderr == ""


def test_cronjob_runs_one_at_a_time() -> None:
    """Kubernetes starts no second job beside a running one, and none as root."""
    job = yaml.safe_load((EXAMPLES / "kubernetes-cronjob.yaml").read_text())
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    mounts = {mount["name"] for mount in pod["containers"][0]["volumeMounts"]}

    assert job["kind"] == "CronJob"
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    assert mounts == {volume["name"] for volume in pod["volumes"]}


AIRFLOW = """
import airflow_dag
dag = airflow_dag.tracegrade_score()
(task,) = dag.tasks
print(task.python_callable()["trajectories"])
"""

DAGSTER = """
import dagster, dagster_asset
done = dagster.materialize([dagster_asset.trajectory_scores])
(event,) = done.asset_materializations_for_node("trajectory_scores")
print(event.metadata["trajectories"].value)
dagster_asset.defs.get_repository_def().get_schedule_def("tracegrade_score_schedule")
"""


@pytest.mark.parametrize(
    ("variable", "program"), [("AIRFLOW_PYTHON", AIRFLOW), ("DAGSTER_PYTHON", DAGSTER)]
)
def test_orchestrator_imports_and_runs_its_example(
    place: Path, tmp_path: Path, variable: str, program: str
) -> None:
    """The real package loads the file, and its task scores the lake."""
    if variable not in os.environ:
        pytest.skip(f"needs {variable}")
    homes = {"AIRFLOW_HOME": str(tmp_path), "DAGSTER_HOME": str(tmp_path)}
    done = subprocess.run(
        [os.environ[variable], "-c", program], capture_output=True, text=True, check=False,
        cwd=EXAMPLES, env={**environment(place), **homes, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].isdigit()
