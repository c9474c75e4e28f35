"""A lake of its own for each test, or one for all traces of a module."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tracegrade_lake import Lake

from .together import Together, all_built


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake.create(tmp_path / "lake")


@pytest.fixture(scope="module")
def together(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Together]:
    """The traces of all tests of the module that are `built_together`."""
    folder = tmp_path_factory.mktemp("together")
    with all_built(folder, request) as found:
        yield found
