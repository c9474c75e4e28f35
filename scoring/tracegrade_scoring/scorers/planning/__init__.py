"""Scores how good the plan was that an agent made before it acted."""

from tracegrade_scoring.scorers.planning.score import score

__all__ = ["score"]
