"""A folder in which suites stand."""

from pathlib import Path

import pytest

TASKS = """
version: 1
tools: {look: {effect: read}}
tasks: {clean-uploads: {}, pay: {}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with all that suites name here."""
    for name in ("fixtures/uploads", "fixtures/expected", "checks"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("fixtures/ledger.sql", "checks/verify.py"):
        (tmp_path / name).touch()
    (tmp_path / "RUNBOOK.yaml").write_text("[]")
    (tmp_path / "tasks.yaml").write_text(TASKS)
    return tmp_path
