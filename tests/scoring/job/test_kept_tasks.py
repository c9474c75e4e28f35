"""A lake keeps the task files that it was scored against, and says which are in force."""

import json
import shutil
from pathlib import Path

import pytest
from tests.queries.traces import land
from tests.scoring.build import specification

from tracegrade.cli import main
from tracegrade_lake import Lake
from tracegrade_scoring.errors import TaskFileInvalid
from tracegrade_scoring.job.run_scoring import preview, score
from tracegrade_scoring.job.summary import summary_lines, summary_object
from tracegrade_scoring.tasks import Specification, load
from tracegrade_scoring.tasks.model import ToolCorrectness
from tracegrade_scoring.tasks.specification import usable_specification, weighted
from tracegrade_scoring.tasks.stored import (
    NO_TASKS,
    TASK_DEFINITIONS,
    keep_specification,
    known_specification,
)

from .lakes import TASKS, run, tables, versions

EVERY_KEY = Path(__file__).parents[1] / "tasks" / "tasks.yaml"
OTHER = "{tools: {look: {}}, tasks: {other: {expected: [{tool: look}]}}}"


@pytest.fixture(scope="module")
def scored_once(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Two runs of a task, scored against its file with options; tests take a copy of it."""
    lake = Lake.create(tmp_path_factory.mktemp("kept") / "lake")
    land(lake, run(1, "look", "pay"), run(2, "pay"))
    score(lake, weighted(specification(TASKS), "utilization=0", 0.9))
    return lake


@pytest.fixture
def scored(scored_once: Lake, tmp_path: Path) -> Lake:
    """A copy of that lake of one's own."""
    return Lake.open(shutil.copytree(scored_once.root, tmp_path / "copy"))


@pytest.fixture
def empty(tmp_path: Path) -> Lake:
    """A lake that was never scored."""
    return Lake.create(tmp_path / "lake")


@pytest.mark.slow
def test_scoring_without_files_scores_against_those_given_last(
    scored: Lake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command that the product suggests changes no score; forgetting the files does."""
    (tmp_path / "tasks.yaml").write_text(f"version: 1{TASKS}")
    before = tables(scored)

    def said(*options: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["score", "--lake", str(scored.root), *options])
        assert ended.value.code == 0
        return capsys.readouterr().err

    given, plain = said("--tasks", str(tmp_path / "tasks.yaml")), said("--full")
    assert "in force: those given now (1 task and 2 tools), kept for later runs" in given
    assert "in force: those given last (1 task and 2 tools), which the lake keeps" in plain
    assert tables(scored) == before
    forgotten = said("--forget-tasks")
    assert "task files in force: none" in forgotten
    assert "2 trajectories lost the scores of a task" in forgotten
    assert tables(scored) != before
    assert "task files in force: none" in said("--dry-run")


def test_trajectories_that_would_lose_their_task_are_counted(scored: Lake) -> None:
    """Files given in place of others say so, and a dry run says it before; it keeps nothing."""
    would = preview(scored, specification(OTHER))

    assert any("2 trajectories would lose" in line for line in summary_lines(would))
    assert summary_object(would)["specification"] == {
        "tasks": 1, "tools": 1, "kept": False, "without_task": 2,
    }  # fmt: skip
    after = preview(scored, Specification())
    assert (after.trajectories, after.without_task, after.tasks_stored) == (0, 0, True)
    forgotten = preview(scored, NO_TASKS)
    assert (forgotten.trajectories, forgotten.without_task) == (2, 2)


def test_options_of_tool_correctness_are_kept_too(scored: Lake) -> None:
    """They decide scores as task files do, and stay when files are given without them."""
    given = preview(scored, specification(TASKS))

    assert given.trajectories == 0
    assert "tool correctness in force: utilization 0.0, threshold 0.9" in summary_lines(given)
    other = preview(scored, weighted(Specification(), None, 1.0))
    assert other.specification.tool_correctness == ToolCorrectness()
    assert other.trajectories == 2


def test_kept_files_are_written_once(scored: Lake) -> None:
    """A run that changes nothing commits nothing."""
    before = (scored.version(TASK_DEFINITIONS.name), versions(scored))
    score(scored, specification(TASKS))

    assert (scored.version(TASK_DEFINITIONS.name), versions(scored)) == before


def test_lake_without_files_keeps_none(empty: Lake) -> None:
    """There is no such table then."""
    keep_specification(empty, NO_TASKS)

    assert empty.version(TASK_DEFINITIONS.name) is None
    assert known_specification(empty, Specification()).hash == NO_TASKS.hash


def test_every_key_of_a_task_file_is_kept(empty: Lake) -> None:
    """What is read back has the same hashes, so that nothing is scored again."""
    given = load([EVERY_KEY]).specification
    keep_specification(empty, given)
    kept = known_specification(empty, Specification())

    assert (kept.hash, kept.tools_hash, kept.match_hash) == (
        given.hash, given.tools_hash, given.match_hash,
    )  # fmt: skip
    assert list(kept.tasks) == list(given.tasks)


def test_files_of_a_version_that_knows_more_are_refused(empty: Lake) -> None:
    """Nothing is scored against half of a task; giving the files or dropping them helps."""
    keep_specification(empty, specification(TASKS))
    rows = empty.dataset(TASK_DEFINITIONS.name).to_table()  # type: ignore[union-attr]
    later = [json.dumps({"new_key": 1, **json.loads(text.as_py())}) for text in rows["definition"]]
    at = rows.schema.get_field_index("definition")
    empty.replace(TASK_DEFINITIONS, rows.set_column(at, "definition", [later]))

    with pytest.raises(TaskFileInvalid, match=r"at tools\.look\.new_key; give them again with"):
        known_specification(empty, Specification())
    for given in (NO_TASKS, specification(TASKS)):
        assert known_specification(empty, given).hash == given.hash


def test_files_cannot_be_given_and_forgotten(tmp_path: Path) -> None:
    """One of both was not meant."""
    with pytest.raises(TaskFileInvalid, match="leave one out"):
        usable_specification(tmp_path, forget=True)
