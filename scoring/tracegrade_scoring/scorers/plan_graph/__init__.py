"""Scores attempts against their task's graph of sub-goals."""

from tracegrade_scoring.scorers.plan_graph.score import score

__all__ = ["score"]
