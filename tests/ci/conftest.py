"""The sample's releases, scored once: together, and apart with a baseline between them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from .github import GitHub, github
from .lakes import BASE, CANDIDATE, Sample, sample


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    """A server in the place of GitHub, with its token in the environment."""
    monkeypatch.delenv("TRACEGRADE_GITHUB_TOKEN", raising=False)
    monkeypatch.setenv("GITHUB_TOKEN", "token")
    with github() as found:
        yield found


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Both releases in one scored lake; only read it."""
    found = sample(tmp_path_factory.mktemp("both") / "sample", BASE, CANDIDATE)
    found.score()
    return found


@pytest.fixture(scope="session")
def scored_candidate(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """The candidate alone, scored; only read it."""
    found = sample(tmp_path_factory.mktemp("candidate") / "sample", CANDIDATE)
    found.score()
    return found


@pytest.fixture
def candidate(scored_candidate: Sample, tmp_path: Path) -> Sample:
    """The candidate alone, which the test may change."""
    shutil.copytree(scored_candidate.lake.parent, tmp_path / "sample")
    return Sample(tmp_path / "sample" / "lake", tmp_path / "sample" / "tasks.yaml")


@pytest.fixture(scope="session")
def exported(both: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A baseline of the base release; only read it."""
    out = tmp_path_factory.mktemp("baseline") / "baseline"
    assert both.export(out, "--commit", "abc1234").returncode == 0
    return out


@pytest.fixture
def baseline(exported: Path, tmp_path: Path) -> Path:
    """A baseline of the base release, which the test may change."""
    return Path(shutil.copytree(exported, tmp_path / "baseline"))
