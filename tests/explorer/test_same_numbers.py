"""The same number is the same wherever it is shown: by a command, on a page, in SQL.

The demo's lake is walked where the demo is run, in `tests/demo`.
"""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from tests.commands import tracegrade
from tests.same_numbers import ShownNumbers, walk
from tests.scoring.test_workbench import PATHS, TOOLS

from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.importer import import_files
from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import load
from tracegrade_scoring.tasks.ground_truth import task_file


def test_two_values_of_one_thing_are_found() -> None:
    """Rounding noise is not a difference; a number next to NULL is one."""
    told = ShownNumbers()
    for thing, values in {"alike": (0.1 + 0.2, 0.3), "apart": (1, 2), "absent": (1, None)}.items():
        for place, value in zip(("page", "report"), values, strict=True):
            told.tell(place, value, thing)

    assert [line.split(":")[0] for line in told.differing()] == ["('apart',)", "('absent',)"]


@pytest.mark.slow
def test_sample_has_the_same_numbers_everywhere(tmp_path: Path) -> None:
    """Two releases of an order desk, which `tracegrade sample` writes."""
    folder, place = tmp_path / "sample", tmp_path / "lake"
    for words in (
        ("sample", folder),
        ("import", folder / "runs.jsonl", "--lake", place),
        ("score", "--lake", place, "--tasks", folder / "tasks.yaml"),
    ):
        ended = tracegrade(*words)
        assert ended.returncode == 0, ended.stderr
    told = walk(Lake.open(place))

    assert told.differing() == []
    assert told.shared("value") > 100
    assert told.shared("change") > 20


@pytest.mark.slow
def test_tau_bench_has_the_same_numbers_everywhere(tmp_path: Path, shared_data: Path) -> None:
    """200 conversations, the first two trials of each task as one release, the others as another.

    Source of the runs: [tau-bench].
    """
    runs = json.loads((shared_data / "tau-bench" / "gpt-4o-airline.json").read_text())
    for run in runs:
        run["release"], run["trial"] = str(1 + run["trial"] // 2), run["trial"] % 2
    names = {"messages": "traj", "task": "task_id", "trial": "trial", "success": "reward"}
    file = written(tmp_path / "runs.jsonl", runs)
    tasks = task_file([file], {}, "true", list[str]().append)

    told = walk(scored(tmp_path, file, {**names, "release": "release"}, tasks))
    assert told.differing() == []
    assert told.shared("tsa of task") == 50
    assert told.shared("change") > 20


@pytest.mark.slow
def test_workbench_has_the_same_numbers_everywhere(tmp_path: Path, shared_data: Path) -> None:
    """400 runs of two models; some exist for only one model. Source: [Styles 2024]."""
    folder, runs = shared_data / "workbench", list[dict[str, object]]()
    with (
        gzip.open(folder / "runs.jsonl.gz", "rt") as made,
        gzip.open(folder / "labels.jsonl.gz", "rt") as labels,
    ):
        for line, label in zip(made, labels, strict=True):
            run, correct = json.loads(line), json.loads(label)["correct"]
            runs.append({**run, "task": f"{run['domain']}-{run['row']}", "correct": correct})
    file = written(tmp_path / "runs.jsonl", runs)
    names = {"task": "task", "expected": "expected_actions"}
    truth = yaml.safe_load(task_file([file], names, "writes", list[str]().append))

    told = walk(scored(tmp_path, file, PATHS, json.dumps({**truth, "tools": TOOLS})))
    assert told.differing() == []
    assert told.shared("tsa of task") > 150
    assert told.shared("change") > 20


def written(file: Path, runs: list[dict[str, object]]) -> Path:
    """Write one run a line, and return the file."""
    file.write_text("".join(json.dumps(run) + "\n" for run in runs))
    return file


def scored(folder: Path, file: Path, paths: Mapping[str, str], tasks: str) -> Lake:
    """Return a lake of the runs of a file, scored with these tasks."""
    (folder / "tasks.yaml").write_text(tasks)
    lake = Lake.create(folder / "lake")
    import_files(lake, [file], list[str]().append, reading=ReadOptions("messages", dict(paths)))
    score(lake, load([folder / "tasks.yaml"]).specification)
    return lake
