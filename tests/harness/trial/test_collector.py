"""The collector of a run, where it cannot do its work."""

import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

import pytest

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.trial.collector import Collector

CHILD = "tracegrade_harness.trial.collector_child"


def test_why_a_collector_does_not_start_is_said(tmp_path: Path) -> None:
    """A file has the lake's path; the log of an earlier harness of the run is not the reason."""
    (tmp_path / "lake").write_text("no folder")
    log = tmp_path / "collector.log"
    log.write_text("of yesterday\n")

    with pytest.raises(EnvironmentFailed) as failed, Collector(str(tmp_path / "lake"), log):
        pass

    said = "the collector did not start: the lake must be a folder, and"
    assert str(failed.value).startswith(said)
    assert str(failed.value).endswith(f"; see {log}")


def test_a_collector_that_cannot_start_ends_with_its_own_exit_code(tmp_path: Path) -> None:
    """Though it still waits for its standard input to end, and without a word of Python's."""
    (tmp_path / "lake").write_text("no folder")
    command = [sys.executable, "-m", CHILD, str(tmp_path / "lake"), str(tmp_path / "none.toml")]

    with Popen(command, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, text=True) as process:
        assert process.stderr
        said = process.stderr.read()
        code = process.wait()

    assert code == 2
    assert said.count("\n") == 1
