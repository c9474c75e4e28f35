"""Finds the failure modes that attempts show."""

from tracegrade_scoring.scorers.failure_modes.score import score

__all__ = ["score"]
