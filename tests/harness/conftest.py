"""The sandbox that keeps agents in, and a place for temporary folders that no other test uses."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracegrade_harness.sandbox.bwrap import Bubblewrap


@pytest.fixture
def bwrap() -> Bubblewrap:
    """The one that keeps agents in."""
    found = Bubblewrap()
    if why := found.why_not():
        pytest.skip(why)
    return found


@pytest.fixture
def temporary_place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary folders are made meanwhile; its path is short, as those of sockets are."""
    with tempfile.TemporaryDirectory() as name:
        monkeypatch.setenv("TMPDIR", name)
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)
