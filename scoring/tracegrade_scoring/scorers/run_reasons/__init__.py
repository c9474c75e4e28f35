"""Reasons of runs: what says, in a sentence, why a run failed."""

from tracegrade_scoring.scorers.run_reasons.score import score

__all__ = ["score"]
