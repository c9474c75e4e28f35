"""Scores tool correctness: selection, parameters, sequence and utilization."""

from tracegrade_scoring.scorers.tool_correctness.score import score

__all__ = ["score"]
