"""A job takes what the machine has, or its container where that has less."""

from pathlib import Path

import pytest

from tracegrade_queries.engine.machine import cores, memory_mb, workers


def limited(place: Path, files: dict[str, str]) -> Path:
    """Return a folder of control groups with these files."""
    for name, text in files.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text)
    return place


@pytest.mark.parametrize("name", ["memory.max", "memory/memory.limit_in_bytes"])
def test_memory_is_that_of_the_container(tmp_path: Path, name: str) -> None:
    """Either version of control groups tells it, in bytes."""
    assert memory_mb(limited(tmp_path, {name: "512000000\n"})) == 512


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"memory.max": "max\n", "cpu.max": "max 100000\n"},
        {
            "memory/memory.limit_in_bytes": "9223372036854771712\n",
            "cpu/cpu.cfs_quota_us": "-1\n",
            "cpu/cpu.cfs_period_us": "100000\n",
        },
    ],
    ids=["no files", "version 2", "version 1"],
)
def test_without_a_limit_it_is_the_machine(tmp_path: Path, files: dict[str, str]) -> None:
    """No files, a word and the largest number all mean that there is no limit."""
    nowhere = tmp_path / "nowhere"
    found = limited(tmp_path, files)

    assert memory_mb(found) == memory_mb(nowhere) > 100
    assert cores(found) == cores(nowhere) >= 1


@pytest.mark.parametrize(
    "files",
    [
        {"cpu.max": "50000 100000\n"},
        {"cpu/cpu.cfs_quota_us": "100000\n", "cpu/cpu.cfs_period_us": "100000\n"},
    ],
    ids=["half a core", "version 1"],
)
def test_cores_are_those_of_the_container(tmp_path: Path, files: dict[str, str]) -> None:
    """A container with less time than the cores have gets no more workers than it can run."""
    assert cores(limited(tmp_path, files)) == 1
    assert workers(1, tmp_path) == 1


def test_workers_share_the_memory(tmp_path: Path) -> None:
    """There are as many as it is enough for, and one where it is enough for none."""
    limited(tmp_path, {"memory.max": "1000000000"})

    assert workers(1_000, tmp_path) == workers(2_000, tmp_path) == 1
    assert workers(100, tmp_path) == min(10, cores())
