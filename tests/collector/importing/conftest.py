"""One lake for what all tests of a module import."""

from collections.abc import Iterator

import pytest

from .together import Imports, all_built


@pytest.fixture(scope="module")
def together(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Imports]:
    """What all tests of the module import that are `built_together`."""
    with all_built(tmp_path_factory.mktemp("together"), request) as found:
        yield found
