"""Results as trials have them, without trials."""

from datetime import UTC, datetime
from typing import Any

from tracegrade_harness.trial.result import TrialResult


def result(**fields: Any) -> TrialResult:
    """Return a trial that has passed, but for what is said otherwise."""
    passed: dict[str, Any] = {
        "task_id": "pay",
        "agent_name": "worker",
        "release": "1",
        "trial": 1,
        "kill_point": None,
        "trajectory_id": "t-1",
        "status": "done",
        "success": True,
        "verifiers": [],
        "seconds": 1.5,
        "started_at": datetime(2026, 1, 2, tzinfo=UTC),
    }
    return TrialResult(**{**passed, **fields})


def kill(kill_point: str = "late", **fields: Any) -> TrialResult:
    """Return a kill that left nothing, but for what is said otherwise."""
    judged: dict[str, Any] = {
        "kill_point": kill_point,
        "trajectory_id": "t-2",
        "baseline_trajectory_id": "t-1",
        "success": None,
        "verifiers": None,
        "boundary": 3,
        "immediate": 10,
        "after_recovery": 10,
        "leftovers": [],
    }
    return result(**{**judged, **fields})
