"""A scored lake of the sample's runs, to be copied."""

import shutil
from pathlib import Path

import pytest
from tests.commands import tracegrade


@pytest.fixture(scope="session")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake, scored with its task file and without own metrics."""
    folder = tmp_path_factory.mktemp("sample")
    for words in (
        ("sample", folder),
        ("import", folder / "runs.jsonl", "--lake", folder / "lake"),
        ("score", "--lake", folder / "lake", "--tasks", folder / "tasks.yaml"),
    ):
        ended = tracegrade(*words)
        assert ended.returncode == 0, ended.stderr
    return folder / "lake"


@pytest.fixture
def lake(scored: Path, tmp_path: Path) -> Path:
    """A copy of that lake."""
    return Path(shutil.copytree(scored, tmp_path / "lake"))
