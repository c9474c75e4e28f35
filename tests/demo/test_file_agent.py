"""The file agent does its job on real files, in the way that each release is meant to."""

import json
from pathlib import Path
from typing import Any

import pytest

from demo.file_agent.__main__ import RELEASES, try_task
from demo.file_agent.tools import COLUMNS
from demo.file_agent.uploads import TASKS, Task, lay_out

ENVIRONMENTS = Path(__file__).parents[2] / "demo" / "environments"
TASK_BY_ID = {task.id: task for task in TASKS}


def work(release: str, task_id: str, folder: Path, trial: int = 1) -> tuple[str, Path]:
    """Run one task; return the agent's answer and the folder in which it worked."""
    task: Task = TASK_BY_ID[task_id]
    answer = try_task(RELEASES[release], task, trial, folder)
    return answer, folder / f"{task_id}-{trial}"


def report(place: Path) -> dict[str, Any]:
    """Return the summary that the agent wrote."""
    summary: dict[str, Any] = json.loads((place / "reports" / "summary.json").read_text())
    return summary


@pytest.mark.parametrize("release", RELEASES)
def test_worked_task_writes_the_rows_that_pass(release: str, tmp_path: Path) -> None:
    """Two of six rows of each upload are bad; both releases keep the other four and say why."""
    answer, place = work(release, "clean-uploads", tmp_path)

    lines = (place / "clean" / "orders.csv").read_text().splitlines()
    assert lines[0] == ",".join(COLUMNS)
    assert len(lines) == 1 + 3 * 4
    assert report(place)["rows_written"] == 12
    assert [row["reason"] for row in report(place)["rejected"][:2]] == [
        "amount 'twelve' is not a number",
        "date '2026-02-31' is not a day",
    ]
    assert answer.startswith("Cleaned 12 rows of 3 uploads")


@pytest.mark.parametrize("trial", [1, 2, 3])
@pytest.mark.parametrize("task_id", [task.id for task in TASKS if task.trials])
def test_second_release_solves_every_task(task_id: str, trial: int, tmp_path: Path) -> None:
    """Whatever is wrong with the uploads, 1.1 ends with an answer and a report."""
    answer, place = work("1.1", task_id, tmp_path, trial)

    assert answer.startswith(("Cleaned ", "Nothing to clean"))
    assert report(place)["uploads"] == (0 if task_id == "empty-uploads" else 3)


@pytest.mark.parametrize("trial", [1, 2, 3])
@pytest.mark.parametrize(
    "task_id",
    [
        *("semicolon-upload", "two-semicolons", "broken-header", "two-broken-headers"),
        *("mixed-uploads", "renamed-column", "full-disk", "semicolon-full-disk"),
    ],
)
def test_third_release_stops_where_something_fails(
    task_id: str, trial: int, tmp_path: Path
) -> None:
    """1.2 has no branch for an unreadable upload, and looks at the disk only when it is full."""
    answer, place = work("1.2", task_id, tmp_path, trial)

    assert answer.startswith("Stopped: ")
    assert not (place / "reports" / "summary.json").exists()


def test_only_the_first_release_moves_the_uploads_away(tmp_path: Path) -> None:
    """Archiving was not requested: 1.0 does it all the same, 1.1 leaves the uploads alone."""
    _, first = work("1.0", "clean-uploads", tmp_path / "a")
    _, second = work("1.1", "clean-uploads", tmp_path / "b")

    assert not list((first / "uploads").iterdir())
    assert len(list((second / "uploads").iterdir())) == 3


@pytest.mark.parametrize("trial", [1, 2, 3])
@pytest.mark.parametrize("task_id", ["semicolon-upload", "broken-header"])
def test_first_release_gives_up_on_a_malformed_header(
    task_id: str, trial: int, tmp_path: Path
) -> None:
    """1.0 has no branch for it: no report is written, whichever upload it is."""
    answer, place = work("1.0", task_id, tmp_path, trial)

    assert answer.startswith("Stopped: ")
    assert not list((place / "reports").iterdir())


@pytest.mark.parametrize("trial", [1, 2, 3])
def test_second_release_reads_another_delimiter(trial: int, tmp_path: Path) -> None:
    """1.1 reads the upload again with the delimiter of its header and loses nothing."""
    answer, place = work("1.1", "semicolon-upload", tmp_path, trial)

    assert report(place)["rows_written"] == 18
    assert answer.startswith("Cleaned 18 rows of 3 uploads")


@pytest.mark.parametrize("trial", [1, 2, 3])
def test_second_release_quarantines_what_nobody_can_read(trial: int, tmp_path: Path) -> None:
    """1.1 puts the upload aside with a note, cleans the others and names it in the report."""
    _, place = work("1.1", "broken-header", tmp_path, trial)

    (upload,) = report(place)["quarantined"]
    kept = place / "quarantine" / Path(upload).name
    assert kept.exists()
    assert "exported by sheet" in kept.with_suffix(".reason.txt").read_text()
    assert report(place)["rows_written"] == 12


@pytest.mark.parametrize("release", ["1.0", "1.1"])
def test_full_disk_is_cleared_of_leftovers(release: str, tmp_path: Path) -> None:
    """Two releases get the rows written: 1.0 after a failed write, 1.1 after a check."""
    answer, place = work(release, "full-disk", tmp_path)

    assert answer.startswith("Cleaned 18 rows")
    assert [path.name for path in (place / "clean").glob("*")].count("orders.csv") == 1
    assert not list((place / "clean").glob("*.partial"))


def test_without_uploads_the_second_release_writes_nothing_but_a_report(tmp_path: Path) -> None:
    """1.1 asks the cheap question and touches nothing else; 1.0 leaves an empty clean file."""
    _, first = work("1.0", "empty-uploads", tmp_path / "a")
    _, second = work("1.1", "empty-uploads", tmp_path / "b")

    assert (first / "clean" / "orders.csv").exists()
    assert not (second / "clean" / "orders.csv").exists()
    assert report(second)["uploads"] == 0


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return what stands below a folder; None for folders. Git keeps none without a `.keep`."""
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
        if path.name != ".keep"
    }


def test_environment_of_the_harness_is_what_the_task_starts_from(tmp_path: Path) -> None:
    """The folder that the suite restores is the one that the agent's own trials lay out."""
    lay_out(tmp_path, TASK_BY_ID["clean-uploads"], trial=1)

    assert contents(ENVIRONMENTS / "clean-uploads") == contents(tmp_path)


def test_task_that_the_harness_runs_is_not_run_twice() -> None:
    """Of two runs of one trial only the later would count."""
    assert [task.id for task in TASKS if not task.trials] == ["clean-uploads"]
