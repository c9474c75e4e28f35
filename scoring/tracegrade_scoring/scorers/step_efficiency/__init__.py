"""Scores how many steps attempts took, and how many of them their task needs."""

from tracegrade_scoring.scorers.step_efficiency.score import score

__all__ = ["score"]
