"""Reasons of runs: what says, in a sentence, why a run failed."""
