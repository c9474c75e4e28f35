"""Lakes and their pages, made once for all tests that only read."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer, sample, scored

from tracegrade_explorer.app import Explorer
from tracegrade_lake import Lake


@pytest.fixture(scope="session")
def sample_lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Two scored releases."""
    return sample(tmp_path_factory.mktemp("explorer") / "sample")


@pytest.fixture(scope="session")
def pages(sample_lake: Lake) -> Iterator[Explorer]:
    """The pages over the sample."""
    with closing(explorer(sample_lake)) as found, closing(found.latest):
        yield found


@pytest.fixture(scope="session")
def web(pages: Explorer) -> TestClient:
    """What asks for pages of the sample."""
    return client(pages)


@pytest.fixture(scope="session")
def scored_lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Runs that came in as spans, scored once."""
    return scored(tmp_path_factory.mktemp("explorer") / "scored")


@pytest.fixture(scope="session")
def empty_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake without anything."""
    return Lake.create(tmp_path_factory.mktemp("explorer") / "empty").root
