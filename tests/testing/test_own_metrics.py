"""Metrics of users' own in tests of agents."""

from pathlib import Path

import pytest
from tests.testing.agents import TASKS, refund
from tests.testing.test_plugin import pytest_in

from tracegrade_scoring.errors import MetricInvalid
from tracegrade_testing import RunResult, capture, score

METRIC = """-- Calls with a customer, as a share of all calls.
-- Metric: named_calls   Version: 1   Range: 0..1   Better: more   Kind: share
-- Reads: calls
SELECT
  attempt_id,
  count(*) FILTER (WHERE contains(arguments, 'customer')) AS numerator,
  count(*) AS denominator
FROM calls
GROUP BY attempt_id
"""

GRADED = """
from tests.testing.agents import refund


def test_graded(graded):
    with graded(at_least={"named_calls": 0.9}):
        refund()
"""


@pytest.fixture
def metrics(tmp_path: Path) -> Path:
    """Return a folder with a metric."""
    folder = tmp_path / "metrics"
    folder.mkdir()
    (folder / "named_calls.sql").write_text(METRIC, "utf-8")
    (tmp_path / "tasks.yaml").write_text(TASKS, "utf-8")
    return folder


def test_a_metric_of_a_folder_is_one_of_the_result(metrics: Path) -> None:
    """Next to ours; a file that changes is read again."""
    with capture() as captured:
        refund()
    tasks = metrics.with_name("tasks.yaml")
    result = score(captured, task="refund-order", tasks=tasks, metrics=metrics)
    assert isinstance(result, RunResult)
    assert (result.named_calls, result.tsa) == (0.5, 1)
    assert (result.score("named_calls").numerator, result.score("named_calls").denominator) == (
        1,
        2,
    )

    (metrics / "named_calls.sql").write_text(METRIC.replace("'customer'", "'order'"), "utf-8")
    again = score(captured, task="refund-order", tasks=tasks, metrics=metrics / "named_calls.sql")
    assert isinstance(again, RunResult)
    assert again.named_calls == 0.5
    assert again.trajectory_id == result.trajectory_id


def test_a_metric_that_cannot_be_used_is_named(metrics: Path) -> None:
    """With its file and the reason."""
    (metrics / "named_calls.sql").write_text(METRIC.replace("FROM calls", "FROM nowhere"), "utf-8")
    with capture() as captured:
        refund()

    with pytest.raises(MetricInvalid, match=r"named_calls\.sql.*nowhere"):
        score(captured, metrics=metrics)


def test_graded_runs_have_the_metrics_of_the_project(metrics: Path) -> None:
    """The option of pytest's configuration names the folder."""
    (metrics.parent / "test_own.py").write_text(GRADED, "utf-8")
    found = pytest_in(metrics.parent, "-o", "tracegrade_metrics=metrics", "test_own.py")

    assert found.returncode == 1, found.stdout + found.stderr
    assert "named_calls" in found.stdout
