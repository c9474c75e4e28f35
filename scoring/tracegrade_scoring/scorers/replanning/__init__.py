"""Scores how often agents change what is left of their plan."""

from tracegrade_scoring.scorers.replanning.score import score

__all__ = ["score"]
