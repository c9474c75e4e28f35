"""The attempts of all tests of a module, scored together."""

from collections.abc import Iterator

import pytest

from .together import Together, scored_together


@pytest.fixture(scope="module")
def together(request: pytest.FixtureRequest) -> Iterator[Together]:
    """The attempts of all tests of the module that are `built_together`."""
    with scored_together(request.module.__name__, request.module.TOOLS) as found:
        yield found
