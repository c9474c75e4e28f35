"""Score tables, empty and filled."""

import pytest
from tests.scoring.report.build import Tables, fill_sample


@pytest.fixture
def tables() -> Tables:
    """Empty tables."""
    return Tables()


@pytest.fixture(scope="session")
def sample() -> Tables:
    """Two releases of a file agent with mistakes, and an agent without tasks; only read it."""
    tables = Tables()
    fill_sample(tables)
    return tables
