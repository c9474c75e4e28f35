"""The attempts of all tests of a module, scored together; and score tables without rows."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.scoring.report.build import Tables

from .together import Together, scored_together


@pytest.fixture(scope="module")
def together(request: pytest.FixtureRequest) -> Iterator[Together]:
    """The attempts of all tests of the module that are `built_together`."""
    with scored_together(request, request.module.TOOLS) as found:
        yield found


@pytest.fixture
def tables() -> Iterator[Tables]:
    """Empty tables."""
    with closing(Tables()) as tables:
        yield tables
