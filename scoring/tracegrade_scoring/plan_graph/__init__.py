"""Scores attempts against their task's graph of sub-goals."""

from tracegrade_scoring.plan_graph.score import score

__all__ = ["score"]
