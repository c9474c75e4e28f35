"""Scores tool selection: whether each decision point picked the right tool."""

from tracegrade_scoring.scorers.tool_selection.score import score

__all__ = ["score"]
