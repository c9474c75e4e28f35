"""A job reads each table as it was first, and as it changed the table itself."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.lake.test_lake import NOTES, SATURDAY, land, notes, seqs

from tracegrade_lake import Lake
from tracegrade_lake.errors import FilesReplaced
from tracegrade_lake.job_lake import JobLake


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake with one note."""
    made = Lake.create(tmp_path / "lake")
    land(made, 1, 1)
    return made


def test_a_table_is_opened_once_and_an_older_version_each_time(lake: Lake) -> None:
    """A table that is not there is looked for once, too."""
    job = JobLake.of(lake)
    version = lake.version("notes")

    assert job.opened("notes") is job.opened("notes")
    assert job.opened("notes", version) is not job.opened("notes", version)
    assert job.opened("other") is None


def test_what_others_commit_during_a_job_is_not_seen(lake: Lake) -> None:
    """The next job sees it."""
    job = JobLake.of(lake)
    assert seqs(job) == [1]
    land(lake, 2, 2)

    assert seqs(job) == [1]
    assert seqs(JobLake.of(lake)) == seqs(lake) == [1, 2]


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (lambda job: land(job, 3, 3), [1, 2, 3]),
        (lambda job: job.append(NOTES, notes(3)), [1, 2, 3]),
        (lambda job: job.replace(NOTES, notes(3)), [3]),
        (lambda job: job.replace_dates(NOTES, notes(3), [SATURDAY]), [3]),
        (lambda job: job.drop("notes"), []),
    ],
)
def test_a_change_of_the_job_is_made_on_the_newest_version_and_seen(
    lake: Lake, change: Callable[[JobLake], object], left: list[int]
) -> None:
    """With what others committed since the job first read the table."""
    job = JobLake.of(lake)
    assert seqs(job) == [1]
    land(lake, 2, 2)
    change(job)

    assert seqs(job) == seqs(lake) == left


def test_files_that_others_replaced_are_listed_anew_after_the_job_was_refused(lake: Lake) -> None:
    """So that its next try can succeed."""
    job = JobLake.of(lake)
    (old,) = job.live_files("notes")
    lake.replace(NOTES, notes(7))
    staged = job.stage(NOTES, notes(8), "job")

    with pytest.raises(FilesReplaced):
        job.replace_files(NOTES, [old.path], staged, comes_again=True)

    (new,) = job.live_files("notes")
    job.replace_files(NOTES, [new.path], staged)
    assert seqs(job) == seqs(lake) == [8]
