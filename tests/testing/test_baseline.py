"""Runs are compared with those of a baseline, by the rules of `compare`."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.testing.agents import TASKS, refund

from tracegrade_testing import RunCheckFailed, assert_no_regression, capture, score
from tracegrade_testing.errors import BaselineUnusable
from tracegrade_testing.recent import notes
from tracegrade_testing.results import ResultSet, RunResult


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunResult | ResultSet]:
    """Return a good run and one with a wrong argument."""
    tasks = tmp_path_factory.mktemp("tasks") / "tasks.yaml"
    tasks.write_text(TASKS.replace("status: ok", "arguments: {order: o-1}"), "utf-8")
    found = {}
    for name, order in (("good", "o-1"), ("bad", "o-2")):
        with capture() as captured:
            refund(order)
        found[name] = score(captured, task="refund-order", tasks=tasks)
    return found


@pytest.fixture
def updating() -> Iterator[None]:
    """Write baselines, as with the option."""
    notes.updates_baselines = True
    yield
    notes.updates_baselines = False


@pytest.fixture
def baseline(results: dict[str, RunResult | ResultSet], tmp_path: Path, updating: None) -> Path:
    """Return the baseline of the good run."""
    path = tmp_path / "baselines" / "refund.parquet"
    assert_no_regression(results["good"], path)
    notes.updates_baselines = False
    return path


def test_a_run_that_is_no_worse_passes(
    results: dict[str, RunResult | ResultSet], baseline: Path
) -> None:
    """The same run again, on every rule."""
    assert_no_regression(results["good"], baseline, rules=["success<0", "tsa<0"])


def test_a_worse_run_fails_and_says_by_how_much(
    results: dict[str, RunResult | ResultSet], baseline: Path
) -> None:
    """The message has the rule and the difference."""
    with pytest.raises(RunCheckFailed, match="difference of success is -1"):
        assert_no_regression(results["bad"], baseline)
    with pytest.raises(RunCheckFailed, match=r"tsa<0.*difference of tsa is -0\.5"):
        assert_no_regression(results["bad"], baseline, rules=["tsa<0"])
    assert_no_regression(results["bad"], baseline, rules=["tsa<-0.5"])


def test_a_baseline_holds_no_text_of_a_run(baseline: Path) -> None:
    """It may stand in a repository."""
    (run,) = pq.read_table(baseline)["run"].to_pylist()

    assert (run["user_input"], run["final_answer"], run["offered_tools"]) == (None, None, None)
    assert b"c-7" not in baseline.read_bytes()


def test_a_missing_baseline_says_how_to_write_one(
    results: dict[str, RunResult | ResultSet], tmp_path: Path
) -> None:
    """The message names the option."""
    with pytest.raises(BaselineUnusable, match="--tracegrade-update-baseline"):
        assert_no_regression(results["good"], tmp_path / "none.parquet")
