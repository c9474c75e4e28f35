"""A metric whose answer depends on the order of rows is named; honest ones are not."""

from pathlib import Path

import pyarrow as pa
import pytest

from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.metrics import Kind
from tracegrade_scoring.own_metrics.row_order_check import order_faults

ROWS = {
    "calls": pa.table(
        {
            "attempt_id": ["a"] * 4 + ["b"] * 4,
            "call_index": [0, 1, 2, 3] * 2,
            "step_index": [1, 3, 5, 7] * 2,
            "tool_name": ["read", "write", None, "note", "read", "read", "read", "read"],
            "cost": [0.1, 0.2, 0.3, None, 1e16, 1.0, -1e16, 2.0],
        }
    )
}
"""Two attempts; what the second one costs cannot be added up exactly."""
MODULE = """
import pyarrow as pa
from tracegrade_scoring.own_metrics.python_metric import metric

def _answer(calls, numerator):
    ids = calls["attempt_id"].unique()
    return pa.table({"attempt_id": ids, "numerator": [float(numerator(id)) for id in ids]})

def _of(calls, id):
    return calls.filter(pa.compute.equal(calls["attempt_id"], id))

@metric("first_row", version="1", meaning="What it is.", reads=["calls"], kind="count")
def first_row(tables):
    calls = tables["calls"]
    return _answer(calls, lambda id: _of(calls, id)["step_index"][0].as_py())

@metric("by_place", version="1", meaning="What it is.", reads=["calls"], kind="count")
def by_place(tables):
    calls = tables["calls"].sort_by("call_index")
    return _answer(calls, lambda id: _of(calls, id)["step_index"][0].as_py())
"""


def metric_of(name: str, sql: str | None = None, python: str | None = None) -> OwnMetric:
    """Return a metric that reads calls."""
    return OwnMetric(
        name=name, version="1", low=None, high=None, better="none", kind=Kind.COUNT, unit="runs",
        label="Mine", meaning="What it is.", reads=("calls",), sql=sql, python=python,
        origin=f"{name}.sql",
    )  # fmt: skip


GROUPED = "SELECT attempt_id, {} AS numerator FROM calls GROUP BY attempt_id"
DEPENDENT = {
    "first_value": GROUPED.format("first(step_index)"),
    "any_tool": "SELECT attempt_id, 1 AS numerator, any_value(tool_name) AS label FROM calls "
    "GROUP BY attempt_id",
    "one_row": "SELECT attempt_id, 1 AS numerator FROM (FROM calls LIMIT 3) GROUP BY attempt_id",
    "nothing_said": "SELECT attempt_id, 1 AS numerator, "
    "if(first(step_index) > 3, 'late', NULL) AS nothing FROM calls GROUP BY attempt_id",
}
"""Queries whose answers depend on the order of rows."""
HONEST = {
    "first_in_order": GROUPED.format("first(step_index ORDER BY call_index)"),
    "counted": GROUPED.format("count(tool_name)"),
    "no_number": GROUPED.format("'nan'::DOUBLE"),
    "null": GROUPED.format("NULL"),
    "twice": "SELECT attempt_id, step_index AS numerator FROM calls",
    "rounded": GROUPED.format("sum(cost) FILTER (WHERE attempt_id = 'a')"),
    "any_evidence": "SELECT attempt_id, 1 AS numerator, list({'trajectory_id': attempt_id, "
    "'step_index': step_index, 'weight': 1, 'note': ''}) AS evidence FROM calls "
    "GROUP BY attempt_id",
}
"""Those whose answers do not: ties, NULL, NaN, rounding."""


def test_metrics_that_depend_on_the_order_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the attempt, both values and the way out; no other is."""
    (tmp_path / "acme_orders.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    metrics = [metric_of(name, sql) for name, sql in {**DEPENDENT, **HONEST}.items()]
    for name in ("first_row", "by_place"):
        metrics.append(metric_of(name, python=f"acme_orders:{name}"))
    found = dict(order_faults(metrics, ROWS))

    assert {*found} == {*DEPENDENT, "first_row"}
    assert {fault.code for fault in found.values()} == {"depends_on_order"}
    assert str(found["first_value"]) == (
        "first_value.sql: depends_on_order: numerator of attempt a is 1.0 in one order of the "
        "rows and 7.0 in another; let it sort what it takes by place, as in "
        "first(x ORDER BY step_index)"
    )
    assert "has 1 rows in one order of the rows and 0 in another" in found["one_row"].message


def test_metric_that_fails_over_rows_is_named() -> None:
    """With what failed."""
    broken = metric_of("broken", "SELECT attempt_id, tool_name::INTEGER AS numerator FROM calls")
    ((name, fault),) = order_faults([broken], ROWS)
    assert (name, fault.code) == ("broken", "does_not_run")
    assert "Could not convert string 'read'" in fault.message
