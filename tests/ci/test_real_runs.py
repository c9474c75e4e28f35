"""On real runs, with tasks and without: a check has the numbers of `compare`."""

import json
from pathlib import Path

import pytest
from tests.commands import tracegrade
from tests.slow import slow_after

from tracegrade_ci.run import CheckRequest, check_lake
from tracegrade_scoring.compare.as_json import render_json

from .test_check import comparable

PATHS = "messages=traj,success=reward,release=release"
RULES = ("success<0", "new-failure-mode", "steps_per_run>1")


def done(*arguments: object) -> None:
    """Run a command that succeeds."""
    ended = tracegrade(*arguments)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("paths", slow_after(1, [f"{PATHS},task=task_id,trial=trial", PATHS]))
def test_numbers_are_those_of_compare(shared_data: Path, tmp_path: Path, paths: str) -> None:
    """Trials 0 and 1 of an airline agent as one release, 2 and 3 as the next: 100 runs each."""
    runs = json.loads((shared_data / "tau-bench" / "gpt-4o-airline.json").read_text())
    files = {name: tmp_path / f"{name}.json" for name in ("base", "candidate")}
    for late, (name, file) in enumerate(files.items()):
        own = [{**run, "release": name} for run in runs if (run["trial"] >= 2) == bool(late)]
        file.write_text(json.dumps(own))
    form = ("--format", "messages", "--map", paths)
    done("import", *files.values(), "--lake", tmp_path / "both", *form)
    done("import", files["candidate"], "--lake", tmp_path / "lake", *form)
    done("score", "--lake", tmp_path / "both")
    exported = ("--release", "base", "--out", tmp_path / "baseline")
    done("ci", "baseline", "--lake", tmp_path / "both", *exported)
    rules = [text for rule in RULES for text in ("--fail-on", rule)]
    compared = tracegrade(
        "compare", "base", "candidate", "--lake", tmp_path / "both", "--format", "json", *rules
    )
    request = CheckRequest(
        str(tmp_path / "lake"), tmp_path / "baseline", "candidate", fail_on=RULES
    )

    result = check_lake(request, list[str]().append)

    assert result.ruled is not None
    assert comparable(json.loads(render_json(result.ruled))) == comparable(
        json.loads(compared.stdout)
    )
