"""Scores whether a killed run can be undone, by the verdicts of kill tests."""

from tracegrade_scoring.scorers.rollback.score import score

__all__ = ["score"]
