"""A lake of its own for each test."""

from pathlib import Path

import pytest

from tracegrade_lake import Lake


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake.create(tmp_path / "lake")
