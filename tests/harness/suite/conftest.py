"""A folder in which suites stand."""

from pathlib import Path

import pytest
from tests.harness.loading.build import fill


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with all that suites name here."""
    return fill(tmp_path)
