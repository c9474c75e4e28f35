"""What is known of a run is there again for those who go on with it."""

from contextlib import closing
from pathlib import Path

from tests.harness.results import result

from tracegrade_harness.tape.entries import TapeEntry, key_of
from tracegrade_harness.trial.baseline import Baseline
from tracegrade_harness.trial.points import Boundary
from tracegrade_harness.trial.run_file import RunFile
from tracegrade_harness.trial.suite_run import Trial


def test_what_killed_runs_need_is_read_as_it_was_written(tmp_path: Path) -> None:
    """What models said, and where they were asked, among it."""
    said = TapeEntry(key_of("http:m", "POST /chat", {"n": 1}), {"status": 200})
    models = (said, said._replace(path="/mcp?a=b"))
    boundaries = (Boundary(1, "pay", "{}", True), Boundary(2, "look", None, False))
    baseline = Baseline("t-1", boundaries, 3, {"files:data/a": "x"}, models)
    with closing(RunFile(tmp_path, {})) as file:
        file.add(result(), baseline)

    with closing(RunFile(tmp_path, {})) as file:
        assert file.baseline(Trial("pay", 1)) == baseline
        assert file.results() == [result()]
