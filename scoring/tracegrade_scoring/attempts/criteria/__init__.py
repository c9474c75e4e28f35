"""Judges criteria, a task's own and its sub-goals', in one way: when did each condition hold."""

from tracegrade_scoring.attempts.criteria.judge import judge_criteria

__all__ = ["judge_criteria"]
