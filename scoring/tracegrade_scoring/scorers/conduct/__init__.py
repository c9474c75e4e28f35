"""Scores how attempts went about it: repeats, recovery, endings."""

from tracegrade_scoring.scorers.conduct.score import score

__all__ = ["score"]
