"""Tests of agents: what an agent did in a test, scored without a lake.

    from tracegrade_testing import capture, score

    def test_refund():
        with capture() as spans:
            agent("refund c-7")
        result = score(spans, task="refund-order", tasks="tasks.yaml")
        assert result.success == 1
        assert result.calls == ["search_orders", "issue_refund"]

Exported names are loaded at their first use: pytest loads the plugin of this package in every
project, also where no test uses it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracegrade_testing.baseline import assert_no_regression
    from tracegrade_testing.capturing import Captured, capture
    from tracegrade_testing.checks import check
    from tracegrade_testing.errors import NothingCaptured, NotScored, RunCheckFailed
    from tracegrade_testing.results import ResultSet, RunResult
    from tracegrade_testing.scoring import score, trials

__all__ = [
    "Captured",
    "NotScored",
    "NothingCaptured",
    "ResultSet",
    "RunCheckFailed",
    "RunResult",
    "assert_no_regression",
    "capture",
    "check",
    "score",
    "trials",
]

_MODULES = {
    "Captured": "capturing",
    "RunCheckFailed": "errors",
    "NotScored": "errors",
    "NothingCaptured": "errors",
    "RunResult": "results",
    "ResultSet": "results",
    "assert_no_regression": "baseline",
    "capture": "capturing",
    "check": "checks",
    "score": "scoring",
    "trials": "scoring",
}


def __getattr__(name: str) -> Any:
    """Load an exported name."""
    if name not in _MODULES:
        msg = f"module '{__name__}' has no attribute '{name}'"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
