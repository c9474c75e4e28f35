"""What is true of lakes on one object store is true on the others."""

import pytest

from .stores import Store


@pytest.fixture
def store(either_store: Store) -> Store:
    """A server without faults, of each kind in turn."""
    return either_store
