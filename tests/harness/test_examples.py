"""The workflows of `harness/examples/` run what they say, on a small suite."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from tests.citations import ROOT
from tests.commands import tracegrade
from tests.harness.trial.agents import made

from tracegrade_harness.sandbox.bwrap import Bubblewrap

EXAMPLES = ROOT / "harness" / "examples"
CASES: dict[str, dict[str, Any]] = {"reader": {"verify": [{"files": "data", "only_changed": []}]}}
TASKS = "{version: 1, tools: {look: {effect: read}}, tasks: {reader: {}}}"


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite with a task file, and a tape of a service that was never asked; tests copy it."""
    if why := Bubblewrap().why_not():
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("examples") / "suite"
    made(folder, CASES)
    content = yaml.safe_load((folder / "suite.yaml").read_text())
    wiki = {"url": "http://127.0.0.1:9", "url_env": "WIKI"}
    content["environments"]["notes"]["upstreams"] = {"wiki": wiki}
    (folder / "suite.yaml").write_text(yaml.safe_dump({**content, "tasks": "tasks.yaml"}))
    (folder / "tasks.yaml").write_text(TASKS)
    home = folder.with_name("home")
    recorded = tracegrade(
        "harness", "record", folder / "suite.yaml", "--yes-as-root", "--folder", home
    )
    assert recorded.returncode == 0, recorded.stderr
    return folder


def run(name: str, folder: Path) -> None:
    """Run the steps of a workflow that call tracegrade, in order, as GitHub runs them."""
    workflow = yaml.safe_load((EXAMPLES / name).read_text())
    (job,) = workflow["jobs"].values()
    found = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": found, "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    for step in job["steps"]:
        script = step.get("run", "")
        if "tracegrade " not in script:
            continue
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        ended = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, f"{step['name']}: {ended.stderr}"


def failures(folder: Path) -> str | None:
    """Return the number of failed trials in the report for CI systems."""
    return ElementTree.parse(folder / "results.xml").getroot().get("failures")  # noqa: S314


@pytest.mark.slow
def test_a_pull_request_is_compared_with_its_branch(suite: Path, tmp_path: Path) -> None:
    """Both are played, and the comparison is in the summary of the job."""
    for side in ("base", "candidate"):
        shutil.copytree(suite, tmp_path / side)
    run("pull-request.yaml", tmp_path)

    comparison = (tmp_path / "comparison.md").read_text()
    assert "candidate" in comparison
    assert (tmp_path / "summary.md").read_text() == comparison
    assert failures(tmp_path) == "0"


@pytest.mark.slow
def test_a_first_pull_request_has_nothing_to_be_compared_with(suite: Path, tmp_path: Path) -> None:
    """Its own trials are reported."""
    shutil.copytree(suite, tmp_path / "candidate")
    run("pull-request.yaml", tmp_path)

    assert "worker" in (tmp_path / "comparison.md").read_text()
    assert failures(tmp_path) == "0"


@pytest.mark.slow
def test_a_night_is_live_with_kills(suite: Path, tmp_path: Path) -> None:
    """Its report, leftovers and results are there."""
    shutil.copytree(suite, tmp_path, dirs_exist_ok=True)
    run("nightly.yaml", tmp_path)

    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert (tmp_path / "leftovers.csv").read_text().startswith('"run",')
    assert failures(tmp_path) == "0"


@pytest.mark.parametrize("name", ["pull-request.yaml", "nightly.yaml"])
def test_a_workflow_has_few_rights_and_keeps_no_credentials(name: str) -> None:
    """Code of a pull request runs in it."""
    workflow = yaml.safe_load((EXAMPLES / name).read_text())
    (job,) = workflow["jobs"].values()
    checkouts = [step for step in job["steps"] if "checkout" in step.get("uses", "")]

    assert workflow["permissions"]["contents"] == "read"
    assert [each["with"]["persist-credentials"] for each in checkouts] == [False] * len(checkouts)
